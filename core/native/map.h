// Maps without Python: what they are made of, the order in which their summands are printed, and how they are simplified.
#pragma once
#include <charconv>
#include <string>
#include <string_view>

#include "kernel.h"

namespace indexproof::library {

// What is wrong with the input, and at which byte (or word) of it.
struct Malformed {
  std::string message;
  std::size_t at = std::string_view::npos;
};
// Deeper nesting is left to others: what reads and writes is recursive.
inline constexpr Int MAX_DEPTH = 1000;

struct Name {
  std::string_view text;
  bool operator==(const Name& o) const { return text == o.text; }
};
inline std::uint64_t hash_of(const Name& n) {
  std::uint64_t h = n.text.size();
  for (unsigned char c : n.text) h = mix(h ^ c);
  return h;
}

// Output, and ways to add to it.
using Text = std::string;
inline void put(Text& out, std::string_view s) { out += s; }
inline void put(Text& out, Int n) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
}
template <class A, class B, class... More>
void put(Text& out, const A& a, const B& b, const More&... more) {
  put(out, a);
  put(out, b, more...);
}
template <class C, class F>
void listed(Text& out, const C& all, F write) {
  bool first = true;
  for (auto& x : all) {
    if (!std::exchange(first, false)) put(out, ", ");
    write(x);
  }
}

// ------------------------------------------------------------------------------------------------ parts of maps
struct Variable {
  std::string_view name;
  Int lo = 0, hi = 0;
  bool bounded = false;
  Int position = 0;  // among all variables of the map
  Expr expr = nullptr;
};
using Variables = List<Variable*>;
struct Constraint {
  Expr expr;
  Int lo, hi;
};
struct Map {
  Variables dims = Variables::make(), ranges = Variables::make(), rts = Variables::make();
  List<Expr> results = List<Expr>::make();
  List<Constraint> constraints = List<Constraint>::make();

  Variables variables() const { return concat(concat(dims, ranges), rts); }
  List<Expr> roots() const {
    auto out = List<Expr>::from(results);
    for (auto& c : constraints) out.append(c.expr);
    return out;
  }
  // Number the variables; keep each constrained expression once, where it came first.
  void finish() {
    Int n = 0;
    for (Variable* v : variables()) v->position = n++;
    auto given = constraints;
    auto place = Dict<Expr, Int>::make();
    constraints = List<Constraint>::make();
    for (auto& c : given) {
      if (auto* found = place.find(c.expr)) {
        Constraint& have = constraints[found->second];
        have.lo = larger(have.lo, c.lo);
        have.hi = smaller(have.hi, c.hi);
      } else {
        place.insert(c.expr, constraints.size());
        constraints.append(c);
      }
    }
  }
};

inline bool is_name(std::string_view s) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  for (std::size_t i = 0; i < s.size(); i++)
    if (!letter(s[i]) && (!i || s[i] < '0' || s[i] > '9')) return false;
  return !s.empty();
}
inline bool is_reserved(std::string_view s) {
  for (auto w : {"and", "ceildiv", "floorDiv", "floordiv", "in", "max", "min", "mod"})
    if (s == w) return true;
  return false;
}

// ------------------------------------------------------------------------------------------------ building expressions
// The key of a variable: eight bytes of the BLAKE2b digest of its kind and name, as core/expr.py has it.  Terms of sums are
// ordered by keys, so that results are the same only if keys are.
class Digest {
 public:
  static Int of(std::string_view name) {
    Digest d;
    unsigned char block[128];
    std::size_t total = name.size() + 1, done = 0;
    do {
      std::size_t n = std::min<std::size_t>(128, total - done);
      std::memset(block, 0, sizeof block);
      for (std::size_t i = 0; i < n; i++) block[i] = done + i ? static_cast<unsigned char>(name[done + i - 1]) : ':';
      done += n;
      d.compress(block, done, done == total);
    } while (done < total);
    return Int(d.h_[0]);
  }

 private:
  using Word = std::uint64_t;
  static constexpr Word START[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  static constexpr unsigned char ORDER[10][16] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};
  static Word turned(Word x, int n) { return (x >> n) | (x << (64 - n)); }

  void compress(const unsigned char* block, Word count, bool last) {
    Word m[16], v[16];
    for (int i = 0; i < 16; i++) {
      m[i] = 0;
      for (int b = 7; b >= 0; b--) m[i] = (m[i] << 8) | block[8 * i + b];
    }
    for (int i = 0; i < 8; i++) {
      v[i] = h_[i];
      v[i + 8] = START[i];
    }
    v[12] ^= count;
    if (last) v[14] = ~v[14];
    for (int round = 0; round < 12; round++)
      for (int i = 0; i < 8; i++) {
        const unsigned char* s = ORDER[round % 10] + 2 * i;
        int shift = i / 4;  // columns, then diagonals
        Word &a = v[i & 3], &b = v[4 + ((i + shift) & 3)], &c = v[8 + ((i + 2 * shift) & 3)], &e = v[12 + ((i + 3 * shift) & 3)];
        a += b + m[s[0]];
        e = turned(e ^ a, 32);
        c += e;
        b = turned(b ^ c, 24);
        a += b + m[s[1]];
        e = turned(e ^ a, 16);
        c += e;
        b = turned(b ^ c, 63);
      }
    for (int i = 0; i < 8; i++) h_[i] ^= v[i] ^ v[i + 8];
  }
  Word h_[8] = {START[0] ^ 0x01010008, START[1], START[2], START[3], START[4], START[5], START[6], START[7]};
};

inline Variable* variable(std::string_view name) {
  auto* v = make<Variable>();
  v->name = name;
  v->expr = make<Node>(Node{tag::Var, Digest::of(name)});
  v->expr->outside = v;
  return v;
}

inline Variable* variable_of(Expr e) { return static_cast<Variable*>(e->outside); }

inline Expr scaled(Expr e, Int k) { return functions::linear(0, List<Summand>::of({Summand(e, k)})); }

// A quotient or a remainder by a literal that is not zero.
inline Expr divided(Int of, Expr a, Expr b) {
  if (of == tag::FloorDiv) return functions::floordiv(a, b);
  if (of == tag::Mod) return functions::mod(a, b);
  if (a->tag == tag::Int) return functions::integer(neg(floor_div(neg(a->value), b->value)));
  return functions::binary(of, a, b);
}

// ------------------------------------------------------------------------------------------------ printing order
// The order in which summands and arguments are written, as in core/text_printer.py.
class Order {
 public:
  static constexpr Int MAX_WORDS = 5'000'000;

  explicit Order(const Map& m) {
    for (Expr e : functions::postorder(m.roots())) {
      Int n = 1;
      for (Expr x : functions::children(e)) n = add(n, words_.at_(x));
      if (n > MAX_WORDS) give_up();
      words_.insert(e, n);
      if (e->tag != tag::Sum) continue;
      auto pieces = List<Summand>::from(e->terms);
      std::stable_sort(pieces.begin(), pieces.end(), [&](auto& x, auto& y) { return compare(item(x), item(y), 0) < 0; });
      bool difference = true;
      for (auto& [t, k] : pieces) difference &= t->tag == tag::Var && (k == 1 || k == -1);
      // a plain difference is published as `d0 - rt0`; anything more has its products first
      if (difference) std::stable_sort(pieces.begin(), pieces.end(), [](auto& x, auto& y) { return at<1>(x) > at<1>(y); });
      terms_.insert(e, pieces);
    }
  }
  List<Summand> terms(Expr sum) const { return terms_.at_(sum); }
  // Of a minimum or a maximum, literals last.
  List<Expr> arguments(Expr e) const {
    auto out = List<Expr>::from(e->args);
    std::stable_sort(out.begin(), out.end(), [&](Expr x, Expr y) {
      bool literal = y->tag == tag::Int;
      if (x->tag == tag::Int || literal) return literal && x->tag != tag::Int;
      return compare({x, 1}, {y, 1}, 0) < 0;
    });
    return out;
  }

 private:
  enum { SUM, PRODUCT, MOD, FLOORDIV, CEILDIV, MIN, MAX, CONSTANT, VARIABLE };
  // An expression times a number; without an expression the number.
  struct Item {
    Expr e;
    Int k;
  };
  static Item item(const Summand& s) { return {at<0>(s), at<1>(s)}; }

  static Item settled(Item x) {
    while (x.e && x.k == 1 && x.e->tag == tag::Sum && !x.e->const_ && x.e->terms.size() == 1) x = item(x.e->terms[0]);
    return x.e && x.k == 1 && x.e->tag == tag::Int ? Item{nullptr, x.e->value} : x;
  }
  static int form(Item x) {
    if (!x.e) return CONSTANT;
    if (x.k != 1) return PRODUCT;
    switch (x.e->tag) {
      case tag::Sum: return SUM;
      case tag::Var: return VARIABLE;
      case tag::Mod: return MOD;
      case tag::FloorDiv: return FLOORDIV;
      case tag::CeilDiv: return CEILDIV;
    }
    return x.e->tag == tag::Min ? MIN : MAX;
  }
  static Int count(Item x) {
    if (x.k != 1) return 2;
    return x.e->tag == tag::Sum ? x.e->terms.size() + (x.e->const_ != 0) : x.e->a ? 2 : x.e->args.size();
  }
  Item part(Item x, Int i) const {
    if (x.k != 1) return i ? Item{nullptr, x.k} : Item{x.e, 1};
    if (x.e->tag == tag::Sum) {
      auto all = terms(x.e);
      return i < all.size() ? item(all[i]) : Item{nullptr, x.e->const_};
    }
    return {x.e->a ? (i ? x.e->b : x.e->a) : x.e->args[i], 1};
  }
  // The first difference from the left decides.
  Int compare(Item a, Item b, Int depth) const {
    if (depth > MAX_DEPTH) give_up();
    a = settled(a);
    b = settled(b);
    if (a.e == b.e && a.k == b.k) return 0;
    int f = form(a), g = form(b);
    if (f != g) return f - g;
    if (f == CONSTANT) return a.k < b.k ? -1 : 1;
    if (f == VARIABLE) return variable_of(a.e)->position - variable_of(b.e)->position;
    // sums lean to the left, so the longer one has a sum where the shorter has its first summand
    if (count(a) != count(b)) return count(b) - count(a);
    for (Int i = 0; i < count(a); i++)
      if (Int found = compare(part(a, i), part(b, i), depth + 1)) return found;
    return 0;
  }
  Dict<Expr, Int> words_ = Dict<Expr, Int>::make();
  Dict<Expr, List<Summand>> terms_ = Dict<Expr, List<Summand>>::make();
};

// ------------------------------------------------------------------------------------------------ simplifying
struct Options {
  Int division_weight = 3;
  bool quick = false, keep_points = false;
};

// The empty map, in the one form that simplification gives it.
inline void make_empty(Map& m) {
  for (Variable* v : concat(m.dims, m.ranges)) v->lo = 0, v->hi = -1;
  for (Expr& e : m.results) e = functions::integer(0);
  m.constraints = List<Constraint>::make();
  if (!m.dims.size()) m.constraints.append({functions::integer(0), 1, 1});
}

// As `simplify_map` of core/simplify_map.py.
inline void simplify(Map& m, const Options& options) {
  auto bounds = Dict<Expr, Term>::make();
  for (Variable* v : m.variables()) {
    if (v->lo > v->hi) return make_empty(m);
    bounds.set(v->expr, Term{v->lo, v->hi});
  }
  if (m.constraints.size()) give_up();
  auto* engine = make<Engine>(bounds, options.keep_points);
  auto* simplifier = make<Simplifier>();
  simplifier->made = engine;
  simplifier->division_weight = options.division_weight;
  simplifier->quick = options.quick;
  m.results = simplifier->all(m.results);
}

}  // namespace indexproof::library
