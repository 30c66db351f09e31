// Maps without Python: construction from input, simplification, and printing order.
#pragma once
#include <charconv>
#include <string>
#include <string_view>

#include "indexproof.h"
#include "kernel.h"

namespace indexproof::library {

// An error in the input, with the byte offset of its position.
struct Malformed {
  std::string message;
  std::size_t at = std::string_view::npos;
};
// Limit on nesting, because reading and printing are recursive; deeper input is unsupported.
inline constexpr Int MAX_DEPTH = 1000;
// Limit on the number of printed words; shared subexpressions can make the text of a small map astronomically long.
inline constexpr Int MAX_WORDS = 5'000'000;

struct Word {
  std::string_view text;
  bool operator==(const Word& o) const { return text == o.text; }
};
inline std::uint64_t hash_of(const Word& w) {
  std::uint64_t h = w.text.size();
  for (unsigned char c : w.text) h = mix(h ^ c);
  return h;
}

// ------------------------------------------------------------------------------------------------ output
inline void put(std::string& out, std::string_view s) { out += s; }
inline void put(std::string& out, Int n) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
}
template <class A, class B, class... More>
void put(std::string& out, const A& a, const B& b, const More&... more) {
  put(out, a);
  put(out, b, more...);
}
template <class C, class F>
void listed(std::string& out, const char* left, const C& all, const char* right, F write) {
  put(out, left);
  bool first = true;
  for (auto& x : all) {
    if (!std::exchange(first, false)) put(out, ", ");
    write(x);
  }
  put(out, right);
}

// ------------------------------------------------------------------------------------------------ expressions
// The key of a variable: eight bytes of the BLAKE2b digest of its kind and name, as in core/expr.py.  Keys order the
// terms of sums, so equal results need equal keys.
class Digest {
  using W = std::uint64_t;

 public:
  static Int of(std::string_view name) {
    if (name.size() > 7) return computed(name);
    // a digest costs as much as a small expression, and the next map often uses the same short names
    static thread_local struct { W name; Int key; } known[64];
    W packed = name.size() + 1;
    for (unsigned char c : name) packed = packed << 8 | c;
    auto& entry = known[packed * 0x9e3779b97f4a7c15 >> 58];
    if (entry.name != packed) entry = {packed, computed(name)};
    return entry.key;
  }

 private:
  static Int computed(std::string_view name) {
    Digest d;
    std::string text = ":" + std::string(name);
    for (std::size_t at = 0; at < text.size(); at += 128) {
      std::uint64_t block[16] = {}, done = std::min(text.size(), at + 128);
      for (std::size_t i = at; i < done; i++) block[(i - at) / 8] |= std::uint64_t(static_cast<unsigned char>(text[i])) << (i % 8 * 8);
      d.compress(block, done, done == text.size());
    }
    return Int(d.h_[0]);
  }

  static constexpr W START[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                 0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  // the order in which a round takes the words of a block, one digit per word
  static constexpr W ORDER[10] = {0x0123456789abcdef, 0xea489fd61c02b753, 0xb8c052fdae367194, 0x7931dcbe265a40f8, 0x905724afe1bc683d,
                                  0x2c6a0b834d75fe19, 0xc51fed4a0763928b, 0xdb7ec13950f4862a, 0x6fe9b308c2d714a5, 0xa2847615fb9e3cd0};

  void compress(const W* block, W count, bool last) {
    auto turned = [](W x, int n) { return (x >> n) | (x << (64 - n)); };
    W v[16];
    for (int i = 0; i < 16; i++) v[i] = i < 8 ? h_[i] : START[i - 8];
    v[12] ^= count;
    if (last) v[14] = ~v[14];
    for (int round = 0; round < 12; round++)
      for (int i = 0; i < 8; i++) {
        int k = i / 4;  // columns, then diagonals
        W &a = v[i & 3], &b = v[4 + ((i + k) & 3)], &c = v[8 + ((i + 2 * k) & 3)], &d = v[12 + ((i + 3 * k) & 3)];
        auto mixed = [&](int n, int left, int right) {
          a += b + block[ORDER[round % 10] >> (60 - 4 * n) & 15];
          d = turned(d ^ a, left);
          c += d;
          b = turned(b ^ c, right);
        };
        mixed(2 * i, 32, 24);
        mixed(2 * i + 1, 16, 63);
      }
    for (int i = 0; i < 8; i++) h_[i] ^= v[i] ^ v[i + 8];
  }
  W h_[8] = {START[0] ^ 0x01010008, START[1], START[2], START[3], START[4], START[5], START[6], START[7]};
};

inline Expr scaled(Expr e, Int k) { return functions::linear(0, List<Summand>::of({Summand(e, k)}, here(Room<List<Summand>>()))); }

// The tags of the operators in indexproof.h.
inline constexpr Int TAGS[] = {tag::Int, tag::Var, tag::Sum, tag::Mul, tag::FloorDiv, tag::Mod, tag::CeilDiv, tag::Min, tag::Max};

// Apply an operator to operands; return an error message where this is not allowed, else null.
inline const char* apply(Int op, const List<Expr>& args, Expr& out) {
  out = nullptr;
  if (op == INDEXPROOF_MIN || op == INDEXPROOF_MAX) {
    out = functions::extremum(TAGS[op], args);
  } else if (op == INDEXPROOF_ADD) {
    Room<List<Summand>> room;
    auto terms = List<Summand>::make(room);
    for (Expr e : args) terms.append(Summand(e, 1));
    out = functions::linear(0, terms);
  } else if (op == INDEXPROOF_MUL) {
    Int scale = 1;
    for (Expr e : args) {
      if (e->tag != tag::Int && out) return "a product of two variables is not quasi-affine";
      if (e->tag == tag::Int) scale = mul(scale, e->value);
      else out = e;
    }
    out = out ? scaled(out, scale) : functions::integer(scale);
  } else {
    if (args.size() != 2) return "a division has two operands";
    Expr a = args[0], b = args[1];
    if (b->tag != tag::Int) return "the divisor is not a constant: an indexing map is quasi-affine";
    if (!b->value) return "division by zero";
    if (op == INDEXPROOF_FLOORDIV) out = functions::floordiv(a, b);
    else if (op == INDEXPROOF_MOD) out = functions::mod(a, b);
    else if (a->tag == tag::Int) out = functions::integer(neg(floor_div(neg(a->value), b->value)));
    else out = functions::binary(tag::CeilDiv, a, b);
  }
  return nullptr;
}

// ------------------------------------------------------------------------------------------------ maps
struct Map {
  List<Variable*> dims = List<Variable*>::make(), ranges = List<Variable*>::make(), rts = List<Variable*>::make();
  List<Expr> results = List<Expr>::make();
  List<Constraint*> constraints = List<Constraint*>::make();

  List<Variable*> variables() const { return concat(concat(dims, ranges), rts); }

  // Variables are declared in order: dimensions, ranges, runtime variables.
  Variable* declare(List<Variable*> group, std::string_view name, Int lo, Int hi) {
    Expr e = make<Node>(Node{tag::Var, Digest::of(name)});
    e->name = name.data();
    e->name_length = Int(name.size());
    e->value = dims.size() + ranges.size() + rts.size();
    group.append(make<Variable>(Variable{e, lo, hi}));
    return group[-1];
  }
  // Constraints on the same expression are merged into the first of them.
  void constrain(Expr e, Int lo, Int hi) {
    Constraint* have = on_.setdefault(e, nullptr);
    if (!have) constraints.append(have = on_.set(e, Constraint::trusted(e, lo, hi)));
    have->lo = larger(have->lo, lo);
    have->hi = smaller(have->hi, hi);
  }
  List<Expr> roots() const {
    auto out = List<Expr>::from(results);
    for (auto* c : constraints) out.append(c->expr);
    return out;
  }

  // `trace`, if given, collects the entries of this simplification.
  void simplify(Int division_weight, bool quick, bool keep_points, Trace* trace = nullptr) {
    auto runtime = List<RuntimeVariable*>::make();
    for (auto* v : rts) runtime.append(make<RuntimeVariable>(RuntimeVariable{v->e, v->lo, v->hi}));
    auto* given = functions::_made(Tup<Variable*>::from(dims), Tup<Variable*>::from(ranges), Tup<RuntimeVariable*>::from(runtime),
                                   Tup<Expr>::from(results), Tup<Constraint*>::from(constraints));
    auto* m = functions::_simplified(given, trace, keep_points, division_weight, quick);
    dims = List<Variable*>::from(m->dims);
    ranges = List<Variable*>::from(m->ranges);
    results = List<Expr>::from(m->results);
    constraints = List<Constraint*>::from(m->constraints);
    if (!m->empty) return;
    // the canonical form of the empty map, as `empty_domain` of core/simplify_map.py returns it
    for (auto* group : {&dims, &ranges})
      for (Variable*& v : *group) v = v->boxed(0, -1);
    for (Expr& e : results) e = functions::integer(0);
    constraints.clear();
    if (!dims.size()) constraints.append(Constraint::trusted(functions::integer(0), 1, 1));
  }

 private:
  Dict<Expr, Constraint*> on_ = Dict<Expr, Constraint*>::make();
};

inline std::string_view name_of(Expr v) { return {v->name, std::size_t(v->name_length)}; }

// ------------------------------------------------------------------------------------------------ printing order
// The printing order of summands and arguments, as in core/text_printer.py.
class Order {
 public:
  explicit Order(const Map& m) {
    for (Expr e : functions::postorder(m.roots())) {
      Int n = 1;  // the words of its text
      for (Expr x : functions::children(e)) n = add(n, x->place);
      if (n > MAX_WORDS) give_up();
      e->place = n;
      if (e->tag != tag::Sum) continue;
      auto pieces = List<Summand>::from(e->terms);
      bool difference = true;
      for (auto& [t, k] : pieces) difference &= t->tag == tag::Var && (k == 1 || k == -1);
      pieces.sort([&](const Summand& s) { return key(at<0>(s), at<1>(s)); });
      // XLA prints a plain difference as `d0 - rt0`; in other sums products come first
      if (difference) pieces.sort([](const Summand& s) { return at<1>(s) < 0; });
      terms_.insert(e, pieces);
    }
  }
  List<Summand> terms(Expr sum) const { return terms_.at_(sum); }
  // Return the arguments of a minimum or a maximum in printing order, literals last.
  List<Expr> arguments(Expr e) const {
    auto out = List<Expr>::from(e->args);
    out.sort([&](Expr x) { return key(x, 1); });
    out.sort([](Expr x) { return x->tag == tag::Int; });
    return out;
  }

 private:
  enum { SUM, PRODUCT, MOD, FLOORDIV, CEILDIV, MIN, MAX, CONSTANT, VARIABLE };

  // Return the sort key of `e * k`: its form, then its parts from the left.
  List<Int> key(Expr e, Int k) const {
    auto out = List<Int>::make();
    add_key(e, k, out, 0);
    return out;
  }
  void add_key(Expr e, Int k, List<Int>& out, Int depth) const {
    if (depth > MAX_DEPTH) give_up();
    auto begin = [&](Int form, Int value) {
      out.append(form);
      out.append(value);
    };
    auto each = [&](const auto& parts) { for (Expr x : parts) add_key(x, 1, out, depth + 1); };
    if (k != 1) {
      begin(PRODUCT, -2);
      add_key(e, 1, out, depth + 1);
      begin(CONSTANT, k);
    } else if (e->tag == tag::Int || e->tag == tag::Var) {
      begin(e->tag == tag::Int ? CONSTANT : VARIABLE, e->value);
    } else if (e->tag == tag::Sum) {
      auto all = terms(e);
      if (all.size() == 1 && !e->const_) return add_key(at<0>(all[0]), at<1>(all[0]), out, depth + 1);
      // sums associate to the left, so the longer one has a sum where the shorter has its first summand
      begin(SUM, -(all.size() + (e->const_ != 0)));
      for (auto& [t, j] : all) add_key(t, j, out, depth + 1);
      if (e->const_) begin(CONSTANT, e->const_);
    } else if (e->a) {
      begin(e->tag == tag::Mod ? MOD : e->tag == tag::FloorDiv ? FLOORDIV : CEILDIV, -2);
      each(std::initializer_list<Expr>{e->a, e->b});
    } else {
      begin(e->tag == tag::Min ? MIN : MAX, -e->args.size());
      each(e->args);
    }
  }
  Dict<Expr, List<Summand>> terms_ = Dict<Expr, List<Summand>>::make();
};

}  // namespace indexproof::library
