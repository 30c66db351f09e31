// Maps as text in any spelling of XLA, read and written as in core/text_reader.py and core/text_printer.py.
#pragma once
#include "map.h"

namespace indexproof::library {

// ------------------------------------------------------------------------------------------------ words
struct Token {
  enum Kind : char { Number, Name, Sign, String, Escaped, Hlo, Stray, End } kind = End;
  std::string_view text;
  std::size_t at = 0;
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

// The tokens of one text, also of JSON, and error messages about them.
class Reader {
 public:
  explicit Reader(std::string_view s) {
    std::size_t end = s.substr(0, 3) == "\xef\xbb\xbf" ? 3 : 0;
    auto digit = [&] { return end < s.size() && s[end] >= '0' && s[end] <= '9'; };
    auto letter = [&] { return end < s.size() && is_name(s.substr(end, 1)); };
    for (std::size_t i = end; i < s.size(); i = end) {
      char c = s[end];
      auto kind = Token::Sign;
      if (c == ' ' || (c >= '\t' && c <= '\r')) {
        end++;
        continue;
      }
      if (letter()) {
        kind = Token::Name;
        while (letter() || digit()) end++;
        std::size_t colon = s.find_first_not_of(" \t", i + 3);
        if (s.substr(i, 3) == "hlo" && colon < s.size() && s[colon] == ':') {
          kind = Token::Hlo;
          end = colon + 1;
        }
      } else if (digit()) {
        kind = Token::Number;
        while (digit()) end++;
      } else if (c && std::strchr("][(){},:+*/%-", c)) {
        end += s.substr(i, 2) == "->" || s.substr(i, 2) == "//" ? 2 : 1;
      } else if (s.substr(i, 3) == "\u2208") {
        end += 3;
      } else {
        kind = Token::Stray;
        end++;
        std::size_t quote = c == '"' ? s.find_first_of("\"\\\n", end) : s.npos;
        if (quote < s.size() && s[quote] != '\n') {
          kind = s[quote] == '"' ? Token::String : Token::Escaped;
          end = quote + 1;
        }
      }
      tokens_.append({kind, s.substr(i, end - i), i});
    }
    tokens_.append({Token::End, {}, s.size()});
  }

 protected:
  const Token& token() const { return tokens_[next_]; }
  bool is_sign(char c) const { return token().kind == Token::Sign && token().text[0] == c && token().text.size() == 1; }
  bool is_word(std::string_view s) const { return token().kind == Token::Name && token().text == s; }
  bool take(char c) { return is_sign(c) && ++next_; }
  void expect(char c) {
    if (!take(c)) unexpected(std::string("`") + c + "`");
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
    bool negative = take('-');
    if (token().kind != Token::Number) unexpected("an integer");
    Int n = number();
    return negative ? neg(n) : n;
  }
  Int number() {
    Int n = 0;
    for (char c : tokens_[next_++].text) n = add(mul(n, 10), c - '0');
    return n;
  }
  Variable* declared(Map& m, List<Variable*> group, std::string_view name) {
    if (!is_name(name) || is_reserved(name)) unexpected("a name for a variable");
    if (scope_.has(Word{name})) fail("duplicate variable " + shown());
    next_++;
    return scope_.insert(Word{name}, m.declare(group, name, 0, 0));
  }
  Expr known(std::string_view name) {
    auto* found = scope_.find(Word{name});
    if (!found) fail("unknown variable " + shown());
    next_++;
    return found->second->e;
  }
  Expr applied(Int op, const List<Expr>& args, Int at) const {
    Expr made;
    if (const char* wrong = apply(op, args, made)) fail(wrong, at);
    return made;
  }

  List<Token> tokens_ = List<Token>::make();
  Int next_ = 0;
  Dict<Word, Variable*> scope_ = Dict<Word, Variable*>::make();
};

// ------------------------------------------------------------------------------------------------ maps
class TextReader : Reader {
 public:
  using Reader::Reader;

  // Read `(dims)[ranges]{rts} -> (results), domain: VARIABLE in [lo, hi], ..., EXPRESSION in [lo, hi], ...`.
  Map map() {
    Map m;
    items('(', ')', [&] { declared(m, m.dims, token().text); });
    if (is_sign('[')) items('[', ']', [&] { declared(m, m.ranges, token().text); });
    if (is_sign('{')) items('{', '}', [&] { declared(m, m.rts, token().text); });
    if (token().text != "->") unexpected("`->`");
    next_++;
    items('(', ')', [&] { m.results.append(expression(0)); });
    take(',');
    label("domain");
    while (token().kind != Token::End) {
      if (label("is_simplified")) {
        if (!is_word("true") && !is_word("false")) unexpected("`true` or `false`");
        next_++;
        take(',');
        if (token().kind != Token::End) unexpected("the end of the map");
        break;
      }
      entry(m);
    }
    for (auto* v : m.variables())
      for (next_ = 0; !bounded_.has(v->e); next_++)
        if (token().text == name_of(v->e)) fail("the variable " + shown() + " has no bounds");
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
  void items(char left, char right, F item) {
    expect(left);
    while (!take(right)) {
      item();
      if (!take(',') && !is_sign(right)) unexpected(std::string("an operator, `,` or `") + right + "`");
    }
  }
  void entry(Map& m) {
    // sources of runtime variables are not supported
    if (token().kind == Token::Hlo) give_up();
    bool bare = token().kind == Token::Name && is_in(next_ + 1);
    auto* found = bare ? scope_.find(Word{token().text}) : nullptr;
    if (bare && !found && !is_reserved(token().text)) fail("bounds for " + shown() + ", which is not a variable of this map");
    Expr e = expression(0);
    if (!is_in(next_)) unexpected("an operator or `in [lo, hi]`");
    next_++;
    expect('[');
    Int lo = integer();
    expect(',');
    Int hi = integer();
    expect(']');
    take(',');
    // the first interval of a variable is its box; further ones are constraints
    if (!found || bounded_.has(e)) return m.constrain(e, lo, hi);
    bounded_.add(e);
    found->second->lo = lo;
    found->second->hi = hi;
  }

  // Unary minus binds tightest, then products and divisions from left to right, then sums.
  Expr expression(int depth) {
    if (depth > MAX_DEPTH) give_up();
    auto terms = List<Summand>::make();
    for (Int sign = 1;; next_++) {
      terms.append(Summand(product(depth), sign));
      if (!is_sign('+') && !is_sign('-')) break;
      sign = is_sign('+') ? 1 : -1;
    }
    return terms.size() == 1 ? at<0>(terms[0]) : functions::linear(0, terms);
  }
  Expr product(int depth) {
    Expr value = operand(depth);
    while (Int op = factor()) {
      Int start = ++next_;
      Expr x = operand(depth);
      value = applied(op, List<Expr>::of({value, x}), op == INDEXPROOF_MUL ? start - 1 : start);
    }
    return value;
  }
  Expr operand(int depth) {
    bool negative = false;
    while (take('-')) negative = !negative;
    Expr e;
    if (take('(')) {
      e = expression(depth + 1);
      if (!take(')')) unexpected("an operator or `)`");
    } else if (is_word("min") || is_word("max") || is_word("ceildiv")) {
      Int opener = next_, op = is_word("min") ? INDEXPROOF_MIN : is_word("max") ? INDEXPROOF_MAX : INDEXPROOF_CEILDIV;
      next_++;
      expect('(');
      auto args = List<Expr>::make();
      do args.append(expression(depth + 1));
      while (take(','));
      if (!take(')')) unexpected("an operator, `,` or `)`");
      e = applied(op, args, opener);
    } else if (token().kind == Token::Number) {
      std::size_t end = token().at + token().text.size();
      Int n = number();
      bool product = token().kind == Token::Name && token().at == end && !is_reserved(token().text);
      e = product ? scaled(known(token().text), n) : functions::integer(n);
    } else {
      if (token().kind != Token::Name || is_reserved(token().text)) unexpected("a variable, an integer, `-`, `(`, `min(` or `max(`");
      e = known(token().text);
    }
    return negative ? scaled(e, -1) : e;
  }
  // Return the operator of a product or division if the next token is one, else 0.
  Int factor() const {
    auto s = token().text;
    if (s.empty()) return 0;
    if (s[0] == '*') return INDEXPROOF_MUL;
    if (s[0] == '/' || (s[0] == 'f' && (s == "floordiv" || s == "floorDiv"))) return INDEXPROOF_FLOORDIV;
    if (s[0] == '%' || s == "mod") return INDEXPROOF_MOD;
    return s == "ceildiv" ? INDEXPROOF_CEILDIV : 0;
  }
  Set<Expr> bounded_ = Set<Expr>::make();
};

// ------------------------------------------------------------------------------------------------ printing
class TextPrinter {
 public:
  TextPrinter(const Map& m, std::string_view division, bool multiline, std::string& out) : order_(m), division_(division), out_(out) {
    auto name = [&](Variable* v) { put(out, name_of(v->e)); };
    listed(out, "(", m.dims, ")", name);
    if (m.ranges.size()) listed(out, "[", m.ranges, "]", name);
    if (m.rts.size()) listed(out, "{", m.rts, "}", name);
    listed(out, " -> (", m.results, ")", [&](Expr e) { expression(e); });
    std::string_view before = multiline ? ",\ndomain:\n" : ", domain: ", between = multiline ? ",\n" : ", ";
    auto entry = [&](Expr e, Int lo, Int hi) {
      put(out, std::exchange(before, between));
      expression(e);
      put(out, " in [", lo, ", ", hi, "]");
    };
    for (auto* v : m.variables()) entry(v->e, v->lo, v->hi);
    for (auto* c : m.constraints) entry(c->expr, c->lo, c->hi);
  }

 private:
  void expression(Expr e, bool tight = false) {
    if (++depth_ > MAX_DEPTH) give_up();
    bool brackets = tight && (e->tag == tag::Sum || e->a);
    if (brackets) put(out_, "(");
    if (e->tag == tag::Int) {
      put(out_, e->value);
    } else if (e->tag == tag::Var) {
      put(out_, name_of(e));
    } else if (e->tag == tag::Sum) {
      sum(e);
    } else if (e->a) {
      expression(e->a, true);
      put(out_, " ", e->tag == tag::FloorDiv ? division_ : e->tag == tag::Mod ? "mod" : "ceildiv", " ");
      expression(e->b, true);
    } else {
      listed(out_, e->tag == tag::Min ? "min(" : "max(", order_.arguments(e), ")", [&](Expr x) { expression(x); });
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
  std::string& out_;
  Int depth_ = 0;
};

}  // namespace indexproof::library
