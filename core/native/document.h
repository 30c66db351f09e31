// Maps as data: the JSON documents of core/json_form.py, and the flat buffers that indexproof.h describes.
#pragma once
#include "text.h"

namespace indexproof::library {

// ------------------------------------------------------------------------------------------------ operations in sequence
struct Operation { Int op, a, b; };

// The expressions of a map as a sequence of operations, with common subexpressions once.  Summands and arguments are in
// printing order if `order` is given, else in the order of their keys.
class Program {
 public:
  explicit Program(const Map& m, const Order* order = nullptr) {
    operations.reserve(32);
    for (Expr e : functions::postorder(m.roots())) {
      Int op = INDEXPROOF_CONSTANT, last = -1;
      while (TAGS[op] != e->tag) op++;
      auto part = [&](Int place) { last = last < 0 ? place : put(op, last, place); };
      auto summands = [&](const auto& terms) {
        for (auto& [t, k] : terms) part(k == 1 ? t->place : put(INDEXPROOF_MUL, t->place, put(INDEXPROOF_CONSTANT, k, 0)));
        if (e->const_) part(put(INDEXPROOF_CONSTANT, e->const_, 0));
      };
      auto arguments = [&](const auto& args) { for (Expr x : args) part(x->place); };
      if (e->tag == tag::Int || e->tag == tag::Var) last = put(op, e->value, 0);
      else if (e->tag == tag::Sum) order ? summands(order->terms(e)) : summands(e->terms);
      else if (e->a) last = put(op, e->a->place, e->b->place);
      else order ? arguments(order->arguments(e)) : arguments(e->args);
      e->place = last;
    }
  }
  List<Operation> operations = List<Operation>::make();

 private:
  Int put(Int op, Int a, Int b) {
    operations.append({op, a, b});
    return operations.size() - 1;
  }
};

// ------------------------------------------------------------------------------------------------ flat buffers
class FlatReader {
 public:
  explicit FlatReader(std::string_view data) : data_(data) {}

  Map map() {
    Map m;
    Int sizes[6], words = 6, most = Int(data_.size() / sizeof(Int));
    for (Int k = 0; k < 6; k++) {
      sizes[k] = next();
      if (sizes[k] < 0 || sizes[k] > most) fail("no number of parts");
      words += sizes[k] * (k < 3 ? 2 : k == 4 ? 1 : 3);
    }
    if (words * sizeof(Int) != data_.size()) fail("the numbers of parts do not add up to the size");
    for (int k = 0; k < 3; k++)
      for (Int i = 0; i < sizes[k]; i++) {
        auto name = (k == 0 ? "d" : k == 1 ? "s" : "rt") + std::to_string(i);
        char* kept = arena.array<char>(name.size());
        std::memcpy(kept, name.data(), name.size());
        Int lo = next();
        m.declare(k == 0 ? m.dims : k == 1 ? m.ranges : m.rts, {kept, name.size()}, lo, next());
      }
    auto variables = m.variables();
    auto nodes = List<Expr>::make();
    nodes.reserve(sizes[3]);
    Room<List<Expr>> operands;
    for (Int i = 0; i < sizes[3]; i++) {
      Int op = next(), a = next(), b = next();
      Expr made = nullptr;
      if (op < INDEXPROOF_CONSTANT || op > INDEXPROOF_MAX) fail("unknown operator");
      if (op == INDEXPROOF_CONSTANT) made = functions::integer(a);
      else if (op == INDEXPROOF_VARIABLE) made = one_of(variables, a)->e;
      else if (const char* wrong = apply(op, List<Expr>::of({one_of(nodes, a), one_of(nodes, b)}, operands), made)) fail(wrong);
      nodes.append(made);
    }
    for (Int i = 0; i < sizes[4]; i++) m.results.append(one_of(nodes, next()));
    for (Int i = 0; i < sizes[5]; i++) {
      Int node = next(), lo = next();
      m.constrain(one_of(nodes, node), lo, next());
    }
    return m;
  }

 private:
  [[noreturn]] void fail(const char* message) const { throw Malformed{"before word " + std::to_string(at_) + ": " + message}; }
  Int next() {
    if ((at_ + 1) * sizeof(Int) > data_.size()) fail("the buffer ends too early");
    Int n;
    std::memcpy(&n, data_.data() + at_++ * sizeof n, sizeof n);
    return n;
  }
  template <class T>
  T one_of(const List<T>& all, Int i) const {
    if (i < 0 || i >= all.size()) fail("no earlier part has this number");
    return all[i];
  }
  std::string_view data_;
  std::size_t at_ = 0;
};

inline void write_flat(const Map& m, std::string& out) {
  Program program(m);
  auto& operations = program.operations;
  std::size_t variables = m.dims.size() + m.ranges.size() + m.rts.size();
  out.resize((6 + 2 * variables + 3 * operations.size() + m.results.size() + 3 * m.constraints.size()) * sizeof(Int));
  char* at = &out[0];
  auto words = [&](auto... ns) { ((std::memcpy(at, &ns, sizeof(Int)), at += sizeof(Int)), ...); };
  words(m.dims.size(), m.ranges.size(), m.rts.size(), operations.size(), m.results.size(), m.constraints.size());
  for (auto* group : {&m.dims, &m.ranges, &m.rts}) for (auto* v : *group) words(v->lo, v->hi);
  for (auto& o : operations) words(o.op, o.a, o.b);
  for (Expr e : m.results) words(e->place);
  for (auto* c : m.constraints) words(c->expr->place, c->lo, c->hi);
}

// ------------------------------------------------------------------------------------------------ JSON
// The names of the operators in indexproof.h.
inline constexpr std::string_view OPERATORS[] = {"", "", "add", "mul", "fdiv", "mod", "cdiv", "min", "max"};

class JsonReader : Reader {
 public:
  using Reader::Reader;

  Map map() {
    // the tokens at which the values begin
    auto values = Dict<Word, Int>::make();
    expect('{');
    do {
      Word key{string()};
      if (values.has(key)) fail("duplicate key");
      next_++;
      expect(':');
      values.insert(key, next_);
      for (Int open = 0; open || (!is_sign(',') && !is_sign('}')); next_++) {
        if (token().kind == Token::End) unexpected("`}`");
        open += is_sign('[') || is_sign('{');
        open -= is_sign(']') || is_sign('}');
      }
    } while (take(','));
    Int end = next_;
    expect('}');
    if (token().kind != Token::End) unexpected("the end of the JSON");

    Map m;
    auto part = [&](std::string_view key, auto item) {
      Int at = values.pop(Word{key}, -1);
      if (at < 0 && (key == "dims" || key == "results")) fail("the key `" + std::string(key) + "` is missing", 0);
      if (at < 0) return;
      next_ = at;
      list(item);
      if (!is_sign(',') && next_ != end) unexpected("`,` or `}`");
    };
    auto variables = [&](List<Variable*> group) {
      return [&, group] {
        expect('[');
        Variable* v = declared(m, group, string());
        ends(v->lo, v->hi);
      };
    };
    part("dims", variables(m.dims));
    part("ranges", variables(m.ranges));
    part("rts", variables(m.rts));
    part("results", [&] { m.results.append(expression(0)); });
    part("constraints", [&] {
      expect('[');
      Int lo, hi;
      Expr e = expression(0);
      ends(lo, hi);
      m.constrain(e, lo, hi);
    });
    // sources of runtime variables are not supported
    if (values.has(Word{"sources"})) give_up();
    for (Int at : values.values()) fail("expected the keys dims, ranges, rts, results and constraints", at - 2);
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
    expect('[');
    if (take(']')) return;
    do item();
    while (take(','));
    expect(']');
  }
  void ends(Int& lo, Int& hi) {
    expect(',');
    lo = literal();
    expect(',');
    hi = literal();
    expect(']');
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
    if (!take('[')) return functions::integer(literal());
    auto name = string();
    while (op <= INDEXPROOF_MAX && name != OPERATORS[op]) op++;
    if (op > INDEXPROOF_MAX) unexpected("one of add, mul, fdiv, mod, cdiv, min, max");
    next_++;
    auto args = List<Expr>::make();
    while (take(',')) args.append(expression(depth + 1));
    expect(']');
    if (args.size() < 2) fail("an operator has at least two operands", first);
    return applied(op, args, first);
  }
};

class JsonPrinter {
 public:
  JsonPrinter(const Map& m, std::string& out) : order_(m), program_(m, &order_), variables_(m.variables()), out_(out) {
    auto ends = [&](auto* x) { put(out, ", ", x->lo, ", ", x->hi, "]"); };
    auto variable = [&](Variable* v) {
      put(out, "[\"", name_of(v->e), "\"");
      ends(v);
    };
    listed(out, "{\"dims\": [", m.dims, "]", variable);
    listed(out, ", \"ranges\": [", m.ranges, "]", variable);
    listed(out, ", \"rts\": [", m.rts, "]", variable);
    listed(out, ", \"results\": [", m.results, "]", [&](Expr e) { expression(e->place, 0); });
    listed(out, ", \"constraints\": [", m.constraints, "]}", [&](Constraint* c) {
      put(out, "[");
      expression(c->expr->place, 0);
      ends(c);
    });
  }

 private:
  void expression(Int n, Int depth) {
    if (depth > MAX_DEPTH) give_up();
    auto& [op, a, b] = program_.operations[n];
    if (op == INDEXPROOF_CONSTANT) return put(out_, a);
    if (op == INDEXPROOF_VARIABLE) return put(out_, "\"", name_of(variables_[a]->e), "\"");
    put(out_, "[\"", OPERATORS[op], "\", ");
    expression(a, depth + 1);
    put(out_, ", ");
    expression(b, depth + 1);
    put(out_, "]");
  }
  Order order_;
  Program program_;
  List<Variable*> variables_;
  std::string& out_;
};

// A trace as the document that core/derivation_json.py reads.  Expressions are entries of one table and are referred to
// by index.
class TracePrinter {
 public:
  TracePrinter(const Map& before, const Map& after, const Trace& trace, std::string& out) : out_(out) {
    put(out, "{\"format\": \"indexproof trace 1\", \"before\": ");
    map(before);
    put(out, ", \"after\": ");
    map(after);
    listed(out, ", \"entries\": [", trace.entries, "]", [&](const Happened& h) {
      put(out, "[\"", Happened::WHAT[h.what], "\", \"", h.name, "\", ");
      numbers(h.values);
      put(out, ", ", h.engine, ", ");
      if (h.was) map(*h.was);
      else constraints(h.before);
      put(out, ", ");
      if (!h.now) constraints(h.after);
      else if (h.now->empty) map(after);
      else map(*h.now);
      put(out, "]");
    });
    put(out, ", \"nodes\": [", nodes_, "]}");
  }

 private:
  template <class M> void map(const M& m) {
    auto variable = [&](auto* v) { put(out_, "[\"", name_of(v->e), "\", ", v->lo, ", ", v->hi, "]"); };
    listed(out_, "{\"dims\": [", m.dims, "]", variable);
    listed(out_, ", \"ranges\": [", m.ranges, "]", variable);
    listed(out_, ", \"rts\": [", m.rts, "], \"results\": ", variable);
    numbers(m.results);
    auto bounds = List<Bound>::make();
    for (auto* c : m.constraints) bounds.append({c->expr, c->lo, c->hi});
    put(out_, ", \"constraints\": ");
    constraints(bounds);
    put(out_, "}");
  }
  template <class C> void constraints(const C& all) {
    listed(out_, "[", all, "]", [&](const Bound& b) { put(out_, "[", number(at<0>(b)), ", ", at<1>(b), ", ", at<2>(b), "]"); });
  }
  template <class C> void numbers(const C& all) {
    listed(out_, "[", all, "]", [&](Expr e) { put(out_, number(e)); });
  }
  Int number(Expr root) {
    if (!number_.has(root))
      for (Expr e : functions::postorder(List<Expr>::of({root}))) {
        if (number_.has(e)) continue;
        if (number_.size()) put(nodes_, ", ");
        node(e);
        number_.insert(e, number_.size());
      }
    return number_.at_(root);
  }
  void node(Expr e) {
    if (e->tag == tag::Int) return put(nodes_, e->value);
    if (e->tag == tag::Var) return put(nodes_, "\"", name_of(e), "\"");
    if (e->tag == tag::Sum) {
      put(nodes_, "[\"sum\", ", e->const_, ", ");
      listed(nodes_, "[", e->terms, "]]", [&](const Summand& s) { put(nodes_, "[", number_.at_(at<0>(s)), ", ", at<1>(s), "]"); });
      return;
    }
    Int op = INDEXPROOF_ADD;
    while (TAGS[op] != e->tag) op++;
    put(nodes_, "[\"", OPERATORS[op], "\"");
    for (Expr x : functions::children(e)) put(nodes_, ", ", number_.at_(x));
    put(nodes_, "]");
  }
  Dict<Expr, Int> number_ = Dict<Expr, Int>::make();
  std::string& out_;
  std::string nodes_;
};

}  // namespace indexproof::library
