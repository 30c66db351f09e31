// Expressions, interned for the duration of one call, and the functions that build them, as in core/expr.py.
#pragma once
#include "runtime.h"

namespace indexproof {

namespace tag {
enum : Int { Int, Var, Sum, FloorDiv, Mod, CeilDiv, Min, Max, Mul };
}

struct Node;
using Expr = Node*;
using Summand = Tuple<Expr, Int>;

struct Node {
  Int tag;
  Int key;
  Int value = 0;   // of a literal
  Int const_ = 0;  // of a sum
  Tup<Summand> terms;
  Expr a = nullptr, b = nullptr;
  Tup<Expr> args;
  void* outside = nullptr;     // the caller's object
  const char* name = nullptr;  // of a variable, null unless the name is ASCII
  Int name_length = 0;
  std::uint64_t hash = 0;
  Int visit = 0;  // the last walk that met it
  Int place = 0;  // a number for those who write expressions
};

struct Cost {
  Int divisions = 0, operations = 0;
  Int weighed(Int w) const { return add(operations, mul(w - 1, divisions)); }
};

// Normal forms are much larger than the expressions that were read.
struct Excess {};

inline Int py_hash(Expr e) { return py_hash(e->key); }

// ------------------------------------------------------------------------------------------------ interning
class Nodes {
 public:
  template <class Same, class Make>
  Expr find(std::uint64_t h, Same same, Make made) {
    if (2 * used_ >= cap_) grow();
    for (std::size_t i = h & (cap_ - 1);; i = (i + 1) & (cap_ - 1)) {
      if (!slots_[i]) {
        Expr e = made();
        e->hash = h;
        slots_[i] = e;
        used_++;
        return e;
      }
      if (slots_[i]->hash == h && same(slots_[i])) return slots_[i];
    }
  }
  void reset() { slots_ = nullptr; cap_ = used_ = 0; }

 private:
  void grow() {
    std::size_t cap = cap_ ? cap_ * 4 : 128;
    auto* slots = arena.array<Expr>(cap);
    std::memset(slots, 0, cap * sizeof(Expr));
    for (std::size_t i = 0; i < cap_; i++)
      if (slots_[i]) {
        std::size_t j = slots_[i]->hash & (cap - 1);
        while (slots[j]) j = (j + 1) & (cap - 1);
        slots[j] = slots_[i];
      }
    slots_ = slots;
    cap_ = cap;
  }
  Expr* slots_;
  std::size_t cap_, used_;
};
inline thread_local Nodes nodes;

inline void reset() {
  nodes.reset();
  terms_table.reset();
  arena.reset();
}

// ------------------------------------------------------------------------------------------------ keys
// Return Python's hash of the value of `_hashable` for an integer.
inline Int hashed(Int n) {
  unsigned __int128 x = n >= 0 ? (unsigned __int128)n * 2 : (unsigned __int128)(-(__int128)n) * 2 - 1;
  if (x < ((unsigned __int128)1 << 60)) return py_hash(Int(x));
  TupleHash h;
  while (x) {
    h.lane(py_hash(Int(x & (((unsigned __int128)1 << 60) - 1))));
    x >>= 60;
  }
  return h.done();
}

namespace functions {

inline Expr integer(Int n) {
  return nodes.find(
      hash_of(n), [&](Expr e) { return e->tag == tag::Int && e->value == n; },
      [&] {
        TupleHash h;
        h.lane(1);
        h.lane(hashed(n));
        Expr e = make<Node>(Node{tag::Int, h.done()});
        e->value = n;
        return e;
      });
}

// Return the sum of distinct terms that are sorted by their keys.  They are copied if the sum is new.
inline Expr sum(Int c, Tup<Summand> terms) {
  if (!terms.n) return integer(c);
  if (terms.n == 1 && c == 0 && at<1>(terms[0]) == 1) return at<0>(terms[0]);
  return nodes.find(
      mix(hash_of(terms) ^ hash_of(c)), [&](Expr e) { return e->tag == tag::Sum && e->const_ == c && e->terms == terms; },
      [&] {
        TupleHash inner;
        for (auto& [e, k] : terms) {
          TupleHash t;
          t.lane(py_hash(e->key));
          t.lane(hashed(k));
          inner.lane(t.done());
        }
        TupleHash h;
        h.lane(2);
        h.lane(hashed(c));
        h.lane(inner.done());
        Expr e = make<Node>(Node{tag::Sum, h.done()});
        e->const_ = c;
        e->terms = Tup<Summand>::from(terms);
        return e;
      });
}

inline Expr distinct_sum(Int c, List<Summand> terms) {
  sort_stably(terms.begin(), terms.end(), [](auto& x, auto& y) { return at<0>(x)->key < at<0>(y)->key; });
  return sum(c, {terms.begin(), terms.size()});
}

inline Expr linear(Int c, List<Summand> terms) {
  Room<Dict<Expr, Int>> room;
  Room<List<Summand>> others;
  auto merged = Dict<Expr, Int>::make(room);
  auto put = [&](Expr e, Int k) { if (auto* p = merged.find(e)) p->second = add(p->second, k); else merged.insert(e, k); };
  for (auto& [e, k] : terms) {
    if (e->tag == tag::Sum) {
      c = add(c, mul(k, e->const_));
      for (auto& [x, j] : e->terms) put(x, mul(k, j));
    } else if (e->tag == tag::Int) {
      c = add(c, mul(k, e->value));
    } else {
      put(e, k);
    }
  }
  auto kept = List<Summand>::make(others);
  for (auto& m : merged.items())
    if (m.second) kept.append({m.first, m.second});
  return distinct_sum(c, kept);
}

inline Expr binary(Int of, Expr a, Expr b) {
  return nodes.find(
      mix(hash_of(a) * 3 + hash_of(b) + of), [&](Expr e) { return e->tag == of && e->a == a && e->b == b; },
      [&] {
        TupleHash h;
        h.lane(of + 1);
        h.lane(py_hash(a->key));
        h.lane(py_hash(b->key));
        Expr e = make<Node>(Node{of, h.done()});
        e->a = a;
        e->b = b;
        return e;
      });
}
static_assert(tag::FloorDiv == 3 && tag::Mod == 4 && tag::CeilDiv == 5, "keys of quotients and remainders begin with 4 to 6");

inline Expr floordiv(Expr a, Expr b) {
  if (b->tag == tag::Int && a->tag == tag::Int) return integer(floor_div(a->value, b->value));
  return binary(tag::FloorDiv, a, b);
}
inline Expr mod(Expr a, Expr b) {
  if (b->tag == tag::Int && a->tag == tag::Int) return integer(floor_mod(a->value, b->value));
  return binary(tag::Mod, a, b);
}
inline Expr floordiv(Expr a, Int b) { return floordiv(a, integer(b)); }
inline Expr mod(Expr a, Int b) { return mod(a, integer(b)); }

inline Expr extremum(Int of, List<Expr> es) {
  auto args = Set<Expr>::make();
  Opt<Int> literal;
  auto put = [&](Expr e) {
    if (e->tag != tag::Int) return args.add(e);
    literal = isnone(literal) ? e->value : of == tag::Min ? smaller(some(literal), e->value) : larger(some(literal), e->value);
  };
  for (Expr e : es) {
    if (e->tag == of) for (Expr x : e->args) put(x);
    else put(e);
  }
  if (!isnone(literal)) args.add(integer(some(literal)));
  if (args.size() == 1) return *args.begin();
  auto chosen = sorted<Expr>(args, [](Expr e) { return e->key; });
  auto all = Tup<Expr>::from(chosen);
  return nodes.find(
      mix(hash_of(all) + of), [&](Expr e) { return e->tag == of && e->args == all; },
      [&] {
        TupleHash h;
        h.lane(of == tag::Min ? 7 : 8);
        for (Expr x : all) h.lane(py_hash(x->key));
        Expr e = make<Node>(Node{of, h.done()});
        e->args = all;
        return e;
      });
}
inline Expr minimum(List<Expr> es) { return extremum(tag::Min, es); }
inline Expr maximum(List<Expr> es) { return extremum(tag::Max, es); }
inline Expr minimum(Tup<Expr> es) { return minimum(List<Expr>::from(es)); }
inline Expr maximum(Tup<Expr> es) { return maximum(List<Expr>::from(es)); }

inline Tup<Expr> children(Expr e) {
  if (e->args.size()) return e->args;
  Tup<Expr> all;
  all.n = e->a ? 2 : e->terms.n;
  Expr* p = arena.array<Expr>(all.n);
  all.p = p;
  if (e->a) { p[0] = e->a; p[1] = e->b; }
  for (auto& t : e->terms) *p++ = at<0>(t);
  return all;
}

// Number of walks over expressions in this thread.
inline thread_local Int walks = 0;

inline List<Expr> postorder(List<Expr> roots) {
  Int walk = ++walks;
  auto out = List<Expr>::make(), opened = List<Expr>::make(), todo = reversed<Expr>(roots);
  while (todo.size()) {
    Expr e = todo.pop();
    if (!e) { out.append(opened.pop()); continue; }
    if (e->visit == walk) continue;
    e->visit = walk;
    if (e->tag == tag::Int || e->tag == tag::Var) { out.append(e); continue; }
    opened.append(e);
    todo.append(nullptr);
    if (e->a) { todo.append(e->b); todo.append(e->a); }
    for (Int i = e->terms.size(); i--;) todo.append(at<0>(e->terms[i]));
    for (Int i = e->args.size(); i--;) todo.append(e->args[i]);
  }
  return out;
}

inline Int finite(Int end) { return end; }

}  // namespace functions
}  // namespace indexproof
