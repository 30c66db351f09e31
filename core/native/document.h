// Maps as data: the JSON documents of core/json_form.py, and the flat buffers that indexproof.h describes.
#pragma once
#include "indexproof.h"
#include "text.h"

namespace indexproof::library {

// The operators by their numbers in flat buffers: their tags and their names in JSON.
inline constexpr Int TAGS[] = {tag::Int, tag::Var, tag::Sum, tag::Mul, tag::FloorDiv, tag::Mod, tag::CeilDiv, tag::Min, tag::Max};
inline constexpr std::string_view OPERATORS[] = {"", "", "add", "mul", "fdiv", "mod", "cdiv", "min", "max"};

// The operator with this number applied to operands; or the error, where it may not be.
inline const char* apply(Int op, const List<Expr>& args, Expr& out) {
  Int of = TAGS[op];
  if (args.size() < 2) return "an operator has at least two operands";
  if (of == tag::Min || of == tag::Max) {
    out = functions::extremum(of, args);
  } else if (of == tag::Sum) {
    auto terms = List<Summand>::make();
    for (Expr e : args) terms.append(Summand(e, 1));
    out = functions::linear(0, terms);
  } else if (of == tag::Mul) {
    Int scale = 1;
    out = nullptr;
    for (Expr e : args) {
      if (e->tag != tag::Int && out) return "a product of two variables is not quasi-affine";
      if (e->tag == tag::Int) scale = mul(scale, e->value);
      else out = e;
    }
    out = out ? scaled(out, scale) : functions::integer(scale);
  } else {
    if (args.size() != 2) return "a division has two operands";
    if (args[1]->tag != tag::Int) return "the divisor is not a constant: an indexing map is quasi-affine";
    if (!args[1]->value) return "division by zero";
    out = divided(of, args[0], args[1]);
  }
  return nullptr;
}

// ------------------------------------------------------------------------------------------------ operations in a row
struct Operation { Int op, a, b; };

// The expressions of a map as operations, each once, in the order in which they are printed.
class Program {
 public:
  explicit Program(const Map& m) {
    Order order(m);
    for (Expr e : functions::postorder(m.roots())) {
      auto parts = List<Int>::make();
      Int op = INDEXPROOF_CONSTANT;
      while (TAGS[op] != e->tag) op++;
      if (e->tag == tag::Int) {
        parts.append(put(op, e->value, 0));
      } else if (e->tag == tag::Var) {
        parts.append(put(op, variable_of(e)->position, 0));
      } else if (e->tag == tag::Sum) {
        for (auto& [t, k] : order.terms(e))
          parts.append(k == 1 ? place(t) : put(INDEXPROOF_MUL, place(t), put(INDEXPROOF_CONSTANT, k, 0)));
        if (e->const_) parts.append(put(INDEXPROOF_CONSTANT, e->const_, 0));
      } else {
        for (Expr x : e->a ? List<Expr>::of({e->a, e->b}) : order.arguments(e)) parts.append(place(x));
      }
      for (Int i = 1; i < parts.size(); i++) parts[i] = put(op, parts[i - 1], parts[i]);
      place_.insert(e, parts[-1]);
    }
  }
  Int place(Expr e) const { return place_.at_(e); }

  List<Operation> operations = List<Operation>::make();

 private:
  Int put(Int op, Int a, Int b) {
    auto key = mk(op, a, b);
    if (auto* found = known_.find(key)) return found->second;
    operations.append({op, a, b});
    return known_.insert(key, operations.size() - 1);
  }
  Dict<Expr, Int> place_ = Dict<Expr, Int>::make();
  Dict<Tuple<Int, Int, Int>, Int> known_ = Dict<Tuple<Int, Int, Int>, Int>::make();
};

// ------------------------------------------------------------------------------------------------ flat buffers
class FlatReader {
 public:
  FlatReader(const void* data, std::size_t size) : data_(static_cast<const char*>(data)), words_(size / sizeof(Int)) {
    if (size % sizeof(Int)) fail("the size of a flat buffer is a multiple of 8 bytes");
  }
  Map map() {
    Map m;
    Variables* groups[] = {&m.dims, &m.ranges, &m.rts};
    Int sizes[6], words = 6;
    for (Int k = 0; k < 6; k++) {
      sizes[k] = next();
      if (sizes[k] < 0 || sizes[k] > Int(words_)) fail("no number of parts");
      words += sizes[k] * (k < 3 ? 2 : k == 4 ? 1 : 3);
    }
    if (words != Int(words_)) fail("the numbers of parts do not add up to the size");
    for (int k = 0; k < 3; k++)
      for (Int i = 0; i < sizes[k]; i++) {
        char name[24] = {"dsr"[k], 't'};
        char* end = std::to_chars(name + (k == 2 ? 2 : 1), name + sizeof name, i).ptr;
        char* kept = arena.array<char>(end - name);
        std::memcpy(kept, name, end - name);
        Variable* v = variable({kept, std::size_t(end - name)});
        v->lo = next();
        v->hi = next();
        groups[k]->append(v);
      }
    auto variables = m.variables();
    for (Int i = 0; i < sizes[3]; i++) nodes_.append(node(variables));
    for (Int i = 0; i < sizes[4]; i++) m.results.append(one_of(nodes_, next()));
    for (Int i = 0; i < sizes[5]; i++) {
      Expr e = one_of(nodes_, next());
      Int lo = next();
      m.constraints.append({e, lo, next()});
    }
    m.finish();
    return m;
  }

 private:
  [[noreturn]] void fail(const char* message) const { throw Malformed{"word " + std::to_string(at_ ? at_ - 1 : 0) + ": " + message}; }
  Int next() {
    if (at_++ >= words_) fail("the buffer ends too early");
    Int n;
    std::memcpy(&n, data_ + (at_ - 1) * sizeof n, sizeof n);
    return n;
  }
  template <class T>
  T one_of(const List<T>& all, Int i) const {
    if (i < 0 || i >= all.size()) fail("no earlier part has this number");
    return all[i];
  }
  Expr node(const Variables& variables) {
    Int op = next(), a = next(), b = next();
    if (op == INDEXPROOF_CONSTANT) return functions::integer(a);
    if (op == INDEXPROOF_VARIABLE) return one_of(variables, a)->expr;
    if (op < 0 || op > INDEXPROOF_MAX) fail("unknown operator");
    Expr made;
    if (const char* wrong = apply(op, List<Expr>::of({one_of(nodes_, a), one_of(nodes_, b)}), made)) fail(wrong);
    return made;
  }
  const char* data_;
  std::size_t words_, at_ = 0;
  List<Expr> nodes_ = List<Expr>::make();
};

inline void write_flat(const Map& m, Text& out) {
  Program program(m);
  auto words = [&](std::initializer_list<Int> ns) { for (Int n : ns) out.append(reinterpret_cast<const char*>(&n), sizeof n); };
  words({m.dims.size(), m.ranges.size(), m.rts.size(), program.operations.size(), m.results.size(), m.constraints.size()});
  for (Variable* v : m.variables()) words({v->lo, v->hi});
  for (auto& o : program.operations) words({o.op, o.a, o.b});
  for (Expr e : m.results) words({program.place(e)});
  for (auto& c : m.constraints) words({program.place(c.expr), c.lo, c.hi});
}

// ------------------------------------------------------------------------------------------------ JSON
class JsonReader : Reader {
 public:
  using Reader::Reader;

  Map map() {
    // the words with which the values begin
    auto values = Dict<Name, Int>::make();
    expect("{");
    do {
      Int key = next_;
      Name name{string()};
      next_++;
      expect(":");
      if (values.has(name)) fail("duplicate key", key);
      values.insert(name, next_);
      for (Int open = 0; open || (!is_sign(",") && !is_sign("}")); next_++) {
        if (token().kind == Token::End) unexpected("`}`");
        open += is_sign("[") || is_sign("{");
        open -= is_sign("]") || is_sign("}");
      }
    } while (take(","));
    expect("}");
    if (token().kind != Token::End) unexpected("the end of the JSON");
    Int end = next_ - 1;

    Map m;
    auto part = [&](const char* key, bool needed, auto item) {
      Int at = values.pop(Name{key}, -1);
      if (at < 0 && needed) fail(std::string("the key `") + key + "` is missing", 0);
      if (at < 0) return;
      next_ = at;
      list(item);
      if (!is_sign(",") && next_ != end) unexpected("`,` or `}`");
    };
    auto variables = [&](Variables& out) {
      return [&] {
        expect("[");
        Variable* v = declared(string());
        ends(v->lo, v->hi);
        out.append(v);
      };
    };
    part("dims", true, variables(m.dims));
    part("ranges", false, variables(m.ranges));
    part("rts", false, variables(m.rts));
    part("results", true, [&] { m.results.append(expression(0)); });
    part("constraints", false, [&] {
      expect("[");
      Constraint c{expression(0), 0, 0};
      ends(c.lo, c.hi);
      m.constraints.append(c);
    });
    // where runtime variables come from is left to others
    if (values.has(Name{"sources"})) give_up();
    for (Int at : values.values()) fail("expected the keys dims, ranges, rts, results and constraints", at - 2);
    m.finish();
    return m;
  }

 private:
  std::string_view string() const {
    if (token().kind == Token::Escaped) give_up();
    if (token().kind != Token::String) unexpected("a string");
    return token().text.substr(1, token().text.size() - 2);
  }
  template <class F>
  void list(F item) {
    expect("[");
    if (take("]")) return;
    do item();
    while (take(","));
    expect("]");
  }
  void ends(Int& lo, Int& hi) {
    expect(",");
    lo = literal();
    expect(",");
    hi = literal();
    expect("]");
  }
  Int literal() {
    Int first = next_, n = integer();
    auto& digits = tokens_[next_ - 1];
    if ((digits.text.size() > 1 && digits.text[0] == '0') || digits.at > tokens_[first].at + 1) fail("no integer of JSON", first);
    return n;
  }
  Expr expression(int depth) {
    if (depth > MAX_DEPTH) give_up();
    if (token().kind == Token::String || token().kind == Token::Escaped) return known(string());
    Int first = next_, op = INDEXPROOF_ADD;
    if (!take("[")) return functions::integer(literal());
    auto name = string();
    while (op <= INDEXPROOF_MAX && name != OPERATORS[op]) op++;
    if (op > INDEXPROOF_MAX) unexpected("one of add, mul, fdiv, mod, cdiv, min, max");
    next_++;
    auto args = List<Expr>::make();
    while (take(",")) args.append(expression(depth + 1));
    expect("]");
    Expr made;
    if (const char* wrong = apply(op, args, made)) fail(wrong, first);
    return made;
  }
};

class JsonPrinter {
 public:
  JsonPrinter(const Map& m, Text& out) : program_(m), variables_(m.variables()), out_(out) {
    auto ends = [&](Int lo, Int hi) { put(out, ", ", lo, ", ", hi, "]"); };
    auto variable = [&](Variable* v) {
      put(out, "[\"", v->name, "\"");
      ends(v->lo, v->hi);
    };
    auto part = [&](const char* before, auto& all, auto write) {
      put(out, before, "[");
      listed(out, all, write);
      put(out, "]");
    };
    part("{\"dims\": ", m.dims, variable);
    part(", \"ranges\": ", m.ranges, variable);
    part(", \"rts\": ", m.rts, variable);
    part(", \"results\": ", m.results, [&](Expr e) { expression(program_.place(e), 0); });
    part(", \"constraints\": ", m.constraints, [&](const Constraint& c) {
      put(out, "[");
      expression(program_.place(c.expr), 0);
      ends(c.lo, c.hi);
    });
    put(out, "}");
  }

 private:
  void expression(Int n, Int depth) {
    if (depth > MAX_DEPTH) give_up();
    auto& [op, a, b] = program_.operations[n];
    if (op == INDEXPROOF_CONSTANT) return put(out_, a);
    if (op == INDEXPROOF_VARIABLE) return put(out_, "\"", variables_[a]->name, "\"");
    put(out_, "[\"", OPERATORS[op], "\", ");
    expression(a, depth + 1);
    put(out_, ", ");
    expression(b, depth + 1);
    put(out_, "]");
  }
  Program program_;
  Variables variables_;
  Text& out_;
};

}  // namespace indexproof::library
