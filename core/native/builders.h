// The functions of core/expr.py that build expressions, without the interpreter.  Unsupported arguments are left to the
// Python function: numbers beyond 64 bits, other classes, products of expressions, and all errors.
#pragma once

namespace {

constexpr std::size_t MOST = 32;  // limit on summands or arguments; more are left to Python

bool is_number(PyObject* o) { return PyLong_CheckExact(o); }
bool is_expr(PyObject* o) { return PyObject_TypeCheck(o, expr_type); }
bool is(PyObject* o, Int of) { return Py_TYPE(o) == types[of]; }
Int key_of(PyObject* e) { return integer_of(slot(e, at_key)); }

PyObject* made_integer(Int n) {
  return interned(types[tag::Int], [n] {
    TupleHash h;
    h.lane(1);
    h.lane(hashed(n));
    return h.done();
  }, Owned(PyLong_FromLongLong(n)).release(), at_value);
}

// A sum under construction: borrowed summands, each once.
struct Parts {
  struct Part { PyObject* e; Int k, key; };
  Int c = 0;
  Part part[MOST];
  std::size_t n = 0;

  void put(PyObject* e, Int k) {
    for (std::size_t i = 0; i < n; i++)
      if (part[i].e == e) {
        part[i].k = add(part[i].k, k);
        return;
      }
    if (n == MOST) give_up();
    part[n++] = {e, k, 0};
  }
  void take(PyObject* e, Int k) {
    if (is_number(e)) {
      c = add(c, mul(k, integer_of(e)));
    } else if (is(e, tag::Sum)) {
      c = add(c, mul(k, integer_of(slot(e, at_const))));
      each(slot(e, at_terms), [&](PyObject* t) { put(PyTuple_GET_ITEM(t, 0), mul(k, integer_of(PyTuple_GET_ITEM(t, 1)))); });
    } else if (is(e, tag::Int)) {
      c = add(c, mul(k, integer_of(slot(e, at_value))));
    } else if (is_expr(e)) {
      put(e, k);
    } else {
      give_up();
    }
  }
  PyObject* made() {
    std::size_t left = 0;
    for (std::size_t i = 0; i < n; i++)
      if (part[i].k) part[left++] = part[i];
    if (!left) return made_integer(c);
    if (left == 1 && !c && part[0].k == 1) {
      Py_INCREF(part[0].e);
      return part[0].e;
    }
    for (std::size_t i = 0; i < left; i++) part[i].key = key_of(part[i].e);
    sort_stably(part, part + left, [](const Part& x, const Part& y) { return x.key < y.key; });
    Owned terms(PyTuple_New(left));
    for (std::size_t i = 0; i < left; i++) {
      Owned k(PyLong_FromLongLong(part[i].k));
      PyObject* t = PyTuple_Pack(2, part[i].e, k.o);
      if (!t) throw Failed{};
      PyTuple_SET_ITEM(terms.o, i, t);
    }
    Owned constant(PyLong_FromLongLong(c));
    PyObject* first = constant.release();
    return interned(types[tag::Sum], [&] {
      TupleHash inner;
      for (std::size_t i = 0; i < left; i++) {
        TupleHash t;
        t.lane(py_hash(part[i].key));
        t.lane(hashed(part[i].k));
        inner.lane(t.done());
      }
      TupleHash h;
      h.lane(2);
      h.lane(hashed(c));
      h.lane(inner.done());
      return h.done();
    }, first, at_const, terms.release(), at_terms);
  }
};

using Args = PyObject* const*;

PyObject* build_integer(Args args, Py_ssize_t n) {
  if (n != 1 || !is_number(args[0])) give_up();
  return made_integer(integer_of(args[0]));
}

PyObject* build_linear(Args args, Py_ssize_t n) {
  if (n != 2 || !is_number(args[0]) || !(PyList_CheckExact(args[1]) || PyTuple_CheckExact(args[1]))) give_up();
  Parts parts;
  parts.c = integer_of(args[0]);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(args[1]); i++) {
    PyObject* t = PySequence_Fast_GET_ITEM(args[1], i);
    if (!PyTuple_CheckExact(t) || PyTuple_GET_SIZE(t) != 2 || !is_expr(PyTuple_GET_ITEM(t, 0)) || !is_number(PyTuple_GET_ITEM(t, 1)))
      give_up();
    parts.take(PyTuple_GET_ITEM(t, 0), integer_of(PyTuple_GET_ITEM(t, 1)));
  }
  return parts.made();
}

PyObject* build_add(Args args, Py_ssize_t n) {
  Parts parts;
  for (Py_ssize_t i = 0; i < n; i++) parts.take(args[i], 1);
  return parts.made();
}

PyObject* build_mul(Args args, Py_ssize_t n) {
  Int scale = 1;
  PyObject* factor = nullptr;
  for (Py_ssize_t i = 0; i < n; i++) {
    PyObject* e = args[i];
    if (is(e, tag::Sum) && PyTuple_GET_SIZE(slot(e, at_terms)) == 1 && !integer_of(slot(e, at_const))) {
      PyObject* t = PyTuple_GET_ITEM(slot(e, at_terms), 0);
      scale = mul(scale, integer_of(PyTuple_GET_ITEM(t, 1)));
      e = PyTuple_GET_ITEM(t, 0);
    }
    if (is_number(e)) scale = mul(scale, integer_of(e));
    else if (is(e, tag::Int)) scale = mul(scale, integer_of(slot(e, at_value)));
    else if (factor || !is_expr(e) || is(e, tag::Mul)) give_up();
    else factor = e;
  }
  Parts parts;
  if (!factor) parts.c = scale;
  else if (scale) parts.take(factor, scale);
  return parts.made();
}

template <Int of> PyObject* build_binary(Args args, Py_ssize_t n) {
  if (n != 2) give_up();
  PyObject *a = args[0], *b = args[1];
  auto literal = [](PyObject* e) { return is_number(e) || is(e, tag::Int); };
  auto value = [](PyObject* e) { return integer_of(is_number(e) ? e : slot(e, at_value)); };
  if (literal(b) && !value(b)) give_up();
  if (literal(a) && literal(b)) {
    Int x = value(a), y = value(b);
    return made_integer(of == tag::FloorDiv ? floor_div(x, y) : of == tag::Mod ? floor_mod(x, y) : neg(floor_div(neg(x), y)));
  }
  auto lifted = [&](PyObject* e) -> PyObject* {
    if (is_number(e)) return made_integer(integer_of(e));
    if (!is_expr(e)) give_up();
    Py_INCREF(e);
    return e;
  };
  Owned x(lifted(a)), y(lifted(b));
  Int k = key_of(x.o), j = key_of(y.o);
  PyObject* first = x.release();
  return interned(types[of], [k, j] {
    TupleHash h;
    h.lane(of + 1);
    h.lane(py_hash(k));
    h.lane(py_hash(j));
    return h.done();
  }, first, at_a, y.release(), at_b);
}

template <Int of> PyObject* build_extremum(Args args, Py_ssize_t n) {
  if (!n) give_up();
  Parts found;  // the arguments, stored as summands
  bool known = false;
  auto put = [&](PyObject* e) {
    if (!is_number(e) && !is(e, tag::Int)) {
      if (!is_expr(e)) give_up();
      for (std::size_t i = 0; i < found.n; i++)
        if (found.part[i].e == e) return;
      if (found.n + 1 == MOST) give_up();
      found.part[found.n++] = {e, 0, key_of(e)};
      return;
    }
    Int x = integer_of(is_number(e) ? e : slot(e, at_value));
    found.c = !known ? x : of == tag::Min ? smaller(found.c, x) : larger(found.c, x);
    known = true;
  };
  for (Py_ssize_t i = 0; i < n; i++) {
    if (is(args[i], of)) each(slot(args[i], at_args), put);
    else put(args[i]);
  }
  Owned literal(known ? made_integer(found.c) : (Py_INCREF(Py_None), Py_None));
  if (known) found.part[found.n++] = {literal.o, 0, key_of(literal.o)};
  if (found.n == 1) {
    Py_INCREF(found.part[0].e);
    return found.part[0].e;
  }
  sort_stably(found.part, found.part + found.n, [](auto& x, auto& y) { return x.key < y.key; });
  Owned all(PyTuple_New(found.n));
  for (std::size_t i = 0; i < found.n; i++) {
    Py_INCREF(found.part[i].e);
    PyTuple_SET_ITEM(all.o, i, found.part[i].e);
  }
  return interned(types[of], [&] {
    TupleHash h;
    h.lane(of == tag::Min ? 7 : 8);
    for (std::size_t i = 0; i < found.n; i++) h.lane(py_hash(found.part[i].key));
    return h.done();
  }, all.release(), at_args);
}

// ------------------------------------------------------------------------------------------------ traversal
// Call `visit` for every distinct node below `roots`, children before parents, until it returns false.
template <class F> bool in_postorder(Args roots, Py_ssize_t n, F visit) {
  std::vector<PyObject*> slots(64), todo, opened;
  std::size_t used = 0;
  auto added = [&](PyObject* o) {
    auto place = [&](PyObject* p) {
      std::size_t i = mix(reinterpret_cast<std::uintptr_t>(p) >> 4) & (slots.size() - 1);
      while (slots[i] && slots[i] != p) i = (i + 1) & (slots.size() - 1);
      return i;
    };
    std::size_t i = place(o);
    if (slots[i]) return false;
    slots[i] = o;
    if (++used * 2 > slots.size()) {
      auto old = std::move(slots);
      slots.assign(old.size() * 4, nullptr);
      for (PyObject* p : old)
        if (p) slots[place(p)] = p;
    }
    return true;
  };
  for (Py_ssize_t i = n; i--;) todo.push_back(roots[i]);
  while (!todo.empty()) {
    PyObject* o = todo.back();
    todo.pop_back();
    if (!o) {
      o = opened.back();
      opened.pop_back();
      if (!visit(o)) return false;
      continue;
    }
    if (!added(o)) continue;
    std::size_t mark = todo.size();
    todo.push_back(nullptr);
    auto push = [&](PyObject* tuple, bool pairs) {
      for (Py_ssize_t i = PyTuple_GET_SIZE(tuple); i--;) {
        PyObject* t = PyTuple_GET_ITEM(tuple, i);
        todo.push_back(pairs ? PyTuple_GET_ITEM(t, 0) : t);
      }
    };
    if (is(o, tag::Sum)) push(slot(o, at_terms), true);
    else if (is(o, tag::Min) || is(o, tag::Max)) push(slot(o, at_args), false);
    else if (is(o, tag::Mul)) push(slot(o, at_factors), false);
    else if (is(o, tag::FloorDiv) || is(o, tag::Mod) || is(o, tag::CeilDiv)) {
      todo.push_back(slot(o, at_b));
      todo.push_back(slot(o, at_a));
    } else if (!is(o, tag::Var) && !is(o, tag::Int)) {
      give_up();
    }
    if (todo.size() > mark + 1) {
      opened.push_back(o);
    } else {
      todo.pop_back();
      if (!visit(o)) return false;
    }
  }
  return true;
}

PyObject* build_postorder(Args args, Py_ssize_t n) {
  Owned out(PyList_New(0));
  in_postorder(args, n, [&](PyObject* o) {
    if (PyList_Append(out.o, o)) throw Failed{};
    return true;
  });
  return out.release();
}

// Return whether all nodes below `roots` are quasi-affine and over variables with these names.
PyObject* build_quasi_affine(Args args, Py_ssize_t n) {
  if (n != 2 || !PyTuple_CheckExact(args[0]) || !PyDict_CheckExact(args[1])) give_up();
  PyObject* names = args[1];
  bool fine = in_postorder(&PyTuple_GET_ITEM(args[0], 0), PyTuple_GET_SIZE(args[0]), [&](PyObject* o) {
    if (is(o, tag::Mul)) return false;
    if (is(o, tag::FloorDiv) || is(o, tag::Mod) || is(o, tag::CeilDiv)) return is(slot(o, at_b), tag::Int);
    return !is(o, tag::Var) || (!PyUnicode_GET_LENGTH(slot(o, at_kind)) && PyDict_Contains(names, slot(o, at_name)) == 1);
  });
  return PyBool_FromLong(fine);
}

// Call one of these functions, and the Python function where it gives up.
template <PyObject* (*of)(Args, Py_ssize_t)> PyObject* or_python(PyObject* function, Args args, Py_ssize_t n, PyObject* names) {
  if (table && !names) {
    try {
      PyObject* found = of(args, n);
      forget_unused();
      return found;
    } catch (Fallback&) {
    } catch (Failed&) {
      return nullptr;
    } catch (std::bad_alloc&) {
      return PyErr_NoMemory();
    }
  }
  return PyObject_Vectorcall(function, args, n, names);
}

template <PyObject* (*of)(Args, Py_ssize_t)> constexpr PyMethodDef building(const char* name) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&or_python<of>)), METH_FASTCALL | METH_KEYWORDS, nullptr};
}
PyMethodDef builders[] = {
    building<build_integer>("integer"), building<build_linear>("linear"), building<build_add>("add"), building<build_mul>("mul"),
    building<build_binary<tag::FloorDiv>>("floordiv"), building<build_binary<tag::Mod>>("mod"),
    building<build_binary<tag::CeilDiv>>("ceildiv"), building<build_extremum<tag::Min>>("minimum"),
    building<build_extremum<tag::Max>>("maximum"), building<build_postorder>("postorder"),
    building<build_quasi_affine>("quasi_affine")};

PyObject* built(PyObject*, PyObject* function) {
  PyObject* name = PyObject_GetAttrString(function, "__name__");
  const char* text = name ? PyUnicode_AsUTF8(name) : nullptr;
  PyObject* found = nullptr;
  for (auto& b : builders)
    if (text && !std::strcmp(b.ml_name, text)) found = PyCFunction_NewEx(&b, function, nullptr);
  if (text && !found && !PyErr_Occurred()) PyErr_Format(PyExc_ValueError, "%s is not among what is built", text);
  Py_XDECREF(name);
  return found;
}

}  // namespace
