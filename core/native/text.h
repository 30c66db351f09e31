// Maps as text: in any spelling of XLA, read and written as core/text_reader.py and core/text_printer.py do it.
#pragma once
#include "map.h"

namespace indexproof::library {

// ------------------------------------------------------------------------------------------------ words
struct Token {
  enum Kind : char { Number, Word, Sign, String, Escaped, Hlo, Stray, End } kind = End;
  std::string_view text;
  std::size_t at = 0;
};

// The words of one text, also those of JSON, and complaints about them.
class Reader {
 public:
  explicit Reader(std::string_view s) {
    std::size_t end = s.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0;
    auto digit = [&] { return end < s.size() && s[end] >= '0' && s[end] <= '9'; };
    auto letter = [&] { return end < s.size() && is_name(s.substr(end, 1)); };
    for (std::size_t i = end; i < s.size(); i = end) {
      auto kind = Token::Sign;
      char c = s[end];
      if (c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f')) {
        end++;
        continue;
      }
      if (letter()) {
        kind = Token::Word;
        while (letter() || digit()) end++;
        std::size_t colon = s.find_first_not_of(" \t", i + 3);
        if (s.substr(i, 3) == "hlo" && colon < s.size() && s[colon] == ':') {
          kind = Token::Hlo;
          end = colon + 1;
        }
      } else if (digit()) {
        kind = Token::Number;
        while (digit()) end++;
      } else {
        end++;
        std::size_t quote = c == '"' ? s.find_first_of("\"\\\n", end) : s.npos;
        bool two = false;
        for (std::string_view sign : {"->", "//", "<=", ">=", "==", "!=", "\u2208", "\u2223", "\u2264", "\u2265", "\u2260"})
          if (s.substr(i, sign.size()) == sign) two = true, end = i + sign.size();
        if (quote < s.size() && s[quote] != '\n') {
          kind = s[quote] == '"' ? Token::String : Token::Escaped;
          end = quote + 1;
        } else if (!two && (!c || !std::strchr("][(){},:+*/%<>=-", c))) {
          kind = Token::Stray;
          while (end < s.size() && (s[end] & 0xc0) == 0x80) end++;
        }
      }
      tokens_.append({kind, s.substr(i, end - i), i});
    }
    tokens_.append({Token::End, {}, s.size()});
  }

 protected:
  const Token& token() const { return tokens_[next_]; }
  bool is_sign(std::string_view s) const { return token().kind == Token::Sign && token().text == s; }
  bool is_word(std::string_view s) const { return token().kind == Token::Word && token().text == s; }
  bool take(std::string_view s) { return is_sign(s) && ++next_; }
  void expect(const char* s) {
    if (!take(s)) unexpected(std::string("`") + s + "`");
  }
  [[noreturn]] void fail(const std::string& message, Int at = -1) const { throw Malformed{message, tokens_[at < 0 ? next_ : at].at}; }
  [[noreturn]] void unexpected(const std::string& expected) const {
    auto end = next_ ? "the text ends too early" : "there is no text";
    fail((token().kind == Token::End ? end : "unexpected " + shown()) + "; expected " + expected);
  }
  std::string shown() const {
    std::string out = "`";
    for (char c : token().text.substr(0, 40)) out += c >= ' ' && c <= '~' ? c : '?';
    return out + "`";
  }
  Int integer() {
    bool negative = take("-");
    if (token().kind != Token::Number) unexpected("an integer");
    Int n = number();
    return negative ? neg(n) : n;
  }
  Int number() {
    Int n = 0;
    for (char c : tokens_[next_++].text) n = add(mul(n, 10), c - '0');
    return n;
  }
  Variable* declared(std::string_view name) {
    if (!is_name(name) || is_reserved(name)) unexpected("a name for a variable");
    if (scope_.has(Name{name})) fail("duplicate variable " + shown());
    Variable* v = variable(name);
    v->position = next_++;  // of its word, until the map is finished
    scope_.insert(Name{v->name}, v);
    return v;
  }
  Expr known(std::string_view name) {
    auto* found = scope_.find(Name{name});
    if (!found) fail("unknown variable " + shown());
    next_++;
    return found->second->expr;
  }

  List<Token> tokens_ = List<Token>::make();
  Int next_ = 0;
  Dict<Name, Variable*> scope_ = Dict<Name, Variable*>::make();
};

// ------------------------------------------------------------------------------------------------ maps
class TextReader : Reader {
 public:
  using Reader::Reader;

  // `(dims)[ranges]{rts} -> (results), domain: VARIABLE in [lo, hi], ..., EXPRESSION in [lo, hi], ...`
  Map map() {
    Map m;
    names("(", ")", m.dims);
    if (is_sign("[")) names("[", "]", m.ranges);
    if (is_sign("{")) names("{", "}", m.rts);
    expect("->");
    items("(", ")", [&] { m.results.append(expression(0)); });
    take(",");
    label("domain");
    while (token().kind != Token::End) {
      if (label("is_simplified")) {
        if (!is_word("true") && !is_word("false")) unexpected("`true` or `false`");
        next_++;
        take(",");
        if (token().kind != Token::End) unexpected("the end of the map");
        break;
      }
      entry(m);
    }
    for (Variable* v : m.variables())
      if (!v->bounded) fail("the variable `" + std::string(v->name) + "` has no bounds", v->position);
    m.finish();
    return m;
  }

 private:
  bool is_in(Int at) const { return tokens_[at].text == "in" || tokens_[at].text == "\u2208"; }
  bool label(std::string_view s) {
    bool found = is_word(s) && tokens_[next_ + 1].text == ":";
    if (found) next_ += 2;
    return found;
  }
  template <class F>
  void items(const char* left, const char* right, F item) {
    expect(left);
    while (!take(right)) {
      item();
      if (!take(",") && !is_sign(right)) unexpected(std::string("an operator, `,` or `") + right + "`");
    }
  }
  void names(const char* left, const char* right, Variables& out) {
    items(left, right, [&] { out.append(declared(token().text)); });
  }
  void entry(Map& m) {
    // the source of a runtime variable
    if (token().kind == Token::Hlo) give_up();
    bool bare = token().kind == Token::Word && is_in(next_ + 1);
    auto* found = bare ? scope_.find(Name{token().text}) : nullptr;
    if (bare && !found && !is_reserved(token().text)) fail("bounds for " + shown() + ", which is not a variable of this map");
    Expr e = expression(0);
    if (!is_in(next_)) unexpected("an operator or `in [lo, hi]`");
    next_++;
    expect("[");
    Int lo = integer();
    expect(",");
    Int hi = integer();
    expect("]");
    take(",");
    // the first interval of a variable is its box; a further one is a constraint like any other
    if (!found || found->second->bounded) {
      m.constraints.append({e, lo, hi});
      return;
    }
    found->second->lo = lo;
    found->second->hi = hi;
    found->second->bounded = true;
  }

  // Unary minus binds tightest, then products and divisions from left to right, then sums.
  Expr expression(int depth) {
    if (depth > MAX_DEPTH) give_up();
    auto terms = List<Summand>::make();
    for (Int sign = 1;; next_++) {
      terms.append(Summand(product(depth), sign));
      if (!is_sign("+") && !is_sign("-")) break;
      sign = is_sign("+") ? 1 : -1;
    }
    return terms.size() == 1 ? at<0>(terms[0]) : functions::linear(0, terms);
  }
  Expr product(int depth) {
    Expr value = operand(depth);
    for (;;) {
      Int op = next_, of = division();
      if (!of && !is_sign("*")) return value;
      Int start = ++next_;
      Expr x = operand(depth);
      if (of) {
        value = quotient(of, value, x, start);
      } else {
        if (value->tag != tag::Int && x->tag != tag::Int) fail("a product of two variables is not quasi-affine", op);
        value = x->tag == tag::Int ? scaled(value, x->value) : scaled(x, value->value);
      }
    }
  }
  Expr operand(int depth) {
    bool negative = false;
    while (take("-")) negative = !negative;
    Expr e;
    if (take("(")) {
      e = expression(depth + 1);
      if (!take(")")) unexpected("an operator or `)`");
    } else if (is_word("min") || is_word("max") || is_word("ceildiv")) {
      e = function(depth);
    } else if (token().kind == Token::Number) {
      std::size_t end = token().at + token().text.size();
      Int n = number();
      bool factor = token().kind == Token::Word && token().at == end && !is_reserved(token().text);
      e = factor ? scaled(known(token().text), n) : functions::integer(n);
    } else {
      if (token().kind != Token::Word || is_reserved(token().text)) unexpected("a variable, an integer, `-`, `(`, `min(` or `max(`");
      e = known(token().text);
    }
    return negative ? scaled(e, -1) : e;
  }
  Expr function(int depth) {
    Int opener = next_++;
    auto f = tokens_[opener].text;
    expect("(");
    auto args = List<Expr>::make();
    do args.append(expression(depth + 1));
    while (take(","));
    if (!take(")")) unexpected("an operator, `,` or `)`");
    if (f != "ceildiv") return functions::extremum(f == "min" ? tag::Min : tag::Max, args);
    if (args.size() != 2) fail("`ceildiv` has two arguments", opener);
    return quotient(tag::CeilDiv, args[0], args[1], opener);
  }
  // The tag of the division that is the next word, 0 where it is none.
  Int division() const {
    auto s = token().text;
    if (s == "/" || s == "//" || s == "floordiv" || s == "floorDiv") return tag::FloorDiv;
    if (s == "%" || s == "mod") return tag::Mod;
    return s == "ceildiv" ? Int(tag::CeilDiv) : 0;
  }
  Expr quotient(Int of, Expr a, Expr b, Int at) {
    if (b->tag != tag::Int) fail("the divisor is not a constant: an indexing map is quasi-affine", at);
    if (!b->value) fail("division by zero", at);
    return divided(of, a, b);
  }
};
static_assert(tag::Int == 0, "no division has the tag 0");

// ------------------------------------------------------------------------------------------------ printing
class TextPrinter {
 public:
  TextPrinter(const Map& m, std::string_view division, bool multiline, Text& out) : order_(m), division_(division), out_(out) {
    names("(", m.dims, ")");
    if (m.ranges.size()) names("[", m.ranges, "]");
    if (m.rts.size()) names("{", m.rts, "}");
    put(out, " -> (");
    listed(out, m.results, [&](Expr e) { expression(e); });
    put(out, ")");
    std::string_view before = multiline ? ",\ndomain:\n" : ", domain: ", between = multiline ? ",\n" : ", ";
    for (Variable* v : m.variables()) put(out, std::exchange(before, between), v->name, " in [", v->lo, ", ", v->hi, "]");
    for (auto& c : m.constraints) {
      put(out, std::exchange(before, between));
      expression(c.expr);
      put(out, " in [", c.lo, ", ", c.hi, "]");
    }
  }

 private:
  void names(const char* left, const Variables& all, const char* right) {
    put(out_, left);
    listed(out_, all, [&](Variable* v) { put(out_, v->name); });
    put(out_, right);
  }
  void expression(Expr e, bool tight = false) {
    if (++depth_ > MAX_DEPTH) give_up();
    bool brackets = tight && (e->tag == tag::Sum || e->a);
    if (brackets) put(out_, "(");
    if (e->tag == tag::Int) {
      put(out_, e->value);
    } else if (e->tag == tag::Var) {
      put(out_, variable_of(e)->name);
    } else if (e->tag == tag::Sum) {
      sum(e);
    } else if (e->a) {
      expression(e->a, true);
      put(out_, " ", e->tag == tag::FloorDiv ? division_ : e->tag == tag::Mod ? "mod" : "ceildiv", " ");
      expression(e->b, true);
    } else {
      put(out_, e->tag == tag::Min ? "min(" : "max(");
      listed(out_, order_.arguments(e), [&](Expr x) { expression(x); });
      put(out_, ")");
    }
    if (brackets) put(out_, ")");
    depth_--;
  }
  void sum(Expr e) {
    bool first = true;
    for (auto& [t, k] : order_.terms(e)) {
      put(out_, !first ? (k < 0 ? " - " : " + ") : k == -1 ? "-" : "");
      bool plain = k == 1 || k == -1;
      expression(t, !plain || (first && k == -1));
      if (!plain) put(out_, " * ", first ? k : p_abs(k));
      first = false;
    }
    if (e->const_) put(out_, e->const_ < 0 ? " - " : " + ", p_abs(e->const_));
  }

  Order order_;
  std::string_view division_;
  Text& out_;
  Int depth_ = 0;
};

}  // namespace indexproof::library
