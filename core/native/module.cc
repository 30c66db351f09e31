// The simplifier for Python: expressions in, expressions out, one call for all results of a map.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "kernel.h"

using namespace indexproof;

namespace {

// ------------------------------------------------------------------------------------------------ the caller's objects
PyObject* table = nullptr;  // the nodes that exist
PyObject* sweep = nullptr;  // forgets those that nothing refers to, where there are many
Py_ssize_t swept = 0;       // how many there were then
PyTypeObject* types[9] = {};
Py_ssize_t at_key, at_value, at_const, at_terms, at_a, at_b, at_args;

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
      Tup<Summand> out;
      Summand* p = arena.array<Summand>(n);
      for (Py_ssize_t i = 0; i < n; i++) {
        PyObject* t = PyTuple_GET_ITEM(terms, i);
        new (p + i) Summand(read(PyTuple_GET_ITEM(t, 0), depth), integer_of(PyTuple_GET_ITEM(t, 1)));
      }
      out.p = p;
      out.n = n;
      return functions::sum(integer_of(slot(o, at_const)), out);
    }
    if (type == types[tag::Var]) return make<Node>(Node{tag::Var, integer_of(slot(o, at_key))});
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
// A new reference to the caller's object for an expression; those of new ones are kept in `made`.
PyObject* written(Expr e, std::vector<PyObject*>& made);

PyObject* object(Expr e, std::vector<PyObject*>& made) {
  PyTypeObject* type = types[e->tag];
  PyObject* cls = reinterpret_cast<PyObject*>(type);
  PyObject *x = nullptr, *y = nullptr;
  Py_ssize_t at_x = 0, at_y = 0;
  Owned entry(PyTuple_New(e->tag == tag::Int || e->args.size() ? 2 : 3));
  Py_INCREF(cls);
  PyTuple_SET_ITEM(entry.o, 0, cls);
  if (e->tag == tag::Int) {
    x = Owned(PyLong_FromLongLong(e->value)).release();
    at_x = at_value;
  } else if (e->tag == tag::Sum) {
    Owned c(PyLong_FromLongLong(e->const_));
    Owned terms(PyTuple_New(e->terms.size()));
    for (Int i = 0; i < e->terms.size(); i++) {
      Owned of(written(at<0>(e->terms[i]), made)), k(PyLong_FromLongLong(at<1>(e->terms[i])));
      PyObject* t = PyTuple_Pack(2, of.o, k.o);
      if (!t) throw Failed{};
      PyTuple_SET_ITEM(terms.o, i, t);
    }
    x = c.release();
    y = terms.release();
    at_x = at_const;
    at_y = at_terms;
  } else if (e->args.size()) {
    Owned args(PyTuple_New(e->args.size()));
    for (Int i = 0; i < e->args.size(); i++) PyTuple_SET_ITEM(args.o, i, written(e->args[i], made));
    x = args.release();
    at_x = at_args;
  } else {
    Owned a(written(e->a, made));
    y = written(e->b, made);
    x = a.release();
    at_x = at_a;
    at_y = at_b;
  }
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
  fill(o.o, at_key, Owned(PyLong_FromLongLong(e->key)).release());
  // the interpreter's lock is held: no other thread can have added it meanwhile
  if (PyDict_SetItem(table, entry.o, o.o)) throw Failed{};
  return o.release();
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

// ------------------------------------------------------------------------------------------------ the call
thread_local bool busy = false;

PyObject* simplified(PyObject* results, PyObject* boxes, PyObject* known, Int weight, bool quick, bool keep_points) {
  Reader reader;
  auto es = List<Expr>::make();
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(results); i++) es.append(reader.read(PyTuple_GET_ITEM(results, i)));
  auto bounds = Dict<Expr, Term>::make();
  PyObject *v, *box;
  Py_ssize_t at_box = 0;
  while (PyDict_Next(boxes, &at_box, &v, &box)) {
    PyObject *lo = PyTuple_GetItem(box, 0), *hi = PyTuple_GetItem(box, 1);
    if (!lo || !hi) throw Failed{};
    bounds.set(reader.read(v), Term{integer_of(lo), integer_of(hi)});
  }
  auto* engine = make<Engine>(bounds, keep_points);
  Py_ssize_t n = PyList_GET_SIZE(known);
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* k = PyList_GET_ITEM(known, i);
    engine->know(reader.read(PyTuple_GET_ITEM(k, 0)), integer_of(PyTuple_GET_ITEM(k, 1)), integer_of(PyTuple_GET_ITEM(k, 2)), i + 1 < n);
  }
  auto* simplifier = make<Simplifier>();
  simplifier->made = engine;
  simplifier->division_weight = weight;
  simplifier->quick = quick;
  auto out = simplifier->all(es);
  std::vector<PyObject*> kept;
  struct Release {
    std::vector<PyObject*>& kept;
    ~Release() { for (PyObject* o : kept) Py_DECREF(o); }
  } release{kept};
  Owned list(PyList_New(out.size()));
  for (Int i = 0; i < out.size(); i++) PyList_SET_ITEM(list.o, i, written(out[i], kept));
  if (PyDict_GET_SIZE(table) > swept + 1024) {
    Py_DECREF(Owned(PyObject_CallNoArgs(sweep)).release());
    swept = PyDict_GET_SIZE(table);
  }
  return list.release();
}

PyObject* simplify(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 6 || !PyTuple_Check(args[0]) || !PyDict_Check(args[1]) || !PyList_Check(args[2])) {
    PyErr_SetString(PyExc_TypeError, "simplify(results, boxes, known, weight, quick, keep_points)");
    return nullptr;
  }
  if (busy || !table) Py_RETURN_NONE;
  busy = true;
  struct Done {
    ~Done() { busy = false; reset(); }
  } done;
  try {
    return simplified(args[0], args[1], args[2], integer_of(args[3]), args[4] == Py_True, args[5] == Py_True);
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

PyObject* attach(PyObject*, PyObject* module) {
  const char* names[] = {"Int", "Var", "Sum", "FloorDiv", "Mod", "CeilDiv", "Min", "Max", "Mul"};
  for (int i = 0; i < 9; i++) {
    PyObject* c = PyObject_GetAttrString(module, names[i]);
    if (!c) return nullptr;
    types[i] = reinterpret_cast<PyTypeObject*>(c);
  }
  if (!offset_of(module, "Expr", "key", at_key) || !offset_of(module, "Int", "value", at_value) ||
      !offset_of(module, "Sum", "const", at_const) || !offset_of(module, "Sum", "terms", at_terms) ||
      !offset_of(module, "Binary", "a", at_a) || !offset_of(module, "Binary", "b", at_b) ||
      !offset_of(module, "Extremum", "args", at_args))
    return nullptr;
  sweep = PyObject_GetAttrString(module, "sweep_if_large");
  PyObject* t = PyObject_GetAttrString(module, "_table");
  if (!sweep || !t) return nullptr;
  table = t;
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"attach", attach, METH_O, "Use the classes of the module of expressions."},
    {"simplify", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(simplify)), METH_FASTCALL,
     "Simplify the results of a map; None where that is left to Python."},
    {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_native", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__native() { return PyModule_Create(&definition); }
