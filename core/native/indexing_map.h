// Maps with their variables and constraints, and constraint rules with their strategies.
#pragma once
#include "expr.h"

namespace indexproof {

struct Engine;
struct Proposal;
using Bound = Tuple<Expr, Int, Int>;

// The constraints are unsatisfiable.
struct Contradiction {};

struct Variable {
  Expr e;
  Int lo, hi;
  void* outside = nullptr;  // the caller's object, whose bounds may differ
  Expr expr() const { return e; }
  Variable* boxed(Int l, Int h) { return l == lo && h == hi ? this : make<Variable>(Variable{e, l, h, outside}); }
};

struct RuntimeSource {
  Tup<Expr> results;
};

struct RuntimeVariable {
  Expr e;
  Int lo, hi;
  RuntimeSource* source = nullptr;
  void* outside = nullptr;
  Expr expr() const { return e; }
  RuntimeVariable* indexed(Tup<Expr> results) {
    return make<RuntimeVariable>(RuntimeVariable{e, lo, hi, make<RuntimeSource>(RuntimeSource{results}), outside});
  }
};

struct Constraint {
  Expr expr;
  Int lo, hi;
  void* outside = nullptr;
  static Constraint* trusted(Expr e, Int lo, Int hi) { return make<Constraint>(Constraint{e, lo, hi}); }
};

struct IndexingMap {
  Tup<Variable*> dims, ranges;
  Tup<RuntimeVariable*> rts;
  Tup<Expr> results;
  Tup<Constraint*> constraints;
  bool empty = false;  // whether the domain is empty, regardless of the other fields
};

// An entry of a trace, as in core/steps.py.
struct Happened {
  enum What { Step, Rewritten, Constraints, Map } what;
  static constexpr const char* WHAT[] = {"step", "rewritten", "constraints", "map"};
  const char* name;   // of the rule, or the reason why the map changes
  Tup<Expr> values;   // of the rule's variables
  Int engine;         // steps of the same engine hold on the same domain
  Tup<Bound> before{}, after{};
  IndexingMap *was = nullptr, *now = nullptr;
};
struct Trace {
  List<Happened> entries = List<Happened>::make();
  Int engines = 0;
};

struct CompiledConstraintRule {
  const char* name;
  Opt<Tup<Bound>> (*check)(List<Bound>, Engine*, Proposal);
  List<Proposal> (*propose)(List<Bound>, Engine*);  // null where the left side binds all variables
  Opt<Tup<Bound>> after(List<Bound> constraints, Engine* ends);
};

using Rules = Tup<CompiledConstraintRule*>;
struct ByHead {
  Rules by[9];
  Rules get(Int tag) const { return by[tag]; }
};
struct ConstraintRules {
  Rules final, twins, pairs, remainders, implied;
  ByHead single, narrowing;
};

namespace functions {

inline Dict<Expr, Term> _boxes(IndexingMap* m) {
  auto boxes = Dict<Expr, Term>::make();
  for (auto* v : m->dims) boxes.set(v->e, {v->lo, v->hi});
  for (auto* v : m->ranges) boxes.set(v->e, {v->lo, v->hi});
  for (auto* v : m->rts) boxes.set(v->e, {v->lo, v->hi});
  return boxes;
}

inline IndexingMap* _made(Tup<Variable*> dims, Tup<Variable*> ranges, Tup<RuntimeVariable*> rts, Tup<Expr> results,
                          Tup<Constraint*> constraints) {
  return make<IndexingMap>(IndexingMap{dims, ranges, rts, results, constraints});
}

inline IndexingMap* _emptied(IndexingMap* m) {
  auto* e = _made(m->dims, m->ranges, m->rts, m->results, m->constraints);
  e->empty = true;
  return e;
}

inline Int length(Trace* trace) { return trace ? trace->entries.size() : 0; }
inline void take_back(Trace* trace, Int length) {
  if (trace) trace->entries.d->n = length;
}
inline void changed(Trace* trace, const char* why, IndexingMap* before, IndexingMap* after) {
  if (trace) trace->entries.append({Happened::Map, why, {}, 0, {}, {}, before, after});
}

// Return the inverse of a modulo m.  Their greatest common divisor must be one.
inline Int inverse(Int a, Int m) {
  Int r = m, s = floor_mod(a, m), x = 0, y = 1;
  while (s) {
    Int q = r / s, t = r - q * s;
    r = s;
    s = t;
    t = x - q * y;
    x = y;
    y = t;
  }
  if (r != 1) give_up();
  return floor_mod(x, m);
}

// A name in natural order: numbers precede other text and compare by value.
struct Name {
  const char* p;
  Int n;
};
inline bool operator<(Name a, Name b) {
  auto digit = [](Name x) { return x.n && x.p[0] >= '0' && x.p[0] <= '9'; };
  auto run = [&](Name x) {
    Int i = 1;
    while (i < x.n && digit({x.p + i, 1}) == digit(x)) i++;
    return i;
  };
  while (a.n && b.n) {
    if (digit(a) != digit(b)) return digit(a);
    Int i = run(a), j = run(b);
    if (digit(a)) {
      Int x = 0, y = 0;
      for (Int k = 0; k < i; k++) x = add(mul(x, 10), a.p[k] - '0');
      for (Int k = 0; k < j; k++) y = add(mul(y, 10), b.p[k] - '0');
      if (x != y) return x < y;
    } else if (int c = std::memcmp(a.p, b.p, std::min(i, j))) {
      return c < 0;
    } else if (i != j) {
      return i < j;
    }
    a = {a.p + i, a.n - i};
    b = {b.p + j, b.n - j};
  }
  return a.n < b.n;
}

// Return the coefficient of the leading summand: the first variable by name, or else the term with the smallest key.
// For names that differ only in leading zeros, the smaller coefficient decides.
inline Int _leading(Tup<Summand> terms) {
  const Summand* best = nullptr;
  for (auto& t : terms) {
    Expr e = at<0>(t);
    if (e->tag != tag::Var) continue;
    if (!e->name) give_up();
    if (best) {
      Name now{e->name, e->name_length}, then{at<0>(*best)->name, at<0>(*best)->name_length};
      if (then < now || (!(now < then) && at<1>(*best) <= at<1>(t))) continue;
    }
    best = &t;
  }
  if (best) return at<1>(*best);
  for (auto& t : terms)
    if (!best || at<0>(t)->key < at<0>(*best)->key) best = &t;
  return at<1>(*best);
}

}  // namespace functions
}  // namespace indexproof
