// The Python interface of the simplifier: one call for all results of a map.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "kernel.h"

using namespace indexproof;

namespace {

// ------------------------------------------------------------------------------------------------ the caller's objects
PyObject* table = nullptr;  // the table of interned nodes
PyObject* sweep = nullptr;  // frees the nodes that nothing refers to, if the table is large
Py_ssize_t swept = 0;       // the size of the table after the last call of sweep
PyTypeObject* types[9] = {};
PyTypeObject *expr_type = nullptr, *constraint_type = nullptr, *map_type = nullptr;
Py_ssize_t at_key, at_value, at_const, at_terms, at_a, at_b, at_args, at_name, at_kind, at_factors;
struct { Py_ssize_t dims, ranges, rts, results, constraints, normal; } of_map;
struct { Py_ssize_t expr, lo, hi; } of_variable, of_constraint;
struct { Py_ssize_t source, results; } of_runtime;

PyObject* slot(PyObject* o, Py_ssize_t offset) { return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(o) + offset); }
void fill(PyObject* o, Py_ssize_t offset, PyObject* v) { *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(o) + offset) = v; }

struct Failed {};  // a Python exception is set

struct Owned {
  PyObject* o;
  explicit Owned(PyObject* p) : o(p) { if (!p) throw Failed{}; }
  ~Owned() { Py_XDECREF(o); }
  PyObject* release() { PyObject* p = o; o = nullptr; return p; }
  Owned(const Owned&) = delete;
};

bool offset_of(PyObject* module, const char* cls, const char* name, Py_ssize_t& out) {
  PyObject* c = PyObject_GetAttrString(module, cls);
  if (!c) return false;
  PyObject* d = PyObject_GetAttrString(c, name);
  Py_DECREF(c);
  if (!d) return false;
  bool ok = Py_TYPE(d) == &PyMemberDescr_Type;
  if (ok) out = reinterpret_cast<PyMemberDescrObject*>(d)->d_member->offset;
  Py_DECREF(d);
  if (!ok) PyErr_Format(PyExc_TypeError, "%s.%s is no slot", cls, name);
  return ok;
}

Int integer_of(PyObject* o) {
  int overflow = 0;
  if (!PyLong_Check(o)) give_up();
  long long n = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow) give_up();
  return n;
}

// ------------------------------------------------------------------------------------------------ in
class Reader {
 public:
  Expr read(PyObject* o, int depth = 0) {
    if (auto* found = seen_.find(o)) return found->second;
    if (depth > 400) give_up();
    Expr e = made(o, depth + 1);
    e->outside = o;
    seen_.insert(o, e);
    return e;
  }

 private:
  Expr made(PyObject* o, int depth) {
    PyTypeObject* type = Py_TYPE(o);
    if (type == types[tag::Sum]) {
      PyObject* terms = slot(o, at_terms);
      Py_ssize_t n = PyTuple_GET_SIZE(terms);
      Room<List<Summand>> room;
      auto out = List<Summand>::make(room);
      for (Py_ssize_t i = 0; i < n; i++) {
        PyObject* t = PyTuple_GET_ITEM(terms, i);
        out.append({read(PyTuple_GET_ITEM(t, 0), depth), integer_of(PyTuple_GET_ITEM(t, 1))});
      }
      return functions::sum(integer_of(slot(o, at_const)), {out.begin(), out.size()});
    }
    if (type == types[tag::Var]) {
      Expr e = make<Node>(Node{tag::Var, integer_of(slot(o, at_key))});
      PyObject* name = slot(o, at_name);
      if (PyUnicode_IS_ASCII(name)) {
        e->name = reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(name));
        e->name_length = PyUnicode_GET_LENGTH(name);
      }
      return e;
    }
    if (type == types[tag::Int]) return functions::integer(integer_of(slot(o, at_value)));
    for (Int of : {tag::FloorDiv, tag::Mod, tag::CeilDiv})
      if (type == types[of]) {
        Expr a = read(slot(o, at_a), depth);
        return functions::binary(of, a, read(slot(o, at_b), depth));
      }
    for (Int of : {tag::Min, tag::Max})
      if (type == types[of]) {
        PyObject* args = slot(o, at_args);
        auto l = List<Expr>::make();
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) l.append(read(PyTuple_GET_ITEM(args, i), depth));
        return functions::extremum(of, l);
      }
    give_up();
  }
  Dict<PyObject*, Expr> seen_ = Dict<PyObject*, Expr>::make();
};

// ------------------------------------------------------------------------------------------------ out
// Return a new reference to the caller's object for an expression; new objects are added to `made`.
PyObject* written(Expr e, std::vector<PyObject*>& made);

// Return a new reference to the node with these parts, whose references it steals; `key` is called only for a new node.
template <class F>
PyObject* interned(PyTypeObject* type, F key, PyObject* x, Py_ssize_t at_x, PyObject* y = nullptr, Py_ssize_t at_y = 0) {
  PyObject* cls = reinterpret_cast<PyObject*>(type);
  PyObject* tuple = PyTuple_New(y ? 3 : 2);
  if (!tuple) {
    Py_DECREF(x);
    Py_XDECREF(y);
    throw Failed{};
  }
  Owned entry(tuple);
  Py_INCREF(cls);
  PyTuple_SET_ITEM(entry.o, 0, cls);
  PyTuple_SET_ITEM(entry.o, 1, x);
  if (y) PyTuple_SET_ITEM(entry.o, 2, y);
  PyObject* found = PyDict_GetItemWithError(table, entry.o);
  if (found) {
    Py_INCREF(found);
    return found;
  }
  if (PyErr_Occurred()) throw Failed{};
  Owned o(type->tp_alloc(type, 0));
  Py_INCREF(x);
  fill(o.o, at_x, x);
  if (y) {
    Py_INCREF(y);
    fill(o.o, at_y, y);
  }
  fill(o.o, at_key, Owned(PyLong_FromLongLong(key())).release());
  // an allocation may collect garbage, which runs Python code, here or in another thread, that may add the node
  found = PyDict_SetDefault(table, entry.o, o.o);
  if (!found) throw Failed{};
  Py_INCREF(found);
  return found;
}

PyObject* object(Expr e, std::vector<PyObject*>& made) {
  PyTypeObject* type = types[e->tag];
  auto key = [e] { return e->key; };
  if (e->tag == tag::Int) return interned(type, key, Owned(PyLong_FromLongLong(e->value)).release(), at_value);
  if (e->tag == tag::Sum) {
    Owned terms(PyTuple_New(e->terms.size()));
    for (Int i = 0; i < e->terms.size(); i++) {
      Owned of(written(at<0>(e->terms[i]), made)), k(PyLong_FromLongLong(at<1>(e->terms[i])));
      PyObject* t = PyTuple_Pack(2, of.o, k.o);
      if (!t) throw Failed{};
      PyTuple_SET_ITEM(terms.o, i, t);
    }
    Owned c(PyLong_FromLongLong(e->const_));
    PyObject* first = c.release();
    return interned(type, key, first, at_const, terms.release(), at_terms);
  }
  if (e->args.size()) {
    Owned args(PyTuple_New(e->args.size()));
    for (Int i = 0; i < e->args.size(); i++) PyTuple_SET_ITEM(args.o, i, written(e->args[i], made));
    return interned(type, key, args.release(), at_args);
  }
  Owned a(written(e->a, made));
  PyObject* b = written(e->b, made);
  return interned(type, key, a.release(), at_a, b, at_b);
}

PyObject* written(Expr e, std::vector<PyObject*>& made) {
  if (!e->outside) {
    PyObject* o = object(e, made);
    made.push_back(o);
    e->outside = o;
  }
  PyObject* o = static_cast<PyObject*>(e->outside);
  Py_INCREF(o);
  return o;
}

template <class F> void each(PyObject* tuple, F f) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++) f(PyTuple_GET_ITEM(tuple, i));
}

void forget_unused() {
  if (PyDict_GET_SIZE(table) > swept + 1024) {
    Py_DECREF(Owned(PyObject_CallNoArgs(sweep)).release());
    swept = PyDict_GET_SIZE(table);
  }
}

}  // namespace

#include "builders.h"

namespace {

// ------------------------------------------------------------------------------------------------ the call
thread_local bool busy = false;

// Keeps objects made for the caller alive until the end of the call.
struct Made : std::vector<PyObject*> {
  ~Made() { for (PyObject* o : *this) Py_DECREF(o); }
};

Term box_of(PyObject* o) { return {integer_of(slot(o, of_variable.lo)), integer_of(slot(o, of_variable.hi))}; }

Tup<Expr> read_all(Reader& reader, PyObject* tuple) {
  auto l = List<Expr>::make();
  each(tuple, [&](PyObject* o) { l.append(reader.read(o)); });
  return Tup<Expr>::from(l);
}
Expr variable_of(Reader& reader, PyObject* o) {
  PyObject* e = slot(o, of_variable.expr);
  if (e) return reader.read(e);
  // the expression is created lazily
  Owned made(PyObject_GetAttrString(o, "expr"));
  return reader.read(made.o);
}
Tup<Variable*> read_variables(Reader& reader, PyObject* tuple) {
  auto l = List<Variable*>::make();
  each(tuple, [&](PyObject* o) {
    Term box = box_of(o);
    l.append(make<Variable>(Variable{variable_of(reader, o), box.a, box.k, o}));
  });
  return Tup<Variable*>::from(l);
}

IndexingMap* read_map(Reader& reader, PyObject* o) {
  auto* m = make<IndexingMap>();
  m->dims = read_variables(reader, slot(o, of_map.dims));
  m->ranges = read_variables(reader, slot(o, of_map.ranges));
  auto rts = List<RuntimeVariable*>::make();
  each(slot(o, of_map.rts), [&](PyObject* v) {
    Term box = box_of(v);
    PyObject* source = slot(v, of_runtime.source);
    auto* r = make<RuntimeVariable>(RuntimeVariable{variable_of(reader, v), box.a, box.k, nullptr, v});
    if (source != Py_None) r->source = make<RuntimeSource>(RuntimeSource{read_all(reader, slot(source, of_runtime.results))});
    rts.append(r);
  });
  m->rts = Tup<RuntimeVariable*>::from(rts);
  m->results = read_all(reader, slot(o, of_map.results));
  auto constraints = List<Constraint*>::make();
  each(slot(o, of_map.constraints), [&](PyObject* c) {
    Expr e = reader.read(slot(c, of_constraint.expr));
    constraints.append(make<Constraint>(Constraint{e, integer_of(slot(c, of_constraint.lo)), integer_of(slot(c, of_constraint.hi)), c}));
  });
  m->constraints = Tup<Constraint*>::from(constraints);
  return m;
}

template <class C, class F> PyObject* tuple_of(const C& c, F f) {
  Owned t(PyTuple_New(c.size()));
  for (Int i = 0; i < c.size(); i++) PyTuple_SET_ITEM(t.o, i, f(c[i]));
  return t.release();
}

PyObject* written_results(Tup<Expr> results, Made& made) {
  return tuple_of(results, [&](Expr e) { return written(e, made); });
}

PyObject* written_variables(Tup<Variable*> variables) {
  return tuple_of(variables, [](Variable* v) {
    PyObject* o = static_cast<PyObject*>(v->outside);
    Term box = box_of(o);
    if (box.a == v->lo && box.k == v->hi) {
      Py_INCREF(o);
      return o;
    }
    return Owned(PyObject_CallMethod(o, "boxed", "LL", (long long)v->lo, (long long)v->hi)).release();
  });
}

PyObject* written_map(IndexingMap* m, IndexingMap* given, PyObject* outside, Made& made) {
  Owned o(map_type->tp_alloc(map_type, 0));
  auto same = [&](Py_ssize_t offset) {
    PyObject* p = slot(outside, offset);
    Py_INCREF(p);
    fill(o.o, offset, p);
  };
  if (m->dims == given->dims) same(of_map.dims);
  else fill(o.o, of_map.dims, written_variables(m->dims));
  if (m->ranges == given->ranges) same(of_map.ranges);
  else fill(o.o, of_map.ranges, written_variables(m->ranges));
  if (m->rts == given->rts) {
    same(of_map.rts);
  } else {
    fill(o.o, of_map.rts, tuple_of(m->rts, [&](RuntimeVariable* v) {
           PyObject* p = static_cast<PyObject*>(v->outside);
           bool kept = false;
           for (auto* g : given->rts) kept = kept || g == v;
           if (kept) {
             Py_INCREF(p);
             return p;
           }
           Owned results(written_results(v->source->results, made));
           return Owned(PyObject_CallMethod(p, "indexed", "(O)", results.o)).release();
         }));
  }
  if (m->results == given->results) same(of_map.results);
  else fill(o.o, of_map.results, written_results(m->results, made));
  if (m->constraints == given->constraints) {
    same(of_map.constraints);
  } else {
    fill(o.o, of_map.constraints, tuple_of(m->constraints, [&](Constraint* c) {
           if (c->outside) {
             Py_INCREF(static_cast<PyObject*>(c->outside));
             return static_cast<PyObject*>(c->outside);
           }
           Owned p(constraint_type->tp_alloc(constraint_type, 0));
           fill(p.o, of_constraint.expr, written(c->expr, made));
           fill(p.o, of_constraint.lo, Owned(PyLong_FromLongLong(c->lo)).release());
           fill(p.o, of_constraint.hi, Owned(PyLong_FromLongLong(c->hi)).release());
           return p.release();
         }));
  }
  Py_INCREF(Py_None);
  fill(o.o, of_map.normal, Py_None);
  return o.release();
}

// Append the entries of a trace to the caller's list, as recorded.py reads them.
void write_trace(const Trace& trace, PyObject* list, IndexingMap* given, PyObject* outside, Made& made) {
  auto sides = [&](Tup<Bound> side) {
    return tuple_of(side, [&](const Bound& b) {
      Owned e(written(at<0>(b), made));
      return Owned(Py_BuildValue("OLL", e.o, (long long)at<1>(b), (long long)at<2>(b))).release();
    });
  };
  auto whole = [&](IndexingMap* m) {
    if (m->empty) Py_RETURN_NONE;
    return written_map(m, given, outside, made);
  };
  for (auto& e : trace.entries) {
    Owned values(written_results(e.values, made));
    Owned before(e.was ? whole(e.was) : sides(e.before)), after(e.now ? whole(e.now) : sides(e.after));
    Owned entry(Py_BuildValue("ssOLOO", Happened::WHAT[e.what], e.name, values.o, (long long)e.engine, before.o, after.o));
    if (PyList_Append(list, entry.o)) throw Failed{};
  }
}

PyObject* simplified_map(PyObject* o, PyObject* list, Int weight, bool quick, bool keep_points) {
  Reader reader;
  IndexingMap* given = read_map(reader, o);
  Trace* trace = list == Py_None ? nullptr : make<Trace>();
  IndexingMap* m = functions::_simplified(given, trace, keep_points, weight, quick);
  PyObject* found = nullptr;
  Made entries;
  if (trace) write_trace(*trace, list, given, o, entries);
  if (m->empty) {
    Py_RETURN_FALSE;
  } else if (m == given) {
    Py_INCREF(o);
    found = o;
  } else {
    Made made;
    found = written_map(m, given, o, made);
  }
  Owned out(found);
  forget_unused();
  return out.release();
}

PyObject* simplified_results(PyObject* results, PyObject* boxes, PyObject* known, Int weight, bool quick, bool keep_points) {
  Reader reader;
  auto es = List<Expr>::from(read_all(reader, results));
  auto bounds = Dict<Expr, Term>::make();
  PyObject *v, *box;
  Py_ssize_t at_box = 0;
  while (PyDict_Next(boxes, &at_box, &v, &box)) {
    PyObject *lo = PyTuple_GetItem(box, 0), *hi = PyTuple_GetItem(box, 1);
    if (!lo || !hi) throw Failed{};
    bounds.set(reader.read(v), Term{integer_of(lo), integer_of(hi)});
  }
  auto facts = List<Bound>::make();
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(known); i++) {
    PyObject* k = PyList_GET_ITEM(known, i);
    Expr e = reader.read(PyTuple_GET_ITEM(k, 0));
    facts.append({e, integer_of(PyTuple_GET_ITEM(k, 1)), integer_of(PyTuple_GET_ITEM(k, 2))});
  }
  auto* simplifier = simplifier_of(bounds, facts, weight, quick, keep_points);
  auto out = simplifier->all(es);
  Made made;
  Owned list(PyList_New(out.size()));
  for (Int i = 0; i < out.size(); i++) PyList_SET_ITEM(list.o, i, written(out[i], made));
  forget_unused();
  return list.release();
}

// Run f in the arena of one call; return None where the work is left to Python.
template <class F> PyObject* called(F f) {
  if (busy || !table) Py_RETURN_NONE;
  busy = true;
  struct Done {
    ~Done() { busy = false; reset(); }
  } done;
  try {
    return f();
  } catch (Fallback&) {
    Py_RETURN_NONE;
  } catch (Excess&) {
    Py_RETURN_NONE;
  } catch (Failed&) {
    return nullptr;
  } catch (std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* simplify(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 6 || !PyTuple_Check(args[0]) || !PyDict_Check(args[1]) || !PyList_Check(args[2])) {
    PyErr_SetString(PyExc_TypeError, "simplify(results, boxes, known, weight, quick, keep_points)");
    return nullptr;
  }
  return called([&] {
    return simplified_results(args[0], args[1], args[2], integer_of(args[3]), args[4] == Py_True, args[5] == Py_True);
  });
}

PyObject* simplify_map(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 5 || Py_TYPE(args[0]) != map_type || (args[1] != Py_None && !PyList_Check(args[1]))) {
    PyErr_SetString(PyExc_TypeError, "simplify_map(map, trace, weight, quick, keep_points)");
    return nullptr;
  }
  return called([&] { return simplified_map(args[0], args[1], integer_of(args[2]), args[3] == Py_True, args[4] == Py_True); });
}

struct Slot { PyObject* module; const char *cls, *name; Py_ssize_t& out; };
bool found_all(std::initializer_list<Slot> slots) {
  for (auto& s : slots)
    if (!offset_of(s.module, s.cls, s.name, s.out)) return false;
  return true;
}
bool type_of(PyObject* module, const char* name, PyTypeObject*& out) {
  return (out = reinterpret_cast<PyTypeObject*>(PyObject_GetAttrString(module, name))) != nullptr;
}

PyObject* attach_expressions(PyObject*, PyObject* m) {
  const char* names[] = {"Int", "Var", "Sum", "FloorDiv", "Mod", "CeilDiv", "Min", "Max", "Mul"};
  for (int i = 0; i < 9; i++)
    if (!type_of(m, names[i], types[i])) return nullptr;
  if (!type_of(m, "Expr", expr_type) ||
      !found_all({{m, "Expr", "key", at_key}, {m, "Int", "value", at_value}, {m, "Var", "name", at_name},
                  {m, "Var", "kind", at_kind}, {m, "Sum", "const", at_const}, {m, "Sum", "terms", at_terms},
                  {m, "Binary", "a", at_a}, {m, "Binary", "b", at_b}, {m, "Extremum", "args", at_args},
                  {m, "Mul", "factors", at_factors}}))
    return nullptr;
  sweep = PyObject_GetAttrString(m, "sweep_if_large");
  table = PyObject_GetAttrString(m, "_table");
  if (!sweep || !table) return nullptr;
  Py_RETURN_NONE;
}

PyObject* attach_maps(PyObject*, PyObject* m) {
  if (!found_all({{m, "IndexingMap", "dims", of_map.dims}, {m, "IndexingMap", "ranges", of_map.ranges},
                  {m, "IndexingMap", "rts", of_map.rts}, {m, "IndexingMap", "results", of_map.results},
                  {m, "IndexingMap", "constraints", of_map.constraints}, {m, "IndexingMap", "_normal", of_map.normal},
                  {m, "Variable", "_expr", of_variable.expr}, {m, "Variable", "lo", of_variable.lo},
                  {m, "Variable", "hi", of_variable.hi}, {m, "RuntimeVariable", "source", of_runtime.source},
                  {m, "RuntimeSource", "results", of_runtime.results}, {m, "Constraint", "expr", of_constraint.expr},
                  {m, "Constraint", "lo", of_constraint.lo}, {m, "Constraint", "hi", of_constraint.hi}}) ||
      !type_of(m, "Constraint", constraint_type) || !type_of(m, "IndexingMap", map_type))
    return nullptr;
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"attach_expressions", attach_expressions, METH_O, "Use the classes of the module of expressions."},
    {"attach_maps", attach_maps, METH_O, "Use the classes of the module of maps."},
    {"built", built, METH_O, "The function of this name, which calls the given one where it has no answer."},
    {"simplify_map", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(simplify_map)), METH_FASTCALL,
     "Simplify a map; False where its domain is empty, None where that is left to Python."},
    {"simplify", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(simplify)), METH_FASTCALL,
     "Simplify the results of a map; None where that is left to Python."},
    {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_native", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__native() { return PyModule_Create(&definition); }
