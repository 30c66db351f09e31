// The hand-written part of the kernel: calls of rules by tables, and fixed-width replacements of unbounded integers.
#pragma once
#include "indexing_map.h"

namespace indexproof {

using Size = Tuple<Int, Int, Int, Int, Int>;

namespace constants {
// No unbounded values here: numbers beyond NEAR are left to Python.
inline constexpr Int NEAR = Int(1) << 60, FAR = NEAR, END = NEAR << 1, LARGE = NEAR;
inline const Form ZERO{};
}  // namespace constants

#define RULE(name)                                                                                  \
  if constexpr (std::is_invocable_v<decltype(&Engine::name), Engine*, const V&...>) {               \
    Opt<Form> made = this->name(v...);                                                              \
    if (!isnone(made)) {                                                                            \
      if (record) [[unlikely]] again = remembered([=, this] { this->name(v...); });                 \
      return made;                                                                                  \
    }                                                                                               \
  }

#define BY_TABLE(table)                                                                             \
  template <class S, class... V> Opt<Form> table(Int about, S s, const V&... v) {                   \
    switch (about) {                                                                                \
      case 1: return table##_1(s, v...);                                                            \
      case 2: return table##_2(s, v...);                                                            \
      case 6: return table##_6(s, v...);                                                            \
    }                                                                                               \
    return none;                                                                                    \
  }

#define ENGINE_BY_HAND                                                                              \
  Form _new(Int kind, Form arg, Int d, Int lo, Int hi);                                             \
  void _refuse_large(Form, Int) { give_up(); }                                                      \
  Size _size(Int a);                                                                                \
  Size added(List<Size> sizes);                                                                     \
  Form _divided(Int kind, Form x, Int d);                                                           \
  Form recombine(Int c, Dict<Int, Int> total);                                                      \
  List<Form> _in_pairs(Int kind, List<Form> forms);                                                 \
  Form _known(Form f);                                                                              \
  Term ends(Expr e);                                                                                \
  Opt<Form> ceildiv(Form x, Int d) { return rules_8(strategy::matched{}, x, d); }                   \
  Form read(Expr e);                                                                                \
  Form _below(Expr e);                                                                              \
  Form _opaque(Expr) { give_up(); }                                                                 \
  Trace* record = nullptr;                                                                          \
  bool choosing = true;                                                                             \
  Int number = 0;                                                                                   \
  Tup<Expr> values;                                                                                 \
  const Again* again = nullptr;                                                                     \
  Expr said(Int n) { return functions::integer(n); }                                                \
  Expr said(Form f) { return write(f); }                                                            \
  Expr said(Expr e) { return e; }                                                                   \
  template <class... V> void keep(V... v) { values = Tup<Expr>::from(List<Expr>::of({said(v)...})); } \
  template <class... V> void tell(const char* name, bool sharing, V... v);                          \
  BY_TABLE(rules)                                                                                   \
  BY_TABLE(equalities)

#define LEDGER_BY_HAND
#define SEARCH_BY_HAND                                                                              \
  template <class S, class... V> Opt<Tuple<Form, Any>> _applied(Int about, S s, V... v);

#define SIMPLIFIER_BY_HAND                                                                          \
  Engine* made = nullptr;                                                                           \
  void _tell(Ledger* ledger);                                                                       \
  Int division_weight = 3;                                                                          \
  bool quick = false;                                                                               \
  Engine* engine() { return made; }                                                                 \
  Expr normal(Expr e);                                                                              \
  bool _larger(List<Expr> after, List<Expr> before);                                                \
  List<Expr> all(List<Expr> es) { return quick ? _plain(List<Expr>::from(es)) : _extracted(List<Expr>::from(es)); }

#define CONSTRAINTS_BY_HAND                                                                         \
  ConstraintRules* made_rules = nullptr;                                                            \
  ConstraintRules* compiled();                                                                      \
  Engine* ends();                                                                                   \
  Simplifier* made(List<Bound> known);                                                              \
  Tup<Bound> recorded(CompiledConstraintRule*, List<Bound> before, Tup<Bound> after);                \
  void rewritten(Bound c, Expr e);                                                                  \
  void contradicted(IndexingMap* empty);

#include "generated.h"

// ------------------------------------------------------------------------------------------------ atoms
inline Form Engine::_new(Int of, Form x, Int d, Int low, Int high) {
  if (low < -constants::NEAR || high > constants::NEAR) give_up();
  volume = add(volume, x.t.size());
  if (limited && volume > add(64, mul(2, spent))) throw Excess{};
  Int a = kind.size();
  if (!a) {
    for (auto* list : {&kind, &lo, &hi, &divisor}) list->reserve(32);
    arg.reserve(32);
    expr.reserve(32);
  }
  kind.append(of);
  lo.append(low);
  hi.append(high);
  arg.append(x);
  divisor.append(d);
  expr.append(nullptr);
  return functions::atom(a);
}

inline Size Engine::_size(Int a) {
  Int of = kind[a];
  if (of == 0) return {2, 0, 0, 0, 0};
  if (of == 1 || of == 2) return size_of_division(of, arg[a], divisor[a]);
  return size_of_extremum(parts.at_(a));
}

inline Size Engine::added(List<Size> sizes) {
  Size s{0, 0, 0, 0, 0};
  for (auto& x : sizes)
    s = {add(at<0>(s), at<0>(x)), add(at<1>(s), at<1>(x)), add(at<2>(s), at<2>(x)), add(at<3>(s), at<3>(x)), add(at<4>(s), at<4>(x))};
  return s;
}

// ------------------------------------------------------------------------------------------------ rules
inline Form Engine::_divided(Int of, Form x, Int d) {
  if (!d) give_up();
  if (!x.t.size()) return {of == 1 ? floor_div(x.c, d) : floor_mod(x.c, d), {}};
  Opt<Form> made;
  propose_for_division(of, x, d, [&](auto s, const auto&... v) {
    made = of == 1 ? rules_1(s, x, d, v...) : rules_2(s, x, d, v...);
    return !isnone(made);
  });
  if (isnone(made)) made = of == 1 ? rules_1(strategy::anywhere(), x, d) : rules_2(strategy::anywhere(), x, d);
  if (!isnone(made)) return some(made);
  if (d < 0) give_up();
  return _atom(of, x, d);
}

inline Form Engine::recombine(Int c, Dict<Int, Int> total) {
  Form f(c, sorted_terms(total.items()));
  if (total.size() < 2) return f;
  if (truthy(sums)) {
    Form known = _known(f);
    if (known != f) return known;
  }
  bool only_variables = true;
  for (Int a : total)
    if (kind[a]) { only_variables = false; break; }
  if (only_variables) return f;
  Opt<Form> made;
  propose_for_sum(f, total, [&](auto s, const auto&... v) {
    made = rules_6(s, f, v...);
    return !isnone(made);
  });
  return isnone(made) ? f : some(made);
}

inline Form Engine::_known(Form f) {
  Opt<Form> made = rules_7(strategy::single_value{}, f);
  return isnone(made) ? f : some(made);
}

inline List<Form> Engine::_in_pairs(Int of, List<Form> forms) {
  auto args = List<Form>::make();
  auto todo = reversed<Form>(forms);
  auto applied = [&](Form x, Form y, auto s, const auto&... v) { return of == 3 ? rules_3(s, x, y, v...) : rules_4(s, x, y, v...); };
  while (todo.size()) {
    Form f = todo.pop();
    bool found = false;
    for (Form g : args) {
      Opt<Form> made = f == g ? Opt<Form>(f) : applied(g, f, strategy::matched{});
      if (!isnone(made)) {
        args.remove(g);
        todo.append(some(made));
        found = true;
        break;
      }
    }
    if (!found) args.append(f);
  }
  for (Int i = 0; args.size() > 1 && i < args.size(); i++) {
    Form f = args[i];
    auto others = concat(slice(args, 0, i), slice(args, i + 1, TO_END));
    Opt<Form> made;
    propose_for_extremum(of, concat(List<Form>::of({f}), others), [&](auto s, const auto&... v) {
      made = applied(f, extremum(of, others), s, v...);
      return !isnone(made);
    });
    if (!isnone(made)) return List<Form>::of({some(made)});
  }
  return args;
}

// ------------------------------------------------------------------------------------------------ reading
inline Form Engine::read(Expr e) {
  if (auto* found = memo.find(e)) return found->second;
  return _read(e);
}
inline Form Engine::_below(Expr e) {
  if (++level > deepest) deepest = level;
  if (level > 200) give_up();
  Form f = _read(e);
  level--;
  return f;
}

inline Term Engine::ends(Expr e) {
  Term r = range(read(e));
  if (r.a < -constants::FAR || r.k > constants::FAR) give_up();
  return r;
}

template <class S, class... V> Opt<Tuple<Form, Any>> Search::_applied(Int about, S s, V... v) {
  Opt<Form> f = engine->equalities(about, s, v...);
  if (isnone(f)) f = engine->rules(about, s, v...);
  if (isnone(f)) return none;
  Any why;
  why.again = engine->again;
  return Tuple<Form, Any>(some(f), why);
}

// ------------------------------------------------------------------------------------------------ recording
// Rules that only share work are recorded once they are chosen.
template <class... V> void Engine::tell(const char* name, bool sharing, V... v) {
  if (sharing && choosing) return;
  keep(v...);
  record->entries.append({Happened::Step, name, values, number});
}

inline void Simplifier::_tell(Ledger* ledger) {
  if (!made->record) return;
  made->choosing = false;
  for (auto& entry : ledger->log)
    if (auto* again = at<2>(at<0>(entry)).again) again->call();
  made->choosing = true;
}

inline Tup<Bound> Constraints::recorded(CompiledConstraintRule* rule, List<Bound> before, Tup<Bound> after) {
  if (trace) trace->entries.append({Happened::Constraints, rule->name, ends()->values, 0, Tup<Bound>::from(before), after});
  return after;
}

inline void Constraints::rewritten(Bound c, Expr e) {
  if (!trace) return;
  auto one = [](Bound b) { return Tup<Bound>::from(List<Bound>::of({b})); };
  trace->entries.append({Happened::Rewritten, "", {}, ends()->number, one(c), one({e, at<1>(c), at<2>(c)})});
}

inline void Constraints::contradicted(IndexingMap* empty) {
  if (!trace) return;
  auto open = List<Constraint*>::make();
  for (auto& [e, lo, hi] : concat(kept, reversed<Bound>(todo))) open.append(Constraint::trusted(e, lo, hi));
  auto* state = functions::_made(boxed(map->dims), boxed(map->ranges), map->rts, map->results, Tup<Constraint*>::from(open));
  functions::changed(trace, "empty_domain", state, empty);
}

inline Expr Simplifier::normal(Expr e) {
  made->limited = false;
  return made->write(made->read(e));
}

inline Simplifier* simplifier_of(Dict<Expr, Term> boxes, List<Bound> known, Int division_weight, bool quick, bool keep_points,
                                 Trace* trace = nullptr) {
  auto* s = make<Simplifier>();
  s->made = make<Engine>(boxes, keep_points);
  s->made->record = trace;
  if (trace) s->made->number = trace->engines++;
  s->division_weight = division_weight;
  s->quick = quick;
  Int left = known.size();
  for (auto& [e, lo, hi] : known) s->made->know(e, lo, hi, --left > 0);
  return s;
}

inline bool Simplifier::_larger(List<Expr> after, List<Expr> before) {
  return after != before && functions::cost(after).weighed(division_weight) > functions::cost(before).weighed(division_weight);
}

// ------------------------------------------------------------------------------------------------ constraints
inline Opt<Tup<Bound>> CompiledConstraintRule::after(List<Bound> constraints, Engine* ends) {
  auto applied = [&](const Proposal& values) -> Opt<Tup<Bound>> {
    auto found = check(constraints, ends, values);
    if (!isnone(found) && functions::descends(constraints, List<Bound>::from(some(found)))) return found;
    return none;
  };
  if (!propose) return applied(Proposal{});
  for (auto& values : propose(constraints, ends)) {
    auto found = applied(values);
    if (!isnone(found)) return found;
  }
  return none;
}

inline Engine* Constraints::ends() { return simplifier()->engine(); }

inline Simplifier* Constraints::made(List<Bound> known) { return simplifier_of(boxes, known, division_weight, quick, keep_points, trace); }

}  // namespace indexproof
