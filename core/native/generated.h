// Written by `indexproof dev docs` from the Python sources; do not edit.
#pragma once

namespace strategy {
struct matched {};
struct anywhere {};
struct block_of_range {};
struct coefficient_quotients {};
struct common_factor {};
struct complement {};
struct multiples {};
struct known_residue {};
struct common_constant {};
struct known_remainder {};
struct next_digit {};
struct quotient_below_remainder {};
struct single_value {};
struct divided_part {};
struct inner_remainder {};
struct negated {};
struct other_divisor {};
struct summand {};
struct turned {};
struct wider {};
struct congruent {};
struct needed_quotient {};
struct digit_above_known {};
struct known_digit {};
struct needed_remainder {};
struct wider_digit {};
}

struct Engine;
struct Ledger;
struct Search;
struct Simplifier;
struct Constraints;
using Way = void (Search::*)();

struct Proposal {
  Expr e_r{};
  Expr e_x{};
  Expr e_y{};
  Opt<Int> n_a{};
  Opt<Int> n_b{};
  Opt<Int> n_c{};
  Opt<Int> n_d{};
  Opt<Int> n_g{};
  Opt<Int> n_hi{};
  Opt<Int> n_k{};
  Opt<Int> n_lo{};
  Opt<Int> n_m{};
  Opt<Int> n_n{};
  Opt<Int> n_p{};
  Opt<Int> n_q{};
  Opt<Int> n_s{};
  Opt<Int> n_t{};
  Opt<Int> n_u{};
  Opt<Int> n_v{};
  Opt<Int> n_w{};
};

namespace functions {
Form atom(Int a);
Form times(Form x, Int k);
Form minus(Form x, Form y, Int k);
Opt<Form> exactly(Form x, Int k);
Int lone(Form f);
bool contains(Dict<Int, Int> total_, Terms terms, Int k, Int without);
Cost cost(List<Expr> roots);
List<Form> as_given(Engine* engine, List<Expr> es);
bool takes_sums_apart(Ledger* ledger, List<Expr> es);
Int magnitude(Term t);
Cost map_cost(IndexingMap* m);
bool upright(Tup<Tuple<Expr, Int>> terms);
Tuple<Int, Tup<Tuple<Expr, Int>>> summands(Expr e);
Int _minus(Tup<Tuple<Expr, Int>> terms);
Tuple<Int, Int, Int> _outline(Expr e);
Tuple<Int, Int, Int> _below(Expr e);
bool descends(List<Tuple<Expr, Int, Int>> before, List<Tuple<Expr, Int, Int>> after);
List<Int> _measures(List<Tuple<Expr, Int, Int>> constraints);
List<Int> _sizes(Expr e);
List<Proposal> _scaled(List<Tuple<Expr, Int, Int>> cs, bool negative);
List<Proposal> content(List<Tuple<Expr, Int, Int>> cs, Engine* ends);
List<Proposal> negative_content(List<Tuple<Expr, Int, Int>> cs, Engine* ends);
List<Proposal> whole_range(List<Tuple<Expr, Int, Int>> cs, Engine* ends);
List<Proposal> both_ranges(List<Tuple<Expr, Int, Int>> cs, Engine* ends);
Opt<Tuple<Expr, Int, Int, Int, Int>> residue_of(Expr e, Int s);
List<Proposal> residue(List<Tuple<Expr, Int, Int>> cs, Engine* ends);
Proposal shifted_remainder(Tuple<Expr, Int, Int> c, Expr y);
Opt<Tuple<Expr, Int, Int, Int, Int>> _remainders(List<Tuple<Expr, Int, Int>> cs);
Opt<Tuple<Int, Int, Int, Int, Int, Int>> _least_common_multiple(Int m, Int s, Int n, Int t);
List<Proposal> common_multiple(List<Tuple<Expr, Int, Int>> cs, Engine* ends);
List<Proposal> greatest_common_divisor(List<Tuple<Expr, Int, Int>> cs, Engine* ends);
List<Proposal> window(List<Tuple<Expr, Int, Int>> cs, Engine* ends);
List<Proposal> summand(List<Tuple<Expr, Int, Int>> cs, Engine* ends);
List<Proposal> _others(List<Tuple<Expr, Int, Int>> cs, Expr x, Int d, Engine* ends);
List<Proposal> multiple_and_rest(List<Tuple<Expr, Int, Int>> cs, Engine* ends);
List<Proposal> dividend(List<Tuple<Expr, Int, Int>> cs, Engine* ends);
bool inside(Term ends, Int lo, Int hi);
Opt<Tup<Tuple<Expr, Int, Int>>> summand_moves_into_bounds(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> positive_factor_divides_bounds(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> negative_factor_exchanges_bounds(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> positive_divisor_scales_bounds(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> minimum_from_below(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> maximum_from_above(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> residue_is_rescaled(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> bounds_meet_range(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> satisfied_constraint_vanishes(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> impossible_constraint_is_false(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> multiple_and_rest_separate(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> multiple_and_rest_contradict(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> same_expression_intersects(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> remainders_merge(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> remainders_contradict(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> remainder_tightens_bounds(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> sum_bounds_summand(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Opt<Tup<Tuple<Expr, Int, Int>>> sum_bounds_dividend(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v);
Term _moved(Term box, Int sign, Int shift);
Term _moved_back(Tuple<Expr, Int, Int> c, Int sign, Int shift);
Expr _without_constant(Expr e);
Expr _dividend(Tuple<Expr, Int, Int> c);
Int _modulus(Tuple<Expr, Int, Int> c);
Dict<Tuple<Expr, Int>, Expr> _quotients(List<Expr> roots);
Opt<Tuple<Expr, Int, Int>> shifted_variable(Expr e);
IndexingMap* _simplified(IndexingMap* m, Trace* trace, bool keep_points, Int division_weight, bool quick);
bool _no_dearer(List<Constraint*> constraints, List<Constraint*> given, Int division_weight);
RuntimeVariable* _sourced(RuntimeVariable* v, Simplifier* simplify);
}

struct Engine {
  List<Int> kind;
  List<Int> lo;
  List<Int> hi;
  List<Form> arg;
  List<Int> divisor;
  Dict<Int, Tup<Form>> parts;
  Dict<Int, Opt<Form>> normals;
  Dict<Int, Tuple<Int, Int, Int, Int, Int>> sizes;
  bool unbounded;
  List<Expr> expr;
  Dict<Expr, Form> memo;
  Int spent;
  Int volume;
  bool limited;
  Int written;
  Dict<Terms, Term> facts;
  Dict<Terms, Term> sums;
  Set<Int> leading;
  Dict<Terms, Term> sharp;
  Dict<Tuple<Form, Int>, List<Term>> coarse;
  Dict<Tuple<Terms, Int>, Int> exact;
  Dict<Tuple<Int, Form, Int>, Int> index;
  List<Int> narrower;
  Int later;
  Dict<Expr, Term> bounds;
  bool keep_points;
  Dict<Expr, Form> opaque;
  Dict<Tuple<Terms, Int, Int>, Form> quotients;
  Dict<Tuple<Terms, Int, Int>, Form> remainders;
  Dict<Tuple<bool, Tup<Form>>, Form> extrema;
  Dict<Tuple<Int, Form, Int>, Int> raws;
  Dict<Tuple<Int, Tup<Form>>, Int> raw_extrema;
  Set<Tup<Tuple<Expr, Int>>> bodies;
  Int level;
  Int deepest;
  Tuple<Int, Terms, Int, Int> left;
  bool narrow;
  Dict<Int, Form> above;
  Set<Term> apart;
  Engine(Dict<Expr, Term> bounds, bool keep_points);
  ENGINE_BY_HAND
template <class S, class... V> Opt<Form> rules_1(S, const V&... v) {
  if constexpr (std::is_same_v<S, strategy::matched>) {
    RULE(quotient_by_one)
    RULE(quotient_of_quotient)
    RULE(quotient_absorbs_summand)
    RULE(quotient_absorbs_negated)
    RULE(quotient_absorbs_digit)
    RULE(quotient_of_remainder)
    RULE(quotient_of_digit)
  }
  if constexpr (std::is_same_v<S, strategy::anywhere>) {
    RULE(negative_divisor_moves_up)
  }
  if constexpr (std::is_same_v<S, strategy::block_of_range>) {
    RULE(quotient_known)
  }
  if constexpr (std::is_same_v<S, strategy::coefficient_quotients>) {
    RULE(quotient_certified)
  }
  if constexpr (std::is_same_v<S, strategy::common_factor>) {
    RULE(small_remainder_vanishes)
  }
  if constexpr (std::is_same_v<S, strategy::complement>) {
    RULE(complement_leaves_quotient)
  }
  if constexpr (std::is_same_v<S, strategy::multiples>) {
    RULE(multiple_leaves_quotient)
  }
  return none;
}
template <class S, class... V> Opt<Form> rules_2(S, const V&... v) {
  if constexpr (std::is_same_v<S, strategy::matched>) {
    RULE(inner_remainder_vanishes)
    RULE(minimum_of_congruent_leaves_remainder)
    RULE(maximum_of_congruent_leaves_remainder)
  }
  if constexpr (std::is_same_v<S, strategy::anywhere>) {
    RULE(remainder_by_one)
    RULE(negative_modulus_moves_out)
  }
  if constexpr (std::is_same_v<S, strategy::block_of_range>) {
    RULE(remainder_known)
  }
  if constexpr (std::is_same_v<S, strategy::coefficient_quotients>) {
    RULE(remainder_certified)
  }
  if constexpr (std::is_same_v<S, strategy::common_factor>) {
    RULE(common_factor_leaves_remainder)
  }
  if constexpr (std::is_same_v<S, strategy::complement>) {
    RULE(complement_leaves_remainder)
  }
  if constexpr (std::is_same_v<S, strategy::known_residue>) {
    RULE(known_residue_is_constant)
  }
  if constexpr (std::is_same_v<S, strategy::multiples>) {
    RULE(multiple_leaves_remainder)
  }
  return none;
}
template <class S, class... V> Opt<Form> rules_3(S, const V&... v) {
  if constexpr (std::is_same_v<S, strategy::matched>) {
    RULE(min_keeps_smaller)
  }
  if constexpr (std::is_same_v<S, strategy::common_constant>) {
    RULE(min_shifts)
  }
  if constexpr (std::is_same_v<S, strategy::common_factor>) {
    RULE(min_distributes)
    RULE(min_turns)
  }
  return none;
}
template <class S, class... V> Opt<Form> rules_4(S, const V&... v) {
  if constexpr (std::is_same_v<S, strategy::matched>) {
    RULE(max_keeps_larger)
  }
  if constexpr (std::is_same_v<S, strategy::common_constant>) {
    RULE(max_shifts)
  }
  if constexpr (std::is_same_v<S, strategy::common_factor>) {
    RULE(max_distributes)
    RULE(max_turns)
  }
  return none;
}
template <class S, class... V> Opt<Form> rules_6(S, const V&... v) {
  if constexpr (std::is_same_v<S, strategy::matched>) {
    RULE(remainder_subtracts_to_quotient)
    RULE(quotient_subtracts_to_remainder)
    RULE(min_and_max_sum)
  }
  if constexpr (std::is_same_v<S, strategy::known_remainder>) {
    RULE(exact_quotient_multiplies)
  }
  if constexpr (std::is_same_v<S, strategy::next_digit>) {
    RULE(digits_recombine)
  }
  if constexpr (std::is_same_v<S, strategy::quotient_below_remainder>) {
    RULE(quotient_and_remainder_recombine)
  }
  return none;
}
template <class S, class... V> Opt<Form> rules_7(S, const V&... v) {
  if constexpr (std::is_same_v<S, strategy::single_value>) {
    RULE(value_known)
  }
  return none;
}
template <class S, class... V> Opt<Form> rules_8(S, const V&... v) {
  if constexpr (std::is_same_v<S, strategy::matched>) {
    RULE(ceiling_of_positive)
    RULE(ceiling_of_negative)
  }
  return none;
}
template <class S, class... V> Opt<Form> equalities_1(S, const V&... v) {
  if constexpr (std::is_same_v<S, strategy::divided_part>) {
    RULE(quotient_releases_summand)
  }
  if constexpr (std::is_same_v<S, strategy::inner_remainder>) {
    RULE(inner_remainder_leaves_quotient)
  }
  if constexpr (std::is_same_v<S, strategy::negated>) {
    RULE(exact_quotient_negates)
  }
  if constexpr (std::is_same_v<S, strategy::other_divisor>) {
    RULE(quotient_is_sign)
  }
  if constexpr (std::is_same_v<S, strategy::summand>) {
    RULE(summand_joins_quotient)
  }
  if constexpr (std::is_same_v<S, strategy::turned>) {
    RULE(quotient_turns)
  }
  if constexpr (std::is_same_v<S, strategy::wider>) {
    RULE(quotient_widens)
  }
  return none;
}
template <class S, class... V> Opt<Form> equalities_2(S, const V&... v) {
  if constexpr (std::is_same_v<S, strategy::congruent>) {
    RULE(remainder_takes_congruent)
  }
  if constexpr (std::is_same_v<S, strategy::needed_quotient>) {
    RULE(remainder_is_difference)
  }
  if constexpr (std::is_same_v<S, strategy::turned>) {
    RULE(remainder_turns)
  }
  return none;
}
template <class S, class... V> Opt<Form> equalities_6(S, const V&... v) {
  if constexpr (std::is_same_v<S, strategy::digit_above_known>) {
    RULE(known_digit_joins_digit)
  }
  if constexpr (std::is_same_v<S, strategy::known_digit>) {
    RULE(known_digit_joins_quotient)
  }
  if constexpr (std::is_same_v<S, strategy::needed_remainder>) {
    RULE(multiple_is_difference)
  }
  if constexpr (std::is_same_v<S, strategy::wider_digit>) {
    RULE(remainder_widens)
  }
  return none;
}
  Expr write(Form f);
  Expr _write(Int a);
  Tup<Form> _inside(Int a);
  Tuple<Int, Int, Int, Int, Int> size(Form f);
  Tuple<Int, Int, Int, Int, Int> size_of_division(Int of, Form x, Int by);
  Tuple<Int, Int, Int, Int, Int> size_of_extremum(Tup<Form> parts);
  Term range(Form f);
  bool _spoken_of(Terms terms);
  Term _span(Int c, Terms terms);
  Term _sharper(Int c, Terms terms, Int lo, Int hi);
  Term _sharpened(Terms terms, Int lo, Int hi);
  Term _in_proportion(Dict<Int, Int> total_, Terms part, Int low, Int high, Int lo, Int hi);
  Opt<Int> constant(Form f);
  bool within(Form f, Int lo, Int hi);
  bool equal(Form x, Form y);
  bool at_most(Form x, Form y);
  Int _with_one_argument(Form f, Int lo);
  bool differ(Form x, Form y);
  bool divides(Int d, Form f);
  bool _multiple(Int a, Int k, Int d);
  Form _atom(Int kind, Form arg, Int d);
  Term _span_of_division(Int kind, Form x, Int d);
  Form _again(Int a, Int lo, Int hi);
  Form settled(Int a);
  void _narrow(Form f, Int lo, Int hi);
  Tuple<Terms, Int, Int> _know_sum(Terms terms, Int lo, Int hi);
  void _know_digits();
  Tuple<Form, Int, Int> _digit(Int a);
  void _refine(Int a);
  Opt<Int> known_remainder(Form x, Int d);
  Tuple<Dict<Int, Int>, Int> unknown_part(Form x, Int d);
  Form add_(Form x, Form y);
  Form scale(Form x, Int k);
  Form shift(Form x, Int n);
  Form normal(Form x);
  Form _normal(Int a);
  Form floordiv(Form x, Int d);
  Form mod(Form x, Int d);
  Form raw(Int kind, Form x, Int d);
  Form raw_extremum(Int kind, Tup<Form> parts);
  Form extremum(Int kind, List<Form> forms);
  Form joined(Int kind, Tup<Form> args);
  bool is_multiple(Form f, Int d);
  Terms atoms(Form f, Int kind);
  Tuple<Int, Int, Int, List<Tuple<Int, Int, Int, Int>>, Int> _rank(Term t);
  bool descends(Tuple<Int, Int, Int, Int, Int> before, Tuple<Int, Int, Int, Int, Int> after);
  Int coefficient(Form f, Int a);
  bool contains(Form f, Form x, Int k, Int at_);
  List<Tuple<Form, Form>> splits(Int a);
  List<Form> beside(Int a, Form x);
  bool made_of(Int a, Form x, Form y);
  template <class Sink> bool propose_for_division(Int kind, Form x, Int d, Sink&& sink);
  template <class Sink> bool propose_for_sum(Form f, Dict<Int, Int> total_, Sink&& sink);
  template <class Sink> bool propose_for_extremum(Int kind, List<Form> args, Sink&& sink);
  Form _read(Expr e);
  void know(Expr e, Int lo, Int hi, bool more = false);
  void forget_read();
  void forget();
  Opt<Tuple<Int, List<Term>>> _certified(Int c, Terms terms, Int d, bool facts);
  Opt<Form> _straight(Form x, Int d);
  Opt<Tuple<Int, Form>> _low_part(Form x, Int d);
  Form quotient_above(Int a);
  template <class Sink> bool _digits(Dict<Int, Int> total_, List<Tuple<Int, Int, Int>> remainders, Sink&& sink);
  Opt<Form> _congruent(Int a, Int b);
  template <class Sink> bool _next_digits(Dict<Int, Int> total_, Int a, Form q, List<Int> others, Sink&& sink);
  Opt<Form> value_known(Form x);
  Opt<Form> quotient_by_one(Form x, Int _1);
  Opt<Form> quotient_known(Form x, Int d, Int q);
  Opt<Form> quotient_certified(Form x, Int d, Form q);
  Opt<Form> multiple_leaves_quotient(Form _1, Int d, Form x);
  Opt<Form> small_remainder_vanishes(Form _1, Int d, Int g, Form x);
  Opt<Form> quotient_of_quotient(Form _1, Int b);
  Opt<Form> quotient_absorbs_summand(Form _1, Int b);
  Opt<Form> quotient_absorbs_negated(Form _1, Int b);
  Opt<Form> quotient_absorbs_digit(Form _1, Int b);
  Opt<Form> quotient_of_remainder(Form _1, Int d);
  Opt<Form> quotient_of_digit(Form _1, Int b);
  Opt<Form> complement_leaves_quotient(Form _1, Int d);
  Opt<Form> negative_divisor_moves_up(Form x, Int d);
  Opt<Form> ceiling_of_positive(Form x, Int d);
  Opt<Form> ceiling_of_negative(Form x, Int d);
  Opt<Form> remainder_by_one(Form x, Int d);
  Opt<Form> remainder_known(Form x, Int d, Int q);
  Opt<Form> remainder_certified(Form x, Int d, Form q);
  Opt<Form> multiple_leaves_remainder(Form _1, Int d, Form x);
  Opt<Form> common_factor_leaves_remainder(Form _1, Int d, Int g, Form x);
  Opt<Form> known_residue_is_constant(Form _1, Int d, Form x);
  Opt<Form> inner_remainder_vanishes(Form _1, Int d);
  Opt<Form> complement_leaves_remainder(Form _1, Int d);
  Opt<Form> negative_modulus_moves_out(Form x, Int d);
  Opt<Form> quotient_and_remainder_recombine(Form _1, Int _2, Form q, Int w, Form x);
  Opt<Form> digits_recombine(Form _1, Int _2, Int n, Int w, Form z);
  Opt<Form> remainder_subtracts_to_quotient(Form _1);
  Opt<Form> quotient_subtracts_to_remainder(Form _1);
  Opt<Form> exact_quotient_multiplies(Form _1, Int _2, Int w);
  Opt<Form> min_keeps_smaller(Form _1, Form _2);
  Opt<Form> max_keeps_larger(Form _1, Form _2);
  Opt<Form> min_shifts(Form _1, Form _2, Int k);
  Opt<Form> max_shifts(Form _1, Form _2, Int k);
  Opt<Form> min_distributes(Form _1, Form _2, Int g, Form x);
  Opt<Form> max_distributes(Form _1, Form _2, Int g, Form x);
  Opt<Form> min_turns(Form _1, Form _2, Int g, Form x);
  Opt<Form> max_turns(Form _1, Form _2, Int g, Form x);
  Opt<Form> min_and_max_sum(Form _1);
  Opt<Form> minimum_of_congruent_leaves_remainder(Form _1, Int d);
  Opt<Form> maximum_of_congruent_leaves_remainder(Form _1, Int d);
  Opt<Form> remainder_is_difference(Form x, Int d, Form q);
  Opt<Form> multiple_is_difference(Form _1, Int _2, Form t);
  Opt<Form> known_digit_joins_quotient(Form _1, Int _2, Int a, Form q);
  Opt<Form> known_digit_joins_digit(Form _1, Int _2, Int a, Form t, Form x);
  Opt<Form> exact_quotient_negates(Form x, Int d);
  Opt<Form> quotient_turns(Form x, Int d, Form t);
  Opt<Form> remainder_turns(Form x, Int d, Form t);
  Opt<Form> quotient_is_sign(Form x, Int d, Int e);
  Opt<Form> quotient_widens(Form y, Int e, Int g, Form r);
  Opt<Form> remainder_widens(Form _1, Int _2, Int g, Form r);
  Opt<Form> summand_joins_quotient(Form x, Int d, Form t);
  Opt<Form> remainder_takes_congruent(Form x, Int d, Form y);
  Opt<Form> quotient_releases_summand(Form _1, Int _2, Int a, Form q, Form x);
  Opt<Form> inner_remainder_leaves_quotient(Form _1, Int d, Int _2, Int j, Form o, Form q);
};

struct Ledger {
  Engine* engine;
  Int unit;
  Int weight;
  List<Form> forms;
  Int cost;
  Dict<Int, Form> choice;
  Dict<Int, Form> written;
  Dict<Form, Dict<Int, Unit>> owners;
  Dict<Form, Tuple<Int, List<Term>, Terms, Int>> shapes;
  Dict<Int, Dict<Int, Form>> users;
  Dict<Terms, Int> bodies;
  Dict<Term, Int> products;
  List<Tuple<Tuple<Int, Form, Any>, Opt<Form>, List<Tuple<Int, Form>>>> log;
  Ledger(Engine* engine, Int weight, List<Form> forms);
  LEDGER_BY_HAND
  Int spent();
  List<Form> arguments(Int a);
  Form resolved(Form f);
  bool reaches(Form f, Int a);
  bool choose(Tuple<Int, Form, Any> choice);
  Form _with(Form f, Int a, Form by);
  void undo(Int mark);
  bool attempt(List<Tuple<Int, Form, Any>> choices, bool even = false);
  bool best(List<List<Tuple<Int, Form, Any>>> options);
  bool _chosen(List<Tuple<Int, Form, Any>> choices);
  bool may_pay(Tuple<Int, Form, Any> choice);
  Int _spared(Int a, Int depth);
  Int _freed(Form f, Int depth);
  Int _needed(Form f);
  Int _sum(Form f, Form g);
  Int _priced(Form f, Form other, Int n);
  Tuple<Int, List<Term>, Terms, Int> _shape(Form f);
  void _own(Int owner, Form f);
  void _enter(Int a, Int of);
  void _disown(Int owner, Form f);
  void _leave(Int a, Int of);
  List<Expr> expressions();
  Expr express(Form f, Dict<Int, Expr> done);
  Expr _atom(Int a, Dict<Int, Expr> done);
};

struct Search {
  Ledger* ledger;
  Engine* engine;
  Dict<Form, Int> digests;
  Search(Ledger* ledger);
  SEARCH_BY_HAND
  template <class S, class... V> List<Tuple<Int, Form, Any>> instead(Int a, S strategy, V... values);
  template <class S, class... V> List<Tuple<Int, Form, Any>> everywhere(Form f, S strategy, V... values);
  List<Tuple<Int, Form, Any>> _replacing(Form f, Form by, Any why);
  List<Tuple<Int, Form, Any>> normal_sum(Form f);
  List<Tuple<Int, Form, Any>> normal_atom(Int a);
  List<Tuple<Int, Form, Any>> read_again(Int a);
  List<Form> sums();
  List<Int> divisions(Int of);
  Dict<Form, List<Int>> dividends();
  bool there(Form f);
  Form quotient(Int a);
  Int digest(Form f);
  Int _of_atom(Int a);
  void sort(List<Int> atoms);
  List<Form> widest(List<Form> forms);
  void differences();
  List<Tuple<Int, Form, Any>> _without(Int a, Form q);
  List<Tuple<Int, Form, Any>> _same_dividend(Int a, Form q);
  List<Tuple<Int, Form, Any>> released(Int a, Form x);
  bool _pays(Int a, Int q);
  void differences_inside();
  void inner_remainders();
  void multiples();
  bool _joins(Int a, Form x);
  void known_digits();
  List<Tuple<Int, Form, Any>> _above_known(Form f, Int a, Int v);
  void improve();
  void normal_forms();
  void wider();
  bool _wider(Form y, List<Int> users, Form x);
  Int _multiple(Form x, Form y);
  void constants();
  bool _with_constants(List<Int> atoms);
  List<List<Tuple<Int, Form, Any>>> _shifts(List<Int> atoms);
  bool _may_pay(List<Int> atoms, Int n);
  List<Tuple<Int, Form, Any>> _shifted(List<Int> atoms, Int n);
  void signs();
  void turned();
  List<Tuple<Int, Form, Any>> _turned(Int a, Int b);
  void negated();
  void digits_with_rest();
  void factors();
  Opt<Form> _reduced(Form y, Int d);
  Opt<Form> _smaller(Form y, Int d);
  void _take_summands(Form y, List<Int> atoms);
  bool _harmless(Form x, Int b, Int s);
};

struct Simplifier {
  SIMPLIFIER_BY_HAND
  List<Expr> each(List<Expr> es);
  List<Expr> _extracted(List<Expr> es);
  List<Form> _read(List<Expr> es);
  List<Expr> _less_deep(List<Expr> es);
  bool _deep();
  Int _spent(List<Expr> es);
  Tuple<List<Expr>, Int> _once(List<Expr> es, Search* search, Int spent);
  bool _are_normal(List<Expr> es, List<Form> forms);
  List<Expr> _plain(List<Expr> es);
  Tuple<List<Expr>, bool> _plain_once(List<Expr> es);
};

struct Constraints {
  IndexingMap* map;
  Trace* trace;
  bool keep_points;
  Int division_weight;
  bool quick;
  Dict<Expr, Term> boxes;
  bool narrowed;
  List<Tuple<Expr, Int, Int>> kept;
  Dict<Expr, Int> place;
  List<Tuple<Expr, Int, Int>> todo;
  bool stale;
  bool outdated;
  Simplifier* _simplifier;
  Engine* _ends;
  Constraints(IndexingMap* m, Trace* trace, bool keep_points, Int division_weight, bool quick);
  CONSTRAINTS_BY_HAND
  void run();
  bool free(Expr v);
  Simplifier* simplifier();
  void renew();
  Tup<Variable*> boxed(Tup<Variable*> variables);
  Opt<Tup<Tuple<Expr, Int, Int>>> applied(CompiledConstraintRule* rule, List<Tuple<Expr, Int, Int>> before);
  void settle();
  Opt<Tuple<Expr, Int, Int>> twin(Tuple<Expr, Int, Int> c, Tuple<Expr, Int, Int> d);
  void again();
  void restart(List<Tuple<Expr, Int, Int>> todo);
  Opt<Tuple<Expr, Int, Int>> normal(Tuple<Expr, Int, Int> c);
  void shrink(Expr v, Int lo, Int hi);
  bool merge();
  bool merged(Tuple<Expr, Int, Int> c, Tuple<Expr, Int, Int> d);
  bool tighten();
  List<Expr> subjects(Tuple<Expr, Int, Int> c);
  Simplifier* simplifier_of_results();
  Tup<Constraint*> finished(List<Expr> results);
  Tuple<Expr, Int, Int> spelled(Tuple<Expr, Int, Int> c, Dict<Tuple<Expr, Int>, Expr> quotients);
};

namespace functions {
inline Form atom(Int a) {
  return mk(Int(0), terms_of(std::initializer_list<Term>{mk(a, Int(1))}));
}

inline Form times(Form x, Int k) {
  if ((k == Int(1))) {
    return x;
  }
  if ((k == Int(0))) {
    return constants::ZERO;
  }
  return mk(mul(at<0>(x), k), terms_of([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t1_c = at<1>(x); for (auto&& t1_ : t1_c) { Int a = at<0>(t1_); Int j = at<1>(t1_); l_.append(mk(a, mul(j, k))); } return l_; }(Room<List<Term>>())));
}

inline Form minus(Form x, Form y, Int k) {
  Int c{};
  Dict<Int, Int> total_{};
  Room<Dict<Int, Int>> here_total;
  bool ordered{};
  Int a{};
  Int j{};
  Opt<Int> n{};
  c = sub(at<0>(x), mul(k, at<0>(y)));
  if ((!truthy(at<1>(y)) || !truthy(k))) {
    return mk(c, at<1>(x));
  }
  total_ = Dict<Int, Int>::from(at<1>(x), here_total);
  ordered = true;
  {
  auto t1_c = at<1>(y);
  for (auto&& t1_ : t1_c) {
    a = at<0>(t1_);
    j = at<1>(t1_);
    n = lookup(total_, Int(a));
    if (isnone(n)) {
      {
        auto t2_ = mul(neg(k), j);
      total_.set(a, t2_);
      }
      ordered = false;
    } else {
      if ((some(n) == mul(k, j))) {
        total_.erase(a);
      } else {
        {
          auto t3_ = sub(some(n), mul(k, j));
        total_.set(a, t3_);
        }
      }
    }
  }
  }
  return mk(c, (truthy(ordered) ? Terms(terms_of(total_.items())) : Terms(sorted_terms(total_.items()))));
}

inline Opt<Form> exactly(Form x, Int k) {
  if ((!truthy(k) || (truthy(floor_mod(at<0>(x), k)) || truthy([&] { auto t1_c = at<1>(x); for (auto&& t1_ : t1_c) { Int j = at<1>(t1_); if ((truthy(floor_mod(j, k)))) return true; } return !true; }())))) {
    return none;
  }
  return mk(floor_div(at<0>(x), k), terms_of([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t2_c = at<1>(x); for (auto&& t2_ : t2_c) { Int a = at<0>(t2_); Int j = at<1>(t2_); l_.append(mk(a, floor_div(j, k))); } return l_; }(Room<List<Term>>())));
}

inline Int lone(Form f) {
  if ((truthy(at<0>(f)) || ((len(at<1>(f)) != Int(1)) || (at<1>(at<0>(at<1>(f))) != Int(1))))) {
    return Int(-1);
  }
  return at<0>(at<0>(at<1>(f)));
}

inline bool contains(Dict<Int, Int> total_, Terms terms, Int k, Int without) {
  Int a{};
  Int j{};
  {
  auto t1_c = terms;
  for (auto&& t1_ : t1_c) {
    a = at<0>(t1_);
    j = at<1>(t1_);
    if (((total_.get(Int(a), Int(0)) != mul(k, j)) || (a == without))) {
      return false;
    }
  }
  }
  return true;
}

inline Cost cost(List<Expr> roots) {
  Int divisions{};
  Int operations{};
  Set<Tuple<Expr, Int>> products{};
  Room<Set<Tuple<Expr, Int>>> here_products;
  Set<Tup<Tuple<Expr, Int>>> bodies{};
  Room<Set<Tup<Tuple<Expr, Int>>>> here_bodies;
  Set<Expr> seen{};
  Room<Set<Expr>> here_seen;
  List<Expr> todo{};
  Room<List<Expr>> here_todo;
  Expr node{};
  Int kind{};
  Expr whole{};
  Tup<Tuple<Expr, Int>> terms{};
  Int negative{};
  Expr t{};
  Int k{};
  Expr division{};
  Tup<Expr> children{};
  {
    auto t1_ = Int(0);
  divisions = t1_;
  operations = t1_;
  }
  products = Set<Tuple<Expr, Int>>::make(here_products);
  bodies = Set<Tup<Tuple<Expr, Int>>>::make(here_bodies);
  seen = Set<Expr>::make(here_seen);
  todo = List<Expr>::from(roots, here_todo);
  while (truthy(todo)) {
    node = todo.pop();
    kind = node->tag;
    if (((kind == tag::Var) || ((kind == tag::Int) || seen.has(Expr(node))))) {
      continue;
    }
    seen.add(node);
    if ((kind == tag::Sum)) {
      whole = node;
      terms = whole->terms;
      negative = Int(0);
      {
      auto t2_c = terms;
      for (auto&& t2_ : t2_c) {
        t = at<0>(t2_);
        k = at<1>(t2_);
        todo.append(t);
        if ((k < Int(0))) {
          { Int v_ = Int(1); auto& r_ = negative; r_ = add(r_, v_); }
          k = neg(k);
        }
        if ((k != Int(1))) {
          products.add(mk(t, k));
        }
      }
      }
      if ((negative == len(terms))) {
        { Int v_ = Int(1); auto& r_ = operations; r_ = add(r_, v_); }
        terms = Tup<Tuple<Expr, Int>>::from([&](auto&& r_) { auto l_ = List<Tuple<Expr, Int>>::make(r_); auto t3_c = terms; for (auto&& t3_ : t3_c) { Expr t = at<0>(t3_); Int k = at<1>(t3_); l_.append(mk(t, neg(k))); } return l_; }(Room<List<Tuple<Expr, Int>>>()));
      } else {
        if (truthy(whole->const_)) {
          { Int v_ = Int(1); auto& r_ = operations; r_ = add(r_, v_); }
        }
      }
      bodies.add(terms);
    } else {
      if (((kind == tag::FloorDiv) || ((kind == tag::Mod) || (kind == tag::CeilDiv)))) {
        division = node;
        { Int v_ = Int(1); auto& r_ = divisions; r_ = add(r_, v_); }
        { Int v_ = Int(1); auto& r_ = operations; r_ = add(r_, v_); }
        todo.append(division->a);
        if ((division->b->tag != tag::Int)) {
          todo.append(division->b);
        }
      } else {
        children = functions::children(node);
        { Int v_ = sub(len(children), Int(1)); auto& r_ = operations; r_ = add(r_, v_); }
        todo.extend(children);
      }
    }
  }
  { Int v_ = add(len(products), total([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t4_c = bodies; for (auto&& t4_ : t4_c) { Tup<Tuple<Expr, Int>> terms = t4_; l_.append(sub(len(terms), Int(1))); } return l_; }(Room<List<Int>>()))); auto& r_ = operations; r_ = add(r_, v_); }
  return Cost{divisions, operations};
}

inline List<Form> as_given(Engine* engine, List<Expr> es) {
  Dict<Expr, Form> done{};
  Room<Dict<Expr, Form>> here_done;
  Expr e{};
  Int t{};
  Form f{};
  Expr s{};
  Int c{};
  Dict<Int, Int> total_{};
  Room<Dict<Int, Int>> here_total;
  Expr x{};
  Int k{};
  Int n{};
  Terms terms{};
  Int a{};
  Int j{};
  Expr q{};
  Expr by{};
  Expr of{};
  done = Dict<Expr, Form>::make(here_done);
  {
  auto t1_c = functions::postorder(es);
  for (auto&& t1_ : t1_c) {
    e = t1_;
    t = e->tag;
    if ((t == tag::Sum)) {
      s = e;
      c = s->const_;
      total_ = Dict<Int, Int>::make(here_total);
      {
      auto t2_c = s->terms;
      for (auto&& t2_ : t2_c) {
        x = at<0>(t2_);
        k = at<1>(t2_);
        {
          auto t3_ = done.at_(Expr(x));
        n = at<0>(t3_);
        terms = at<1>(t3_);
        }
        { Int v_ = mul(k, n); auto& r_ = c; r_ = add(r_, v_); }
        {
        auto t4_c = terms;
        for (auto&& t4_ : t4_c) {
          a = at<0>(t4_);
          j = at<1>(t4_);
          {
            auto t5_ = add(total_.get(Int(a), Int(0)), mul(k, j));
          total_.set(a, t5_);
          }
        }
        }
      }
      }
      f = mk(c, sorted_terms([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t6_c = total_.items(); for (auto&& t6_ : t6_c) { Term t = t6_; if (!(truthy(at<1>(t)))) continue; l_.append(t); } return l_; }(Room<List<Term>>())));
    } else {
      if (((t == tag::FloorDiv) || (t == tag::Mod))) {
        q = e;
        if (((q->b->tag == tag::Int) && (q->b->value > Int(0)))) {
          by = q->b;
          f = engine->raw(((t == tag::FloorDiv) ? Int(Int(1)) : Int(Int(2))), done.at_(Expr(q->a)), by->value);
          a = functions::lone(f);
          if (engine->normals.has(Int(a))) {
            {
              auto t7_ = engine->read(e);
            engine->normals.set(a, t7_);
            }
          }
        } else {
          f = engine->read(e);
        }
      } else {
        if (((t == tag::Min) || (t == tag::Max))) {
          of = e;
          f = engine->raw_extremum(((t == tag::Min) ? Int(Int(3)) : Int(Int(4))), Tup<Form>::from([&](auto&& r_) { auto l_ = List<Form>::make(r_); auto t8_c = of->args; for (auto&& t8_ : t8_c) { Expr x = t8_; l_.append(done.at_(Expr(x))); } return l_; }(Room<List<Form>>())));
        } else {
          f = engine->read(e);
        }
      }
    }
    {
      auto t9_ = f;
    done.set(e, t9_);
    }
  }
  }
  return [&] { auto l_ = List<Form>::make(); auto t10_c = es; for (auto&& t10_ : t10_c) { Expr e = t10_; l_.append(done.at_(Expr(e))); } return l_; }();
}

inline bool takes_sums_apart(Ledger* ledger, List<Expr> es) {
  Engine* engine{};
  Dict<Expr, List<Expr>> divisions{};
  Room<Dict<Expr, List<Expr>>> here_divisions;
  Set<Expr> seen{};
  Room<Set<Expr>> here_seen;
  List<Expr> todo{};
  Room<List<Expr>> here_todo;
  Expr e{};
  Int t{};
  Expr q{};
  Expr x{};
  List<Int> kind{};
  List<Form> arg{};
  List<Expr> several{};
  Set<Terms> bodies{};
  Room<Set<Terms>> here_bodies;
  Int longest{};
  Int a{};
  Terms terms{};
  engine = ledger->engine;
  divisions = Dict<Expr, List<Expr>>::make(here_divisions);
  seen = Set<Expr>::make(here_seen);
  todo = List<Expr>::from(es, here_todo);
  while (truthy(todo)) {
    e = todo.pop();
    t = e->tag;
    if (((t == tag::Var) || ((t == tag::Int) || seen.has(Expr(e))))) {
      continue;
    }
    seen.add(e);
    if (((t == tag::FloorDiv) || (t == tag::Mod))) {
      q = e;
      x = q->a;
      if (((x->tag == tag::Sum) && (len(x->terms) > Int(1)))) {
        divisions.setdefault(Expr(x), List<Expr>::of({})).append(e);
      }
    }
    todo.extend(functions::children(e));
  }
  {
    auto t1_ = engine->kind;
    auto t2_ = engine->arg;
  kind = t1_;
  arg = t2_;
  }
  {
  auto t3_c = divisions.values();
  for (auto&& t3_ : t3_c) {
    several = t3_;
    if ((len(several) > Int(1))) {
      bodies = Set<Terms>::make(here_bodies);
      longest = Int(0);
      {
      auto t4_c = several;
      for (auto&& t4_ : t4_c) {
        e = t4_;
        {
        auto t5_c = at<1>(ledger->resolved(engine->read(e)));
        for (auto&& t5_ : t5_c) {
          a = at<0>(t5_);
          if (((kind[a] == Int(1)) || (kind[a] == Int(2)))) {
            terms = at<1>(ledger->resolved(arg[a]));
            bodies.add(terms);
            longest = larger(longest, len(terms));
          }
        }
        }
      }
      }
      if (((longest > Int(1)) && (len(bodies) > Int(1)))) {
        return true;
      }
    }
  }
  }
  return false;
}

inline Int magnitude(Term t) {
  return neg(p_abs(at<1>(t)));
}

inline Cost map_cost(IndexingMap* m) {
  List<Cost> parts{};
  Room<List<Cost>> here_parts;
  parts = List<Cost>::of({functions::cost(List<Expr>::from(m->results)), functions::cost([&](auto&& r_) { auto l_ = List<Expr>::make(r_); auto t1_c = m->constraints; for (auto&& t1_ : t1_c) { Constraint* c = t1_; l_.append(c->expr); } return l_; }(Room<List<Expr>>()))}, here_parts);
  parts.extend([&](auto&& r_) { auto l_ = List<Cost>::make(r_); auto t2_c = m->rts; for (auto&& t2_ : t2_c) { RuntimeVariable* r = t2_; if (!(!isnone(r->source))) continue; l_.append(functions::cost(List<Expr>::from(r->source->results))); } return l_; }(Room<List<Cost>>()));
  return Cost{total([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t3_c = parts; for (auto&& t3_ : t3_c) { Cost p = t3_; l_.append(p.divisions); } return l_; }(Room<List<Int>>())), total([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t4_c = parts; for (auto&& t4_ : t4_c) { Cost p = t4_; l_.append(p.operations); } return l_; }(Room<List<Int>>()))};
}

inline bool upright(Tup<Tuple<Expr, Int>> terms) {
  Int negative{};
  negative = total([&](auto&& r_) { auto l_ = List<bool>::make(r_); auto t1_c = terms; for (auto&& t1_ : t1_c) { Int k = at<1>(t1_); l_.append((k < Int(0))); } return l_; }(Room<List<bool>>()));
  return ((mul(Int(2), negative) < len(terms)) || ((mul(Int(2), negative) == len(terms)) && (functions::_leading(terms) > Int(0))));
}

inline Tuple<Int, Tup<Tuple<Expr, Int>>> summands(Expr e) {
  if ((e->tag == tag::Sum)) {
    return mk(e->const_, e->terms);
  }
  return ((e->tag == tag::Int) ? Tuple<Int, Tup<Tuple<Expr, Int>>>(mk(e->value, Tup<Tuple<Expr, Int>>{})) : Tuple<Int, Tup<Tuple<Expr, Int>>>(mk(Int(0), Tup<Tuple<Expr, Int>>::from(List<Tuple<Expr, Int>>::of({mk(e, Int(1))})))));
}

inline Int _minus(Tup<Tuple<Expr, Int>> terms) {
  Int negative{};
  negative = total([&](auto&& r_) { auto l_ = List<bool>::make(r_); auto t1_c = terms; for (auto&& t1_ : t1_c) { Int k = at<1>(t1_); l_.append((k < Int(0))); } return l_; }(Room<List<bool>>()));
  return (truthy(negative) ? Int(add(mul(Int(2), negative), (functions::_leading(terms) < Int(0)))) : Int(Int(0)));
}

inline Tuple<Int, Int, Int> _outline(Expr e) {
  Int const_{};
  Tup<Tuple<Expr, Int>> terms{};
  {
    auto t1_ = functions::summands(e);
  const_ = at<0>(t1_);
  terms = at<1>(t1_);
  }
  return mk(total([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t2_c = terms; for (auto&& t2_ : t2_c) { Int k = at<1>(t2_); l_.append(p_abs(k)); } return l_; }(Room<List<Int>>())), Int(((const_ != Int(0)) && truthy(truthy(terms)))), functions::_minus(terms));
}

inline Tuple<Int, Int, Int> _below(Expr e) {
  return ((e->tag == tag::Mod) ? Tuple<Int, Int, Int>(functions::_outline(e->a)) : Tuple<Int, Int, Int>(mk(Int(0), Int(0), Int(0))));
}

inline bool descends(List<Tuple<Expr, Int, Int>> before, List<Tuple<Expr, Int, Int>> after) {
  List<Tuple<Expr, Int, Int>> rest{};
  List<Tuple<Expr, Int, Int>> new_{};
  Tuple<Expr, Int, Int> c{};
  Expr e{};
  Int lo{};
  Int hi{};
  Expr f{};
  Int low{};
  Int high{};
  List<Expr> atoms{};
  Room<List<Expr>> here_atoms;
  Tuple<Int, Int, Int, Int, Int, Int> whole{};
  Tuple<Int, Int, Int, Int, Int, Int> left{};
  {
    auto t1_ = List<Tuple<Expr, Int, Int>>::from(before);
    auto t2_ = List<Tuple<Expr, Int, Int>>::of({});
  rest = t1_;
  new_ = t2_;
  }
  {
  auto t3_c = after;
  for (auto&& t3_ : t3_c) {
    c = t3_;
    if (in(c, rest)) {
      rest.remove(c);
    } else {
      new_.append(c);
    }
  }
  }
  if ((!truthy(new_) || (((len(new_) == Int(1)) && (Int(1) < len(rest))) && truthy([&] { auto t4_c = rest; for (auto&& t4_ : t4_c) { Tuple<Expr, Int, Int> c = t4_; if (((at<0>(new_[Int(0)]) == at<0>(c)))) return true; } return !true; }())))) {
    return truthy(rest);
  }
  if (((len(rest) == len(new_)) && (len(new_) == Int(1)))) {
    {
      auto t5_ = rest[Int(0)];
      auto t6_ = new_[Int(0)];
    e = at<0>(t5_);
    lo = at<1>(t5_);
    hi = at<2>(t5_);
    f = at<0>(t6_);
    low = at<1>(t6_);
    high = at<2>(t6_);
    }
    atoms = [&] { auto l_ = List<Expr>::make(here_atoms); auto t7_c = at<1>(functions::summands(f)); for (auto&& t7_ : t7_c) { Expr t = at<0>(t7_); l_.append(t); } return l_; }();
    if ((truthy(atoms) && (atoms == [&] { auto l_ = List<Expr>::make(); auto t8_c = at<1>(functions::summands(e)); for (auto&& t8_ : t8_c) { Expr t = at<0>(t8_); l_.append(t); } return l_; }()))) {
      {
        auto t9_ = concat(functions::_outline(e), functions::_below(e));
        auto t10_ = concat(functions::_outline(f), functions::_below(f));
      whole = t9_;
      left = t10_;
      }
      return ((left < whole) || ((left == whole) && (larger(Int(0), add(sub(high, low), Int(1))) < larger(Int(0), add(sub(hi, lo), Int(1))))));
    }
  }
  return (functions::_measures(new_) < functions::_measures(rest));
}

inline List<Int> _measures(List<Tuple<Expr, Int, Int>> constraints) {
  List<Int> total_{};
  Expr e{};
  Int lo{};
  Int hi{};
  Tuple<Int, Int, Int> whole{};
  Tuple<Int, Int, Int> inside{};
  List<Int> row{};
  total_ = List<Int>::of({});
  {
  auto t1_c = constraints;
  for (auto&& t1_ : t1_c) {
    e = at<0>(t1_);
    lo = at<1>(t1_);
    hi = at<2>(t1_);
    {
      auto t2_ = functions::_outline(e);
      auto t3_ = functions::_below(e);
    whole = t2_;
    inside = t3_;
    }
    row = [&] { auto l_ = List<Int>::make(); l_.extend(functions::_sizes(e)); l_.append(at<0>(whole)); l_.append(Int(1)); l_.append(at<1>(whole)); l_.append(at<2>(whole)); l_.append(at<0>(inside)); l_.append(at<1>(inside)); l_.append(at<2>(inside)); l_.append(larger(Int(0), add(sub(hi, lo), Int(1)))); return l_; }();
    total_ = (truthy(total_) ? List<Int>([&] { auto l_ = List<Int>::make(); auto t4_0 = total_; auto t4_1 = row; for (Int t4_ = 0; t4_ < t4_0.size(); t4_++) { Int a = t4_0[t4_]; Int b = t4_1[t4_]; l_.append(add(a, b)); } return l_; }()) : List<Int>(row));
  }
  }
  return total_;
}

inline List<Int> _sizes(Expr e) {
  Dict<Expr, List<Int>> done{};
  Room<Dict<Expr, List<Int>>> here_done;
  Expr node{};
  List<Int> own{};
  Expr c{};
  Int d{};
  Int const_{};
  Tup<Tuple<Expr, Int>> terms{};
  Tup<Expr> args{};
  List<Tuple<Int, Tup<Tuple<Expr, Int>>>> sums{};
  Room<List<Tuple<Int, Tup<Tuple<Expr, Int>>>>> here_sums;
  bool common{};
  bool multiples{};
  done = Dict<Expr, List<Int>>::make(here_done);
  {
  auto t1_c = functions::postorder(List<Expr>::of({e}));
  for (auto&& t1_ : t1_c) {
    node = t1_;
    own = List<Int>::of({Int(0), Int(0), Int(0), Int(0), Int(0)});
    if ((node->tag == tag::Var)) {
      {
        auto t2_ = Int(2);
      own[Int(0)] = t2_;
      }
    }
    {
    auto t3_c = functions::children(node);
    for (auto&& t3_ : t3_c) {
      c = t3_;
      own = [&] { auto l_ = List<Int>::make(); auto t4_0 = own; auto t4_1 = done.at_(Expr(c)); for (Int t4_ = 0; t4_ < t4_0.size(); t4_++) { Int a = t4_0[t4_]; Int b = t4_1[t4_]; l_.append(add(a, b)); } return l_; }();
    }
    }
    if (((node->tag == tag::FloorDiv) || ((node->tag == tag::Mod) || (node->tag == tag::CeilDiv)))) {
      d = ((node->b->tag == tag::Int) ? Int(node->b->value) : Int(Int(1)));
      {
        auto t5_ = functions::summands(node->a);
      const_ = at<0>(t5_);
      terms = at<1>(t5_);
      }
      {
        auto t6_ = add(mul(Int(3), own[Int(0)]), ((node->tag == tag::FloorDiv) ? Int(Int(1)) : Int(((node->tag == tag::Mod) ? Int(Int(2)) : Int(Int(3))))));
      own[Int(0)] = t6_;
      }
      { Int v_ = p_abs(d); auto& r_ = own[Int(1)]; r_ = add(r_, v_); }
      { Int v_ = (d < Int(0)); auto& r_ = own[Int(2)]; r_ = add(r_, v_); }
      {
        auto t7_ = add(mul(Int(3), own[Int(3)]), total([&](auto&& r_) { auto l_ = List<bool>::make(r_); auto t8_c = terms; for (auto&& t8_ : t8_c) { Int k = at<1>(t8_); l_.append((k < Int(0))); } return l_; }(Room<List<bool>>())));
      own[Int(3)] = t7_;
      }
      {
        auto t9_ = add(mul(Int(3), own[Int(4)]), (floor_div(const_, d) != Int(0)));
      own[Int(4)] = t9_;
      }
    } else {
      if (((node->tag == tag::Min) || (node->tag == tag::Max))) {
        args = node->args;
        sums = [&] { auto l_ = List<Tuple<Int, Tup<Tuple<Expr, Int>>>>::make(here_sums); auto t10_c = args; for (auto&& t10_ : t10_c) { Expr a = t10_; l_.append(functions::summands(a)); } return l_; }();
        common = [&] { auto t11_c = sums; for (auto&& t11_ : t11_c) { Int const_ = at<0>(t11_); Tup<Tuple<Expr, Int>> terms = at<1>(t11_); if (!(truthy(terms))) continue; if (!((const_ != Int(0)))) return false; } return !false; }();
        multiples = (Gcd().all([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t12_c = sums; for (auto&& t12_ : t12_c) { Int const_ = at<0>(t12_); l_.append(const_); } return l_; }(Room<List<Int>>())).all([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t13_c = sums; for (auto&& t13_ : t13_c) { Tup<Tuple<Expr, Int>> terms = at<1>(t13_); auto t14_c = terms; for (auto&& t14_ : t14_c) { Int k = at<1>(t14_); l_.append(k); }} return l_; }(Room<List<Int>>())).g > Int(1));
        { Int v_ = sub(len(args), Int(1)); auto& r_ = own[Int(0)]; r_ = add(r_, v_); }
        {
          auto t15_ = add(mul(Int(3), own[Int(3)]), total([&](auto&& r_) { auto l_ = List<bool>::make(r_); auto t16_c = sums; for (auto&& t16_ : t16_c) { Tup<Tuple<Expr, Int>> terms = at<1>(t16_); auto t17_c = terms; for (auto&& t17_ : t17_c) { Int k = at<1>(t17_); l_.append((k < Int(0))); }} return l_; }(Room<List<bool>>())));
        own[Int(3)] = t15_;
        }
        {
          auto t18_ = add(mul(Int(3), own[Int(4)]), mul(add(common, multiples), len(args)));
        own[Int(4)] = t18_;
        }
      }
    }
    {
      auto t19_ = own;
    done.set(node, t19_);
    }
  }
  }
  return done.at_(Expr(e));
}

inline List<Proposal> _scaled(List<Tuple<Expr, Int, Int>> cs, bool negative) {
  Expr e{};
  Int lo{};
  Int hi{};
  Int const_{};
  Tup<Tuple<Expr, Int>> terms{};
  Int g{};
  {
    auto t1_ = cs[Int(0)];
  e = at<0>(t1_);
  lo = at<1>(t1_);
  hi = at<2>(t1_);
  }
  {
    auto t2_ = functions::summands(e);
  const_ = at<0>(t2_);
  terms = at<1>(t2_);
  }
  if ((truthy(const_) || !truthy(terms))) {
    return List<Proposal>::of({});
  }
  g = Gcd().all([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t3_c = terms; for (auto&& t3_ : t3_c) { Int k = at<1>(t3_); l_.append(k); } return l_; }(Room<List<Int>>())).g;
  if (truthy(negative)) {
    if (truthy(functions::upright(terms))) {
      return List<Proposal>::of({});
    }
    g = neg(g);
  } else {
    if ((g == Int(1))) {
      return List<Proposal>::of({});
    }
  }
  return List<Proposal>::of({[&] { Proposal p_; p_.e_x = functions::linear(Int(0), [&](auto&& r_) { auto l_ = List<Tuple<Expr, Int>>::make(r_); auto t4_c = terms; for (auto&& t4_ : t4_c) { Expr t = at<0>(t4_); Int k = at<1>(t4_); l_.append(mk(t, floor_div(k, g))); } return l_; }(Room<List<Tuple<Expr, Int>>>())); p_.n_k = g; p_.n_lo = lo; p_.n_hi = hi; return p_; }()});
}

inline List<Proposal> content(List<Tuple<Expr, Int, Int>> cs, Engine* ends) {
  return functions::_scaled(cs, false);
}

inline List<Proposal> negative_content(List<Tuple<Expr, Int, Int>> cs, Engine* ends) {
  return functions::_scaled(cs, true);
}

inline List<Proposal> whole_range(List<Tuple<Expr, Int, Int>> cs, Engine* ends) {
  Expr x{};
  Int lo{};
  Int hi{};
  Int a{};
  Int b{};
  {
    auto t1_ = cs[Int(0)];
  x = at<0>(t1_);
  lo = at<1>(t1_);
  hi = at<2>(t1_);
  }
  {
    auto t2_ = ends->ends(x);
  a = at<0>(t2_);
  b = at<1>(t2_);
  }
  if ((!true || !true)) {
    return List<Proposal>::of({});
  }
  return List<Proposal>::of({[&] { Proposal p_; p_.e_x = x; p_.n_lo = lo; p_.n_hi = hi; p_.n_a = a; p_.n_b = b; return p_; }()});
}

inline List<Proposal> both_ranges(List<Tuple<Expr, Int, Int>> cs, Engine* ends) {
  Expr e{};
  Int lo{};
  Int hi{};
  Int least_{};
  Int most_{};
  Expr x{};
  Expr y{};
  Int b{};
  Int d{};
  Int a{};
  Int c{};
  {
    auto t1_ = cs[Int(0)];
  e = at<0>(t1_);
  lo = at<1>(t1_);
  hi = at<2>(t1_);
  }
  if (!truthy((e->tag == tag::Min || e->tag == tag::Max))) {
    return List<Proposal>::of({});
  }
  {
    auto t2_ = ends->ends(e);
  least_ = at<0>(t2_);
  most_ = at<1>(t2_);
  }
  x = e->args[Int(0)];
  if (((e->tag == tag::Min) && (most_ <= hi))) {
    y = functions::minimum(slice(e->args, Int(1), TO_END));
    {
      auto t3_ = at<1>(ends->ends(x));
      auto t4_ = at<1>(ends->ends(y));
    b = t3_;
    d = t4_;
    }
    if ((true && true)) {
      return List<Proposal>::of({[&] { Proposal p_; p_.e_x = x; p_.e_y = y; p_.n_lo = lo; p_.n_hi = hi; p_.n_b = b; p_.n_d = d; return p_; }()});
    }
  }
  if (((e->tag == tag::Max) && (lo <= least_))) {
    y = functions::maximum(slice(e->args, Int(1), TO_END));
    {
      auto t5_ = at<0>(ends->ends(x));
      auto t6_ = at<0>(ends->ends(y));
    a = t5_;
    c = t6_;
    }
    if ((true && true)) {
      return List<Proposal>::of({[&] { Proposal p_; p_.e_x = x; p_.e_y = y; p_.n_lo = lo; p_.n_hi = hi; p_.n_a = a; p_.n_c = c; return p_; }()});
    }
  }
  return List<Proposal>::of({});
}

inline Opt<Tuple<Expr, Int, Int, Int, Int>> residue_of(Expr e, Int s) {
  Int m{};
  Int const_{};
  Tup<Tuple<Expr, Int>> terms{};
  Int u{};
  Int v{};
  Int t{};
  Expr y{};
  if (((e->b->tag != tag::Int) || ((e->b->value <= Int(0)) || !((Int(0) <= s) && (s < e->b->value))))) {
    return none;
  }
  m = e->b->value;
  {
    auto t1_ = functions::summands(e->a);
  const_ = at<0>(t1_);
  terms = at<1>(t1_);
  }
  if (!truthy(terms)) {
    return none;
  }
  {
    auto t2_ = Int(1);
  u = t2_;
  v = t2_;
  }
  t = floor_mod(sub(s, const_), m);
  y = (truthy(const_) ? Expr(functions::linear(Int(0), List<Tuple<Expr, Int>>::from(terms))) : Expr(e->a));
  if (((len(terms) == Int(1)) && ((at<1>(at<0>(terms)) != Int(1)) && (Gcd().one(at<1>(at<0>(terms))).one(m).g == Int(1))))) {
    {
      auto t3_ = at<0>(at<0>(terms));
      auto t4_ = at<1>(at<0>(terms));
    y = t3_;
    v = t4_;
    }
    u = inverse(v, m);
    t = floor_mod(mul(t, u), m);
  }
  return mk(y, m, t, u, v);
}

inline List<Proposal> residue(List<Tuple<Expr, Int, Int>> cs, Engine* ends) {
  Expr e{};
  Int lo{};
  Int hi{};
  Opt<Tuple<Expr, Int, Int, Int, Int>> found{};
  Expr y{};
  Int m{};
  Int t{};
  Int u{};
  Int v{};
  {
    auto t1_ = cs[Int(0)];
  e = at<0>(t1_);
  lo = at<1>(t1_);
  hi = at<2>(t1_);
  }
  if (((lo != hi) || (e->tag != tag::Mod))) {
    return List<Proposal>::of({});
  }
  found = functions::residue_of(e, lo);
  if ((isnone(found) || (at<0>(some(found)) == e->a))) {
    return List<Proposal>::of({});
  }
  {
    auto t2_ = some(found);
  y = at<0>(t2_);
  m = at<1>(t2_);
  t = at<2>(t2_);
  u = at<3>(t2_);
  v = at<4>(t2_);
  }
  return List<Proposal>::of({[&] { Proposal p_; p_.e_x = e->a; p_.e_y = y; p_.n_m = m; p_.n_s = lo; p_.n_t = t; p_.n_u = u; p_.n_v = v; return p_; }()});
}

inline Proposal shifted_remainder(Tuple<Expr, Int, Int> c, Expr y) {
  Expr e{};
  Int s{};
  {
    auto t1_ = c;
  e = at<0>(t1_);
  s = at<1>(t1_);
  }
  return [&] { Proposal p_; p_.e_y = y; p_.n_t = floor_mod(add(sub(s, at<0>(functions::summands(e->a))), at<0>(functions::summands(y))), e->b->value); p_.n_u = Int(1); p_.n_v = Int(1); return p_; }();
}

inline Opt<Tuple<Expr, Int, Int, Int, Int>> _remainders(List<Tuple<Expr, Int, Int>> cs) {
  Expr e{};
  Int s{};
  Int s_{};
  Expr f{};
  Int t{};
  Int t_{};
  {
    auto t1_ = cs[Int(0)];
  e = at<0>(t1_);
  s = at<1>(t1_);
  s_ = at<2>(t1_);
  }
  {
    auto t2_ = cs[Int(1)];
  f = at<0>(t2_);
  t = at<1>(t2_);
  t_ = at<2>(t2_);
  }
  if (((e->tag != tag::Mod) || ((f->tag != tag::Mod) || ((e->a != f->a) || ((s != s_) || (t != t_)))))) {
    return none;
  }
  if (((e->b->tag != tag::Int) || (f->b->tag != tag::Int))) {
    return none;
  }
  return mk(e->a, e->b->value, s, f->b->value, t);
}

inline Opt<Tuple<Int, Int, Int, Int, Int, Int>> _least_common_multiple(Int m, Int s, Int n, Int t) {
  Int g{};
  Int a{};
  Int b{};
  Int u{};
  Int v{};
  Int w{};
  if (((m <= Int(0)) || (n <= Int(0)))) {
    return none;
  }
  g = Gcd().one(m).one(n).g;
  if ((truthy(floor_mod(sub(s, t), g)) || (!((Int(0) <= s) && (s < m)) || !((Int(0) <= t) && (t < n))))) {
    return none;
  }
  {
    auto t1_ = floor_div(n, g);
    auto t2_ = floor_div(m, g);
  a = t1_;
  b = t2_;
  }
  u = ((b > Int(1)) ? Int(inverse(a, b)) : Int(Int(0)));
  v = floor_div(sub(Int(1), mul(u, a)), b);
  w = floor_mod(add(s, mul(m, ((a > Int(1)) ? Int(floor_mod(mul(floor_div(sub(t, s), g), inverse(b, a)), a)) : Int(Int(0))))), mul(m, a));
  return mk(mul(m, a), w, a, b, u, v);
}

inline List<Proposal> common_multiple(List<Tuple<Expr, Int, Int>> cs, Engine* ends) {
  Opt<Tuple<Expr, Int, Int, Int, Int>> found{};
  Expr x{};
  Int m{};
  Int s{};
  Int n{};
  Int t{};
  Opt<Tuple<Int, Int, Int, Int, Int, Int>> chosen{};
  Int k{};
  Int w{};
  Int a{};
  Int b{};
  Int u{};
  Int v{};
  found = functions::_remainders(cs);
  if (isnone(found)) {
    return List<Proposal>::of({});
  }
  {
    auto t1_ = some(found);
  x = at<0>(t1_);
  m = at<1>(t1_);
  s = at<2>(t1_);
  n = at<3>(t1_);
  t = at<4>(t1_);
  }
  chosen = functions::_least_common_multiple(m, s, n, t);
  if (isnone(chosen)) {
    return List<Proposal>::of({});
  }
  {
    auto t2_ = some(chosen);
  k = at<0>(t2_);
  w = at<1>(t2_);
  a = at<2>(t2_);
  b = at<3>(t2_);
  u = at<4>(t2_);
  v = at<5>(t2_);
  }
  return List<Proposal>::of({[&] { Proposal p_; p_.e_x = x; p_.n_m = m; p_.n_s = s; p_.n_n = n; p_.n_t = t; p_.n_k = k; p_.n_w = w; p_.n_a = a; p_.n_b = b; p_.n_u = u; p_.n_v = v; return p_; }()});
}

inline List<Proposal> greatest_common_divisor(List<Tuple<Expr, Int, Int>> cs, Engine* ends) {
  Opt<Tuple<Expr, Int, Int, Int, Int>> found{};
  Expr x{};
  Int m{};
  Int s{};
  Int n{};
  Int t{};
  found = functions::_remainders(cs);
  if (isnone(found)) {
    return List<Proposal>::of({});
  }
  {
    auto t1_ = some(found);
  x = at<0>(t1_);
  m = at<1>(t1_);
  s = at<2>(t1_);
  n = at<3>(t1_);
  t = at<4>(t1_);
  }
  return List<Proposal>::of({[&] { Proposal p_; p_.e_x = x; p_.n_m = m; p_.n_s = s; p_.n_n = n; p_.n_t = t; p_.n_g = Gcd().one(m).one(n).g; return p_; }()});
}

inline List<Proposal> window(List<Tuple<Expr, Int, Int>> cs, Engine* ends) {
  Expr e{};
  Int s{};
  Int t{};
  Expr x{};
  Int lo{};
  Int hi{};
  Int m{};
  Int a{};
  Int b{};
  {
    auto t1_ = cs[Int(0)];
  e = at<0>(t1_);
  s = at<1>(t1_);
  t = at<2>(t1_);
  }
  {
    auto t2_ = cs[Int(1)];
  x = at<0>(t2_);
  lo = at<1>(t2_);
  hi = at<2>(t2_);
  }
  if (((e->tag != tag::Mod) || ((e->b->tag != tag::Int) || (e->b->value <= Int(0))))) {
    return List<Proposal>::of({});
  }
  m = e->b->value;
  a = ((floor_mod(sub(lo, s), m) > sub(t, s)) ? Int(floor_mod(sub(s, lo), m)) : Int(Int(0)));
  b = ((floor_mod(sub(hi, s), m) > sub(t, s)) ? Int(floor_mod(sub(hi, t), m)) : Int(Int(0)));
  return List<Proposal>::of({[&] { Proposal p_; p_.e_x = x; p_.n_m = m; p_.n_s = s; p_.n_t = t; p_.n_lo = lo; p_.n_hi = hi; p_.n_a = a; p_.n_b = b; return p_; }()});
}

inline List<Proposal> summand(List<Tuple<Expr, Int, Int>> cs, Engine* ends) {
  return functions::_others(cs, at<0>(cs[Int(1)]), Int(0), ends);
}

inline List<Proposal> _others(List<Tuple<Expr, Int, Int>> cs, Expr x, Int d, Engine* ends) {
  Expr e{};
  Int lo{};
  Int hi{};
  Expr y{};
  Int a{};
  Int b{};
  Int const_{};
  Tup<Tuple<Expr, Int>> terms{};
  List<Proposal> found{};
  Expr t{};
  Int k{};
  Expr r{};
  Int p{};
  Int q{};
  Int s{};
  Int o{};
  {
    auto t1_ = cs[Int(0)];
  e = at<0>(t1_);
  lo = at<1>(t1_);
  hi = at<2>(t1_);
  }
  {
    auto t2_ = cs[Int(1)];
  y = at<0>(t2_);
  a = at<1>(t2_);
  b = at<2>(t2_);
  }
  {
    auto t3_ = functions::summands(e);
  const_ = at<0>(t3_);
  terms = at<1>(t3_);
  }
  found = List<Proposal>::of({});
  {
  auto t4_c = terms;
  for (auto&& t4_ : t4_c) {
    t = at<0>(t4_);
    k = at<1>(t4_);
    if (((t == x) && (len(terms) > Int(1)))) {
      r = functions::linear(const_, [&](auto&& r_) { auto l_ = List<Tuple<Expr, Int>>::make(r_); auto t5_c = terms; for (auto&& t5_ : t5_c) { Expr u = at<0>(t5_); Int j = at<1>(t5_); if (!((u != t))) continue; l_.append(mk(u, j)); } return l_; }(Room<List<Tuple<Expr, Int>>>()));
      {
        auto t6_ = ends->ends(r);
      p = at<0>(t6_);
      q = at<1>(t6_);
      }
      if ((true && true)) {
        {
          auto t7_ = ((k > Int(0)) ? Term(mk(sub(lo, q), sub(hi, p))) : Term(mk(sub(hi, p), sub(lo, q))));
        s = at<0>(t7_);
        o = at<1>(t7_);
        }
        found.append([&] { Proposal p_; p_.e_x = y; p_.n_d = d; p_.n_k = k; p_.e_r = r; p_.n_lo = lo; p_.n_hi = hi; p_.n_a = a; p_.n_b = b; p_.n_p = p; p_.n_q = q; p_.n_s = s; p_.n_t = o; return p_; }());
      }
    }
  }
  }
  return found;
}

inline List<Proposal> multiple_and_rest(List<Tuple<Expr, Int, Int>> cs, Engine* ends) {
  Expr e{};
  Int lo{};
  Int hi{};
  Int const_{};
  Tup<Tuple<Expr, Int>> terms{};
  List<Proposal> found{};
  Int g{};
  Expr r{};
  Int p{};
  Int q{};
  Int k{};
  Expr x{};
  {
    auto t1_ = cs[Int(0)];
  e = at<0>(t1_);
  lo = at<1>(t1_);
  hi = at<2>(t1_);
  }
  {
    auto t2_ = functions::summands(e);
  const_ = at<0>(t2_);
  terms = at<1>(t2_);
  }
  found = List<Proposal>::of({});
  {
  auto t3_c = sorted<Int>([&](auto&& r_) { auto l_ = Set<Int>::make(r_); auto t4_c = terms; for (auto&& t4_ : t4_c) { Int k = at<1>(t4_); if (!(((p_abs(k) != Int(1)) && (len(terms) > Int(1))))) continue; l_.add(p_abs(k)); } return l_; }(Room<Set<Int>>()));
  for (auto&& t3_ : t3_c) {
    g = t3_;
    r = functions::linear(const_, [&](auto&& r_) { auto l_ = List<Tuple<Expr, Int>>::make(r_); auto t5_c = terms; for (auto&& t5_ : t5_c) { Expr t = at<0>(t5_); Int k = at<1>(t5_); if (!(truthy(floor_mod(k, g)))) continue; l_.append(mk(t, k)); } return l_; }(Room<List<Tuple<Expr, Int>>>()));
    {
      auto t6_ = ends->ends(r);
    p = at<0>(t6_);
    q = at<1>(t6_);
    }
    if ((true && true)) {
      k = neg(floor_div(sub(q, lo), g));
      if ((k >= floor_div(sub(hi, p), g))) {
        x = functions::linear(Int(0), [&](auto&& r_) { auto l_ = List<Tuple<Expr, Int>>::make(r_); auto t7_c = terms; for (auto&& t7_ : t7_c) { Expr t = at<0>(t7_); Int j = at<1>(t7_); if (!(!truthy(floor_mod(j, g)))) continue; l_.append(mk(t, floor_div(j, g))); } return l_; }(Room<List<Tuple<Expr, Int>>>()));
        found.append([&] { Proposal p_; p_.e_x = x; p_.n_g = g; p_.e_r = r; p_.n_lo = lo; p_.n_hi = hi; p_.n_k = k; p_.n_p = p; p_.n_q = q; return p_; }());
      }
    }
  }
  }
  return found;
}

inline List<Proposal> dividend(List<Tuple<Expr, Int, Int>> cs, Engine* ends) {
  List<Proposal> found{};
  Expr t{};
  found = List<Proposal>::of({});
  {
  auto t1_c = at<1>(functions::summands(at<0>(cs[Int(0)])));
  for (auto&& t1_ : t1_c) {
    t = at<0>(t1_);
    if (((t->tag == tag::FloorDiv) && ((t->a == at<0>(cs[Int(1)])) && (t->b->tag == tag::Int)))) {
      found.extend(functions::_others(cs, t, t->b->value, ends));
    }
  }
  }
  return found;
}

inline bool inside(Term ends, Int lo, Int hi) {
  return ((lo <= at<0>(ends)) && (at<1>(ends) <= hi));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> summand_moves_into_bounds(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Int k{};
  Expr r{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  if ((_e0->tag != tag::Sum)) {
    return none;
  }
  k = _e0->const_;
  if (!(k != Int(0))) {
    return none;
  }
  r = functions::linear(Int(0), List<Tuple<Expr, Int>>::of({mk(_e0, Int(1)), mk(functions::integer(k), Int(-1))}, here(Room<List<Tuple<Expr, Int>>>())));
  if (_ends->record) _ends->keep(hi, k, lo, r);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(r, sub(lo, k), sub(hi, k))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> positive_factor_divides_bounds(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Opt<Int> k{};
  Expr x{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  k = _v.n_k;
  if (isnone(k)) {
    return none;
  }
  x = _v.e_x;
  if (isnone(x)) {
    return none;
  }
  if (!((Int(0) < some(k)) && (Int(1) < some(k)))) {
    return none;
  }
  if ((functions::linear(Int(0), List<Tuple<Expr, Int>>::of({mk(x, some(k))}, here(Room<List<Tuple<Expr, Int>>>()))) != _e0)) {
    return none;
  }
  if (_ends->record) _ends->keep(hi, some(k), lo, x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(x, neg(floor_div(neg(lo), some(k))), floor_div(hi, some(k)))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> negative_factor_exchanges_bounds(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Opt<Int> k{};
  Expr x{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  k = _v.n_k;
  if (isnone(k)) {
    return none;
  }
  x = _v.e_x;
  if (isnone(x)) {
    return none;
  }
  if (!(some(k) < Int(0))) {
    return none;
  }
  if ((functions::linear(Int(0), List<Tuple<Expr, Int>>::of({mk(x, some(k))}, here(Room<List<Tuple<Expr, Int>>>()))) != _e0)) {
    return none;
  }
  if (_ends->record) _ends->keep(hi, some(k), lo, x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(x, neg(floor_div(neg(hi), some(k))), floor_div(lo, some(k)))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> positive_divisor_scales_bounds(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Int d{};
  Expr x{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  if ((_e0->tag != tag::FloorDiv)) {
    return none;
  }
  if ((_e0->b->tag != tag::Int)) {
    return none;
  }
  d = _e0->b->value;
  x = _e0->a;
  if (!(Int(0) < d)) {
    return none;
  }
  if (_ends->record) _ends->keep(d, hi, lo, x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(x, mul(d, lo), sub(add(d, mul(d, hi)), Int(1)))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> minimum_from_below(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Opt<Int> b{};
  Opt<Int> d{};
  Expr x{};
  Expr y{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  b = _v.n_b;
  if (isnone(b)) {
    return none;
  }
  d = _v.n_d;
  if (isnone(d)) {
    return none;
  }
  x = _v.e_x;
  if (isnone(x)) {
    return none;
  }
  y = _v.e_y;
  if (isnone(y)) {
    return none;
  }
  if ((functions::minimum(List<Expr>::of({y, x})) != _e0)) {
    return none;
  }
  if (!(at<1>(_ends->ends(x)) <= some(b))) {
    return none;
  }
  if (!(at<1>(_ends->ends(y)) <= some(d))) {
    return none;
  }
  if (!(at<1>(_ends->ends(functions::minimum(List<Expr>::of({y, x})))) <= hi)) {
    return none;
  }
  if (_ends->record) _ends->keep(some(b), some(d), hi, lo, x, y);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(x, lo, some(b)), mk(y, lo, some(d))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> maximum_from_above(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Opt<Int> a{};
  Opt<Int> c{};
  Expr x{};
  Expr y{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  a = _v.n_a;
  if (isnone(a)) {
    return none;
  }
  c = _v.n_c;
  if (isnone(c)) {
    return none;
  }
  x = _v.e_x;
  if (isnone(x)) {
    return none;
  }
  y = _v.e_y;
  if (isnone(y)) {
    return none;
  }
  if ((functions::maximum(List<Expr>::of({y, x})) != _e0)) {
    return none;
  }
  if (!(some(a) <= at<0>(_ends->ends(x)))) {
    return none;
  }
  if (!(some(c) <= at<0>(_ends->ends(y)))) {
    return none;
  }
  if (!(lo <= at<0>(_ends->ends(functions::maximum(List<Expr>::of({y, x})))))) {
    return none;
  }
  if (_ends->record) _ends->keep(some(a), some(c), hi, lo, x, y);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(x, some(a), hi), mk(y, some(c), hi)}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> residue_is_rescaled(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int s{};
  Int m{};
  Expr x{};
  Opt<Int> t{};
  Opt<Int> u{};
  Opt<Int> v{};
  Expr y{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  s = _lo0;
  if ((s != _hi0)) {
    return none;
  }
  if ((_e0->tag != tag::Mod)) {
    return none;
  }
  if ((_e0->b->tag != tag::Int)) {
    return none;
  }
  m = _e0->b->value;
  x = _e0->a;
  t = _v.n_t;
  if (isnone(t)) {
    return none;
  }
  u = _v.n_u;
  if (isnone(u)) {
    return none;
  }
  v = _v.n_v;
  if (isnone(v)) {
    return none;
  }
  y = _v.e_y;
  if (isnone(y)) {
    return none;
  }
  if (!((Int(0) < m) && (((Int(0) <= s) && (s <= sub(m, Int(1)))) && (((Int(0) <= some(t)) && (some(t) <= sub(m, Int(1)))) && ((m != Int(0)) && (floor_mod(sub(mul(some(u), some(v)), Int(1)), m) == Int(0))))))) {
    return none;
  }
  if (!((m != Int(0)) && truthy(functions::inside(_ends->ends(functions::mod(functions::linear(neg(some(t)), List<Tuple<Expr, Int>>::of({mk(y, Int(1)), mk(functions::linear(neg(s), List<Tuple<Expr, Int>>::of({mk(x, Int(1))}, here(Room<List<Tuple<Expr, Int>>>()))), neg(some(u)))}, here(Room<List<Tuple<Expr, Int>>>()))), functions::integer(m))), Int(0), Int(0))))) {
    return none;
  }
  if (_ends->record) _ends->keep(m, s, some(t), some(u), some(v), x, y);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(functions::mod(y, functions::integer(m)), some(t), some(t))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> bounds_meet_range(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Expr x{};
  Opt<Int> a{};
  Opt<Int> b{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  x = _e0;
  a = _v.n_a;
  if (isnone(a)) {
    return none;
  }
  b = _v.n_b;
  if (isnone(b)) {
    return none;
  }
  if (!((some(a) <= some(b)) && ((lo <= some(b)) && ((some(a) <= hi) && ((lo < some(a)) || (some(b) < hi)))))) {
    return none;
  }
  if (!truthy(functions::inside(_ends->ends(x), some(a), some(b)))) {
    return none;
  }
  if (_ends->record) _ends->keep(some(a), some(b), hi, lo, x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(_e0, larger(some(a), lo), smaller(some(b), hi))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> satisfied_constraint_vanishes(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Expr x{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  x = _e0;
  if (!truthy(functions::inside(_ends->ends(x), lo, hi))) {
    return none;
  }
  if (_ends->record) _ends->keep(hi, lo, x);
  return Tup<Tuple<Expr, Int, Int>>{};
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> impossible_constraint_is_false(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Expr x{};
  Opt<Int> a{};
  Opt<Int> b{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  x = _e0;
  a = _v.n_a;
  if (isnone(a)) {
    return none;
  }
  b = _v.n_b;
  if (isnone(b)) {
    return none;
  }
  if (!((hi < some(a)) || ((some(b) < lo) || (hi < lo)))) {
    return none;
  }
  if (!truthy(functions::inside(_ends->ends(x), some(a), some(b)))) {
    return none;
  }
  if (_ends->record) _ends->keep(some(a), some(b), hi, lo, x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(functions::integer(Int(0)), Int(1), Int(1))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> multiple_and_rest_separate(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Opt<Int> g{};
  Opt<Int> k{};
  Opt<Int> p{};
  Opt<Int> q{};
  Expr x{};
  Expr r{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  g = _v.n_g;
  if (isnone(g)) {
    return none;
  }
  k = _v.n_k;
  if (isnone(k)) {
    return none;
  }
  p = _v.n_p;
  if (isnone(p)) {
    return none;
  }
  q = _v.n_q;
  if (isnone(q)) {
    return none;
  }
  x = _v.e_x;
  if (isnone(x)) {
    return none;
  }
  if (!((Int(0) < some(g)) && ((some(k) == neg(floor_div(neg(sub(lo, some(q))), some(g)))) && ((some(k) == floor_div(sub(hi, some(p)), some(g))) && (Int(1) < some(g)))))) {
    return none;
  }
  r = functions::linear(Int(0), List<Tuple<Expr, Int>>::of({mk(_e0, Int(1)), mk(functions::linear(Int(0), List<Tuple<Expr, Int>>::of({mk(x, some(g))}, here(Room<List<Tuple<Expr, Int>>>()))), Int(-1))}, here(Room<List<Tuple<Expr, Int>>>())));
  if (!truthy(functions::inside(_ends->ends(r), some(p), some(q)))) {
    return none;
  }
  if (_ends->record) _ends->keep(some(g), hi, some(k), lo, some(p), some(q), r, x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(x, some(k), some(k)), mk(r, sub(lo, mul(some(g), some(k))), sub(hi, mul(some(g), some(k))))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> multiple_and_rest_contradict(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Opt<Int> g{};
  Opt<Int> p{};
  Opt<Int> q{};
  Expr x{};
  Expr r{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  g = _v.n_g;
  if (isnone(g)) {
    return none;
  }
  p = _v.n_p;
  if (isnone(p)) {
    return none;
  }
  q = _v.n_q;
  if (isnone(q)) {
    return none;
  }
  x = _v.e_x;
  if (isnone(x)) {
    return none;
  }
  if (!((Int(0) < some(g)) && (floor_div(sub(hi, some(p)), some(g)) < neg(floor_div(neg(sub(lo, some(q))), some(g)))))) {
    return none;
  }
  r = functions::linear(Int(0), List<Tuple<Expr, Int>>::of({mk(_e0, Int(1)), mk(functions::linear(Int(0), List<Tuple<Expr, Int>>::of({mk(x, some(g))}, here(Room<List<Tuple<Expr, Int>>>()))), Int(-1))}, here(Room<List<Tuple<Expr, Int>>>())));
  if (!truthy(functions::inside(_ends->ends(r), some(p), some(q)))) {
    return none;
  }
  if (_ends->record) _ends->keep(some(g), hi, lo, some(p), some(q), r, x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(functions::integer(Int(0)), Int(1), Int(1))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> same_expression_intersects(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int a{};
  Int b{};
  Expr x{};
  Expr _e1{};
  Int _lo1{};
  Int _hi1{};
  Int c{};
  Int d{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  a = _lo0;
  b = _hi0;
  x = _e0;
  {
    auto t2_ = _cs[Int(1)];
  _e1 = at<0>(t2_);
  _lo1 = at<1>(t2_);
  _hi1 = at<2>(t2_);
  }
  c = _lo1;
  d = _hi1;
  if ((x != _e1)) {
    return none;
  }
  if (_ends->record) _ends->keep(a, b, c, d, x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(_e0, larger(a, c), smaller(b, d))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> remainders_merge(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int s{};
  Int m{};
  Expr x{};
  Expr _e1{};
  Int _lo1{};
  Int _hi1{};
  Int t{};
  Int n{};
  Opt<Int> a{};
  Opt<Int> b{};
  Opt<Int> k{};
  Opt<Int> u{};
  Opt<Int> v{};
  Opt<Int> w{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  s = _lo0;
  if ((s != _hi0)) {
    return none;
  }
  if ((_e0->tag != tag::Mod)) {
    return none;
  }
  if ((_e0->b->tag != tag::Int)) {
    return none;
  }
  m = _e0->b->value;
  x = _e0->a;
  {
    auto t2_ = _cs[Int(1)];
  _e1 = at<0>(t2_);
  _lo1 = at<1>(t2_);
  _hi1 = at<2>(t2_);
  }
  t = _lo1;
  if ((t != _hi1)) {
    return none;
  }
  if ((_e1->tag != tag::Mod)) {
    return none;
  }
  if ((_e1->b->tag != tag::Int)) {
    return none;
  }
  n = _e1->b->value;
  if ((x != _e1->a)) {
    return none;
  }
  a = _v.n_a;
  if (isnone(a)) {
    return none;
  }
  b = _v.n_b;
  if (isnone(b)) {
    return none;
  }
  k = _v.n_k;
  if (isnone(k)) {
    return none;
  }
  u = _v.n_u;
  if (isnone(u)) {
    return none;
  }
  v = _v.n_v;
  if (isnone(v)) {
    return none;
  }
  w = _v.n_w;
  if (isnone(w)) {
    return none;
  }
  if (!((Int(0) < m) && ((Int(0) < n) && ((some(k) == mul(some(a), m)) && ((some(k) == mul(some(b), n)) && ((add(mul(some(b), some(v)), mul(some(a), some(u))) == Int(1)) && ((floor_mod(some(w), m) == s) && ((floor_mod(some(w), n) == t) && ((Int(0) <= some(w)) && (some(w) <= sub(some(k), Int(1)))))))))))) {
    return none;
  }
  if (_ends->record) _ends->keep(some(a), some(b), some(k), m, n, s, t, some(u), some(v), some(w), x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(functions::mod(x, functions::integer(some(k))), some(w), some(w))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> remainders_contradict(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int s{};
  Int m{};
  Expr x{};
  Expr _e1{};
  Int _lo1{};
  Int _hi1{};
  Int t{};
  Int n{};
  Opt<Int> g{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  s = _lo0;
  if ((s != _hi0)) {
    return none;
  }
  if ((_e0->tag != tag::Mod)) {
    return none;
  }
  if ((_e0->b->tag != tag::Int)) {
    return none;
  }
  m = _e0->b->value;
  x = _e0->a;
  {
    auto t2_ = _cs[Int(1)];
  _e1 = at<0>(t2_);
  _lo1 = at<1>(t2_);
  _hi1 = at<2>(t2_);
  }
  t = _lo1;
  if ((t != _hi1)) {
    return none;
  }
  if ((_e1->tag != tag::Mod)) {
    return none;
  }
  if ((_e1->b->tag != tag::Int)) {
    return none;
  }
  n = _e1->b->value;
  if ((x != _e1->a)) {
    return none;
  }
  g = _v.n_g;
  if (isnone(g)) {
    return none;
  }
  if (!(((some(g) != Int(0)) && (floor_mod(m, some(g)) == Int(0))) && (((some(g) != Int(0)) && (floor_mod(n, some(g)) == Int(0))) && (!((some(g) != Int(0)) && (floor_mod(sub(s, t), some(g)) == Int(0))) && (some(g) != Int(0)))))) {
    return none;
  }
  if (_ends->record) _ends->keep(some(g), m, n, s, t, x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(functions::integer(Int(0)), Int(1), Int(1))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> remainder_tightens_bounds(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int s{};
  Int t{};
  Int m{};
  Expr x{};
  Expr _e1{};
  Int _lo1{};
  Int _hi1{};
  Int lo{};
  Int hi{};
  Opt<Int> a{};
  Opt<Int> b{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  s = _lo0;
  t = _hi0;
  if ((_e0->tag != tag::Mod)) {
    return none;
  }
  if ((_e0->b->tag != tag::Int)) {
    return none;
  }
  m = _e0->b->value;
  x = _e0->a;
  {
    auto t2_ = _cs[Int(1)];
  _e1 = at<0>(t2_);
  _lo1 = at<1>(t2_);
  _hi1 = at<2>(t2_);
  }
  lo = _lo1;
  hi = _hi1;
  if ((x != _e1)) {
    return none;
  }
  a = _v.n_a;
  if (isnone(a)) {
    return none;
  }
  b = _v.n_b;
  if (isnone(b)) {
    return none;
  }
  if (!((Int(0) < m) && (((some(a) == Int(0)) || ((some(a) == floor_mod(sub(s, lo), m)) && (sub(t, s) < floor_mod(sub(lo, s), m)))) && (((some(b) == Int(0)) || ((some(b) == floor_mod(sub(hi, t), m)) && (sub(t, s) < floor_mod(sub(hi, s), m)))) && ((lo <= hi) && ((s <= t) && (add(some(b), some(a)) != Int(0)))))))) {
    return none;
  }
  if (_ends->record) _ends->keep(some(a), some(b), hi, lo, m, s, t, x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(_e0, s, t), mk(_e1, add(some(a), lo), sub(hi, some(b)))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> sum_bounds_summand(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Expr _e1{};
  Int _lo1{};
  Int _hi1{};
  Int a{};
  Int b{};
  Expr x{};
  Opt<Int> k{};
  Opt<Int> p{};
  Opt<Int> q{};
  Opt<Int> s{};
  Opt<Int> t{};
  Expr r{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  {
    auto t2_ = _cs[Int(1)];
  _e1 = at<0>(t2_);
  _lo1 = at<1>(t2_);
  _hi1 = at<2>(t2_);
  }
  a = _lo1;
  b = _hi1;
  x = _e1;
  k = _v.n_k;
  if (isnone(k)) {
    return none;
  }
  p = _v.n_p;
  if (isnone(p)) {
    return none;
  }
  q = _v.n_q;
  if (isnone(q)) {
    return none;
  }
  s = _v.n_s;
  if (isnone(s)) {
    return none;
  }
  t = _v.n_t;
  if (isnone(t)) {
    return none;
  }
  if (!((((Int(0) < some(k)) && ((some(s) == sub(lo, some(q))) && (some(t) == sub(hi, some(p))))) || ((some(k) < Int(0)) && ((some(s) == sub(hi, some(p))) && (some(t) == sub(lo, some(q)))))) && ((a <= b) && ((a < neg(floor_div(neg(some(s)), some(k)))) || (floor_div(some(t), some(k)) < b))))) {
    return none;
  }
  r = functions::linear(Int(0), List<Tuple<Expr, Int>>::of({mk(_e0, Int(1)), mk(functions::linear(Int(0), List<Tuple<Expr, Int>>::of({mk(x, some(k))}, here(Room<List<Tuple<Expr, Int>>>()))), Int(-1))}, here(Room<List<Tuple<Expr, Int>>>())));
  if (!truthy(functions::inside(_ends->ends(r), some(p), some(q)))) {
    return none;
  }
  if (_ends->record) _ends->keep(a, b, hi, some(k), lo, some(p), some(q), r, some(s), some(t), x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(_e0, lo, hi), mk(_e1, larger(neg(floor_div(neg(some(s)), some(k))), a), smaller(b, floor_div(some(t), some(k))))}));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> sum_bounds_dividend(List<Tuple<Expr, Int, Int>> _cs, Engine* _ends, Proposal _v) {
  Expr _e0{};
  Int _lo0{};
  Int _hi0{};
  Int lo{};
  Int hi{};
  Expr _e1{};
  Int _lo1{};
  Int _hi1{};
  Int a{};
  Int b{};
  Expr x{};
  Opt<Int> d{};
  Opt<Int> k{};
  Opt<Int> p{};
  Opt<Int> q{};
  Opt<Int> s{};
  Opt<Int> t{};
  Expr r{};
  {
    auto t1_ = _cs[Int(0)];
  _e0 = at<0>(t1_);
  _lo0 = at<1>(t1_);
  _hi0 = at<2>(t1_);
  }
  lo = _lo0;
  hi = _hi0;
  {
    auto t2_ = _cs[Int(1)];
  _e1 = at<0>(t2_);
  _lo1 = at<1>(t2_);
  _hi1 = at<2>(t2_);
  }
  a = _lo1;
  b = _hi1;
  x = _e1;
  d = _v.n_d;
  if (isnone(d)) {
    return none;
  }
  k = _v.n_k;
  if (isnone(k)) {
    return none;
  }
  p = _v.n_p;
  if (isnone(p)) {
    return none;
  }
  q = _v.n_q;
  if (isnone(q)) {
    return none;
  }
  s = _v.n_s;
  if (isnone(s)) {
    return none;
  }
  t = _v.n_t;
  if (isnone(t)) {
    return none;
  }
  if (!((((Int(0) < some(k)) && ((some(s) == sub(lo, some(q))) && (some(t) == sub(hi, some(p))))) || ((some(k) < Int(0)) && ((some(s) == sub(hi, some(p))) && (some(t) == sub(lo, some(q)))))) && ((Int(0) < some(d)) && ((a <= b) && ((a < mul(neg(floor_div(neg(some(s)), some(k))), some(d))) || (sub(add(mul(floor_div(some(t), some(k)), some(d)), some(d)), Int(1)) < b)))))) {
    return none;
  }
  r = functions::linear(Int(0), List<Tuple<Expr, Int>>::of({mk(_e0, Int(1)), mk(functions::linear(Int(0), List<Tuple<Expr, Int>>::of({mk(functions::floordiv(x, functions::integer(some(d))), some(k))}, here(Room<List<Tuple<Expr, Int>>>()))), Int(-1))}, here(Room<List<Tuple<Expr, Int>>>())));
  if (!truthy(functions::inside(_ends->ends(r), some(p), some(q)))) {
    return none;
  }
  if (_ends->record) _ends->keep(a, b, some(d), hi, some(k), lo, some(p), some(q), r, some(s), some(t), x);
  return Tup<Tuple<Expr, Int, Int>>::from(List<Tuple<Expr, Int, Int>>::of({mk(_e0, lo, hi), mk(_e1, larger(mul(neg(floor_div(neg(some(s)), some(k))), some(d)), a), smaller(b, sub(add(mul(floor_div(some(t), some(k)), some(d)), some(d)), Int(1))))}));
}

inline Term _moved(Term box, Int sign, Int shift) {
  Int lo{};
  Int hi{};
  {
    auto t1_ = ((sign > Int(0)) ? Term(box) : Term(mk(neg(at<1>(box)), neg(at<0>(box)))));
  lo = at<0>(t1_);
  hi = at<1>(t1_);
  }
  return mk(add(lo, shift), add(hi, shift));
}

inline Term _moved_back(Tuple<Expr, Int, Int> c, Int sign, Int shift) {
  Int lo{};
  Int hi{};
  {
    auto t1_ = sub(at<1>(c), shift);
    auto t2_ = sub(at<2>(c), shift);
  lo = t1_;
  hi = t2_;
  }
  return ((sign > Int(0)) ? Term(mk(lo, hi)) : Term(mk(neg(hi), neg(lo))));
}

inline Expr _without_constant(Expr e) {
  return (((e->tag == tag::Sum) && truthy(e->const_)) ? Expr(functions::linear(Int(0), List<Tuple<Expr, Int>>::from(e->terms))) : Expr(e));
}

inline Expr _dividend(Tuple<Expr, Int, Int> c) {
  Expr e{};
  e = at<0>(c);
  return e->a;
}

inline Int _modulus(Tuple<Expr, Int, Int> c) {
  Expr e{};
  e = at<0>(c);
  return (((e->tag == tag::Mod) && (e->b->tag == tag::Int)) ? Int(e->b->value) : Int(Int(0)));
}

inline Dict<Tuple<Expr, Int>, Expr> _quotients(List<Expr> roots) {
  Dict<Tuple<Expr, Int>, Expr> found{};
  Expr node{};
  found = Dict<Tuple<Expr, Int>, Expr>::make();
  {
  auto t1_c = functions::postorder(roots);
  for (auto&& t1_ : t1_c) {
    node = t1_;
    if (((node->tag == tag::FloorDiv) && (node->b->tag == tag::Int))) {
      found.setdefault(Tuple<Expr, Int>(mk(functions::_without_constant(node->a), node->b->value)), node->a);
    }
  }
  }
  return found;
}

inline Opt<Tuple<Expr, Int, Int>> shifted_variable(Expr e) {
  Expr t{};
  Int k{};
  if ((e->tag == tag::Var)) {
    return mk(e, Int(1), Int(0));
  }
  if (((e->tag == tag::Sum) && (len(e->terms) == Int(1)))) {
    {
      auto t1_ = at<0>(e->terms);
    t = at<0>(t1_);
    k = at<1>(t1_);
    }
    if (((t->tag == tag::Var) && ((k == Int(1)) || (k == Int(-1))))) {
      return mk(t, k, e->const_);
    }
  }
  return none;
}

inline IndexingMap* _simplified(IndexingMap* m, Trace* trace, bool keep_points, Int division_weight, bool quick) {
  Int start{};
  Constraints* stage{};
  IndexingMap* after{};
  Simplifier* simplify{};
  Tup<Variable*> dims{};
  Tup<Variable*> ranges{};
  Tup<Expr> results{};
  Tup<RuntimeVariable*> rts{};
  bool same{};
  Int finished{};
  Tup<Expr> spelled_for{};
  Tup<Constraint*> constraints{};
  IndexingMap* given{};
  start = functions::length(trace);
  stage = make<Constraints>(m, trace, keep_points, division_weight, quick);
  try {
    stage->run();
  } catch (Contradiction&) {
    after = functions::_emptied(m);
    if ((after == m)) {
      functions::take_back(trace, start);
      return m;
    }
    stage->contradicted(after);
    return after;
  }
  simplify = stage->simplifier_of_results();
  {
    auto t1_ = m->dims;
    auto t2_ = m->ranges;
  dims = t1_;
  ranges = t2_;
  }
  if (truthy(stage->narrowed)) {
    {
      auto t3_ = stage->boxed(dims);
      auto t4_ = stage->boxed(ranges);
    dims = t3_;
    ranges = t4_;
    }
  }
  {
    results = Tup<Expr>::from(simplify->all(List<Expr>::from(m->results)));
  }
  rts = Tup<RuntimeVariable*>::from([&](auto&& r_) { auto l_ = List<RuntimeVariable*>::make(r_); auto t5_c = m->rts; for (auto&& t5_ : t5_c) { RuntimeVariable* v = t5_; l_.append(functions::_sourced(v, simplify)); } return l_; }(Room<List<RuntimeVariable*>>()));
  same = (!truthy(stage->narrowed) && ((results == m->results) && truthy([&] { auto t6_0 = rts; auto t6_1 = m->rts; for (Int t6_ = 0; t6_ < t6_0.size(); t6_++) { RuntimeVariable* a = t6_0[t6_]; RuntimeVariable* b = t6_1[t6_]; if (!((a == b))) return false; } return !false; }())));
  finished = functions::length(trace);
  after = m;
  for (auto&& t7_ : List<Tup<Expr>>::of({results, Tup<Expr>{}})) {
    spelled_for = t7_;
    constraints = stage->finished(List<Expr>::from(spelled_for));
    if (((constraints == m->constraints) && truthy(same))) {
      break;
    }
    after = functions::_made(dims, ranges, rts, results, constraints);
    if (truthy(functions::_no_dearer(List<Constraint*>::from(constraints), List<Constraint*>::from(m->constraints), division_weight))) {
      return after;
    }
    if ((functions::map_cost(after).weighed(division_weight) <= functions::map_cost(m).weighed(division_weight))) {
      return after;
    }
    functions::take_back(trace, finished);
  }
  if (truthy(same)) {
    functions::take_back(trace, start);
    return m;
  }
  given = functions::_made(dims, ranges, rts, results, m->constraints);
  functions::changed(trace, "given_constraints", after, given);
  if (truthy(stage->narrowed)) {
    return functions::_simplified(given, trace, keep_points, division_weight, quick);
  }
  return given;
}

inline bool _no_dearer(List<Constraint*> constraints, List<Constraint*> given, Int division_weight) {
  Set<Expr> have{};
  Room<Set<Expr>> here_have;
  Set<Tup<Tuple<Expr, Int>>> bodies{};
  Room<Set<Tup<Tuple<Expr, Int>>>> here_bodies;
  Constraint* c{};
  Expr e{};
  Expr t{};
  Int k{};
  Cost now{};
  Cost before{};
  if (!truthy(constraints)) {
    return true;
  }
  have = [&] { auto l_ = Set<Expr>::make(here_have); auto t1_c = given; for (auto&& t1_ : t1_c) { Constraint* c = t1_; l_.add(c->expr); } return l_; }();
  if (truthy(have.issuperset([&](auto&& r_) { auto l_ = List<Expr>::make(r_); auto t2_c = constraints; for (auto&& t2_ : t2_c) { Constraint* c = t2_; l_.append(c->expr); } return l_; }(Room<List<Expr>>())))) {
    return true;
  }
  bodies = Set<Tup<Tuple<Expr, Int>>>::make(here_bodies);
  {
  auto t3_c = given;
  for (auto&& t3_ : t3_c) {
    c = t3_;
    e = c->expr;
    if ((e->tag == tag::Sum)) {
      bodies.add(e->terms);
      {
        auto t4_ = e->terms[Int(0)];
      t = at<0>(t4_);
      k = at<1>(t4_);
      }
      if (((k == Int(1)) && (len(e->terms) == Int(1)))) {
        have.add(t);
      }
    }
  }
  }
  {
  auto t5_c = constraints;
  for (auto&& t5_ : t5_c) {
    c = t5_;
    e = c->expr;
    if ((!have.has(Expr(e)) && !((e->tag == tag::Sum) && (!truthy(e->const_) && bodies.has(Tup<Tuple<Expr, Int>>(e->terms)))))) {
      goto broken_6;
    }
  }
  {
    return true;
  }
  broken_6:;
  }
  {
    auto t9_ = functions::cost([&](auto&& r_) { auto l_ = List<Expr>::make(r_); auto t7_c = constraints; for (auto&& t7_ : t7_c) { Constraint* c = t7_; l_.append(c->expr); } return l_; }(Room<List<Expr>>()));
    auto t10_ = functions::cost([&](auto&& r_) { auto l_ = List<Expr>::make(r_); auto t8_c = given; for (auto&& t8_ : t8_c) { Constraint* c = t8_; l_.append(c->expr); } return l_; }(Room<List<Expr>>()));
  now = t9_;
  before = t10_;
  }
  return (now.weighed(division_weight) <= before.weighed(division_weight));
}

inline RuntimeVariable* _sourced(RuntimeVariable* v, Simplifier* simplify) {
  RuntimeSource* source{};
  Tup<Expr> results{};
  source = v->source;
  if (isnone(source)) {
    return v;
  }
  results = Tup<Expr>::from(simplify->each(List<Expr>::from(source->results)));
  return ((results == source->results) ? static_cast<RuntimeVariable*>(v) : static_cast<RuntimeVariable*>(v->indexed(results)));
}
}

inline Engine::Engine(Dict<Expr, Term> bounds, bool keep_points) {
  {
    auto t1_ = List<Int>::of({});
  this->kind = t1_;
  }
  {
    auto t2_ = List<Int>::of({});
  this->lo = t2_;
  }
  {
    auto t3_ = List<Int>::of({});
  this->hi = t3_;
  }
  {
    auto t4_ = List<Form>::of({});
  this->arg = t4_;
  }
  {
    auto t5_ = List<Int>::of({});
  this->divisor = t5_;
  }
  {
    auto t6_ = Dict<Int, Tup<Form>>::make();
  this->parts = t6_;
  }
  {
    auto t7_ = Dict<Int, Opt<Form>>::make();
  this->normals = t7_;
  }
  {
    auto t8_ = Dict<Int, Tuple<Int, Int, Int, Int, Int>>::make();
  this->sizes = t8_;
  }
  {
    auto t9_ = false;
  this->unbounded = t9_;
  }
  {
    auto t10_ = List<Expr>::of({});
  this->expr = t10_;
  }
  {
    auto t11_ = Dict<Expr, Form>::make();
  this->memo = t11_;
  }
  {
    auto t12_ = Int(0);
  this->spent = t12_;
  }
  {
    auto t13_ = Int(0);
  this->volume = t13_;
  }
  {
    auto t14_ = false;
  this->limited = t14_;
  }
  {
    auto t15_ = Int(0);
  this->written = t15_;
  }
  {
    auto t1_ = Dict<Terms, Term>::make();
  this->facts = t1_;
  }
  {
    auto t2_ = Dict<Terms, Term>::make();
  this->sums = t2_;
  }
  {
    auto t3_ = Set<Int>::make();
  this->leading = t3_;
  }
  {
    auto t4_ = Dict<Terms, Term>::make();
  this->sharp = t4_;
  }
  {
    auto t5_ = Dict<Tuple<Form, Int>, List<Term>>::make();
  this->coarse = t5_;
  }
  {
    auto t6_ = Dict<Tuple<Terms, Int>, Int>::make();
  this->exact = t6_;
  }
  {
    auto t7_ = none;
  this->index = t7_;
  }
  {
    auto t8_ = List<Int>::of({});
  this->narrower = t8_;
  }
  {
    auto t9_ = Int(0);
  this->later = t9_;
  }
  {
    auto t1_ = bounds;
  this->bounds = t1_;
  }
  {
    auto t2_ = keep_points;
  this->keep_points = t2_;
  }
  {
    auto t3_ = Dict<Expr, Form>::make();
  this->opaque = t3_;
  }
  {
    auto t4_ = Dict<Tuple<Terms, Int, Int>, Form>::make();
  this->quotients = t4_;
  }
  {
    auto t5_ = Dict<Tuple<Terms, Int, Int>, Form>::make();
  this->remainders = t5_;
  }
  {
    auto t6_ = Dict<Tuple<bool, Tup<Form>>, Form>::make();
  this->extrema = t6_;
  }
  {
    auto t7_ = Dict<Tuple<Int, Form, Int>, Int>::make();
  this->raws = t7_;
  }
  {
    auto t8_ = Dict<Tuple<Int, Tup<Form>>, Int>::make();
  this->raw_extrema = t8_;
  }
  {
    auto t9_ = Set<Tup<Tuple<Expr, Int>>>::make();
  this->bodies = t9_;
  }
  {
    auto t10_ = Int(0);
  this->level = t10_;
  }
  {
    auto t11_ = Int(0);
  this->deepest = t11_;
  }
  {
    auto t1_ = mk(Int(0), Terms(), Int(0), Int(0));
  this->left = t1_;
  }
  {
    auto t2_ = false;
  this->narrow = t2_;
  }
  {
    auto t1_ = Dict<Int, Form>::make();
  this->above = t1_;
  }
  {
    auto t2_ = Set<Term>::make();
  this->apart = t2_;
  }
}

inline Expr Engine::write(Form f) {
  Int c{};
  Terms terms{};
  List<Expr> expr{};
  List<Tuple<Expr, Int>> parts{};
  Room<List<Tuple<Expr, Int>>> here_parts;
  Int spent{};
  Int a{};
  Int k{};
  Expr e{};
  {
    auto t1_ = f;
  c = at<0>(t1_);
  terms = at<1>(t1_);
  }
  if (!truthy(terms)) {
    return functions::integer(c);
  }
  expr = this->expr;
  parts = List<Tuple<Expr, Int>>::of({}, here_parts);
  spent = ((truthy(c) || (at<1>(terms[Int(0)]) < Int(0))) ? Int(len(terms)) : Int(sub(len(terms), Int(1))));
  {
  auto t2_c = terms;
  for (auto&& t2_ : t2_c) {
    a = at<0>(t2_);
    k = at<1>(t2_);
    e = expr[a];
    if ((k != Int(1))) {
      if ((k != Int(-1))) {
        { Int v_ = Int(1); auto& r_ = spent; r_ = add(r_, v_); }
      }
    } else {
      if ((!truthy(c) && (len(terms) == Int(1)))) {
        return (isnone(e) ? Expr(this->_write(a)) : Expr(e));
      }
    }
    parts.append(mk((isnone(e) ? Expr(this->_write(a)) : Expr(e)), k));
  }
  }
  { Int v_ = spent; auto& r_ = this->written; r_ = add(r_, v_); }
  return functions::distinct_sum(c, parts);
}

inline Expr Engine::_write(Int a) {
  List<Expr> expr{};
  Set<Int> needed{};
  Room<Set<Int>> here_needed;
  List<Int> todo{};
  Room<List<Int>> here_todo;
  Form f{};
  Term t{};
  Int b{};
  Int of{};
  List<Expr> inside{};
  Expr e{};
  Expr made{};
  expr = this->expr;
  needed = Set<Int>::of({a}, here_needed);
  todo = List<Int>::of({a}, here_todo);
  while (truthy(todo)) {
    {
    auto t1_c = this->_inside(todo.pop());
    for (auto&& t1_ : t1_c) {
      f = t1_;
      {
      auto t2_c = at<1>(f);
      for (auto&& t2_ : t2_c) {
        t = t2_;
        b = at<0>(t);
        if ((isnone(expr[b]) && !needed.has(Int(b)))) {
          needed.add(b);
          todo.append(b);
        }
      }
      }
    }
    }
  }
  {
  auto t3_c = ((len(needed) > Int(1)) ? List<Int>(sorted<Int>(needed)) : List<Int>(List<Int>::of({a})));
  for (auto&& t3_ : t3_c) {
    b = t3_;
    of = this->kind[b];
    inside = [&] { auto l_ = List<Expr>::make(); auto t4_c = this->_inside(b); for (auto&& t4_ : t4_c) { Form f = t4_; l_.append(this->write(f)); } return l_; }();
    { Int v_ = add(Int(2), len(inside)); auto& r_ = this->written; r_ = add(r_, v_); }
    if ((of == Int(1))) {
      e = functions::floordiv(inside[Int(0)], this->divisor[b]);
    } else {
      if ((of == Int(2))) {
        e = functions::mod(inside[Int(0)], this->divisor[b]);
      } else {
        e = ((of == Int(3)) ? Expr(functions::minimum(inside)) : Expr(functions::maximum(inside)));
      }
    }
    {
      auto t5_ = e;
    expr[b] = t5_;
    }
    if (!this->normals.has(Int(b))) {
      this->memo.setdefault(Expr(e), mk(Int(0), terms_of(std::initializer_list<Term>{mk(b, Int(1))})));
    }
  }
  }
  made = expr[a];
  return made;
}

inline Tup<Form> Engine::_inside(Int a) {
  Int of{};
  of = this->kind[a];
  return (((of == Int(1)) || (of == Int(2))) ? Tup<Form>(Tup<Form>::from(List<Form>::of({this->arg[a]}))) : Tup<Form>(this->parts.at_(Int(a))));
}

inline Tuple<Int, Int, Int, Int, Int> Engine::size(Form f) {
  Int w{};
  Int d{};
  Int n{};
  Int b{};
  Int u{};
  Int a{};
  Opt<Tuple<Int, Int, Int, Int, Int>> s{};
  {
    auto t1_ = Int(0);
  w = t1_;
  d = t1_;
  n = t1_;
  b = t1_;
  u = t1_;
  }
  {
  auto t2_c = at<1>(f);
  for (auto&& t2_ : t2_c) {
    a = at<0>(t2_);
    s = lookup(this->sizes, Int(a));
    if (isnone(s)) {
      {
        auto t3_ = this->_size(a);
      s = t3_;
      this->sizes.set(a, t3_);
      }
    }
    { Int v_ = at<0>(some(s)); auto& r_ = w; r_ = add(r_, v_); }
    { Int v_ = at<1>(some(s)); auto& r_ = d; r_ = add(r_, v_); }
    { Int v_ = at<2>(some(s)); auto& r_ = n; r_ = add(r_, v_); }
    { Int v_ = at<3>(some(s)); auto& r_ = b; r_ = add(r_, v_); }
    { Int v_ = at<4>(some(s)); auto& r_ = u; r_ = add(r_, v_); }
  }
  }
  return mk(w, d, n, b, u);
}

inline Tuple<Int, Int, Int, Int, Int> Engine::size_of_division(Int of, Form x, Int by) {
  Int w{};
  Int d{};
  Int n{};
  Int b{};
  Int u{};
  Int backwards{};
  Int excess{};
  {
    auto t1_ = this->size(x);
  w = at<0>(t1_);
  d = at<1>(t1_);
  n = at<2>(t1_);
  b = at<3>(t1_);
  u = at<4>(t1_);
  }
  backwards = total([&](auto&& r_) { auto l_ = List<bool>::make(r_); auto t2_c = at<1>(x); for (auto&& t2_ : t2_c) { Int k = at<1>(t2_); l_.append((k < Int(0))); } return l_; }(Room<List<bool>>()));
  excess = ((truthy(at<0>(x)) && truthy(floor_div(at<0>(x), by))) ? Int(Int(1)) : Int(Int(0)));
  return mk(add(mul(Int(3), w), ((of == Int(1)) ? Int(Int(1)) : Int(Int(2)))), add(d, by), n, add(mul(Int(3), b), backwards), add(mul(Int(3), u), excess));
}

inline Tuple<Int, Int, Int, Int, Int> Engine::size_of_extremum(Tup<Form> parts) {
  Int w{};
  Int d{};
  Int n{};
  Int b{};
  Int u{};
  bool common{};
  bool multiples{};
  Int backwards{};
  {
    auto t1_ = this->added([&](auto&& r_) { auto l_ = List<Tuple<Int, Int, Int, Int, Int>>::make(r_); auto t2_c = parts; for (auto&& t2_ : t2_c) { Form x = t2_; l_.append(this->size(x)); } return l_; }(Room<List<Tuple<Int, Int, Int, Int, Int>>>()));
  w = at<0>(t1_);
  d = at<1>(t1_);
  n = at<2>(t1_);
  b = at<3>(t1_);
  u = at<4>(t1_);
  }
  common = [&] { auto t3_c = parts; for (auto&& t3_ : t3_c) { Form x = t3_; if (!(truthy(at<1>(x)))) continue; if (!(truthy(at<0>(x)))) return false; } return !false; }();
  multiples = (Gcd().all([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t4_c = parts; for (auto&& t4_ : t4_c) { Form x = t4_; l_.append(at<0>(x)); } return l_; }(Room<List<Int>>())).all([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t5_c = parts; for (auto&& t5_ : t5_c) { Form x = t5_; auto t6_c = at<1>(x); for (auto&& t6_ : t6_c) { Int k = at<1>(t6_); l_.append(k); }} return l_; }(Room<List<Int>>())).g > Int(1));
  backwards = total([&](auto&& r_) { auto l_ = List<bool>::make(r_); auto t7_c = parts; for (auto&& t7_ : t7_c) { Form x = t7_; auto t8_c = at<1>(x); for (auto&& t8_ : t8_c) { Int k = at<1>(t8_); l_.append((k < Int(0))); }} return l_; }(Room<List<bool>>()));
  return mk(sub(add(w, len(parts)), Int(1)), d, n, add(mul(Int(3), b), backwards), add(mul(Int(3), u), mul(add(common, multiples), len(parts))));
}

inline Term Engine::range(Form f) {
  Int c{};
  Terms terms{};
  Int lo{};
  Int hi{};
  {
    auto t1_ = f;
  c = at<0>(t1_);
  terms = at<1>(t1_);
  }
  {
    auto t2_ = this->_span(c, terms);
  lo = at<0>(t2_);
  hi = at<1>(t2_);
  }
  if ((truthy(this->facts) && ((len(terms) > Int(1)) && truthy(this->_spoken_of(terms))))) {
    return this->_sharper(c, terms, lo, hi);
  }
  return mk(lo, hi);
}

inline bool Engine::_spoken_of(Terms terms) {
  Set<Int> leading{};
  Term t{};
  leading = this->leading;
  {
  auto t1_c = terms;
  for (auto&& t1_ : t1_c) {
    t = t1_;
    if (leading.has(Int(at<0>(t)))) {
      return true;
    }
  }
  }
  return false;
}

inline Term Engine::_span(Int c, Terms terms) {
  List<Int> los{};
  List<Int> his{};
  Int lo{};
  Int hi{};
  Int a{};
  Int k{};
  {
    auto t1_ = this->lo;
    auto t2_ = this->hi;
  los = t1_;
  his = t2_;
  }
  {
    auto t3_ = c;
  lo = t3_;
  hi = t3_;
  }
  {
  auto t4_c = terms;
  for (auto&& t4_ : t4_c) {
    a = at<0>(t4_);
    k = at<1>(t4_);
    if ((k > Int(0))) {
      { Int v_ = mul(k, los[a]); auto& r_ = lo; r_ = add(r_, v_); }
      { Int v_ = mul(k, his[a]); auto& r_ = hi; r_ = add(r_, v_); }
    } else {
      { Int v_ = mul(k, his[a]); auto& r_ = lo; r_ = add(r_, v_); }
      { Int v_ = mul(k, los[a]); auto& r_ = hi; r_ = add(r_, v_); }
    }
  }
  }
  return mk(lo, hi);
}

inline Term Engine::_sharper(Int c, Terms terms, Int lo, Int hi) {
  Opt<Term> found{};
  found = lookup(this->sharp, Terms(terms));
  if (isnone(found)) {
    {
      auto t1_ = this->_sharpened(terms, sub(lo, c), sub(hi, c));
    found = t1_;
    this->sharp.set(terms, t1_);
    }
  }
  return mk(add(c, at<0>(some(found))), add(c, at<1>(some(found))));
}

inline Term Engine::_sharpened(Terms terms, Int lo, Int hi) {
  Opt<Term> known{};
  Dict<Int, Int> total_{};
  Room<Dict<Int, Int>> here_total;
  Int from_{};
  Int to{};
  Terms part{};
  Int low{};
  Int high{};
  Int a{};
  Int k{};
  Int n{};
  Int g{};
  Int least_{};
  Int most_{};
  known = lookup(this->facts, Terms(terms));
  if (!isnone(known)) {
    lo = larger(lo, at<0>(some(known)));
    hi = smaller(hi, at<1>(some(known)));
  }
  total_ = Dict<Int, Int>::from(terms, here_total);
  {
    auto t1_ = Int(0);
  from_ = t1_;
  to = t1_;
  }
  {
  auto t2_c = this->sums.items();
  for (auto&& t2_ : t2_c) {
    part = at<0>(t2_);
    low = at<0>(at<1>(t2_));
    high = at<1>(at<1>(t2_));
    {
      auto t3_ = part[Int(0)];
    a = at<0>(t3_);
    k = at<1>(t3_);
    }
    n = total_.get(Int(a), Int(0));
    g = floor_div(n, k);
    if ((!truthy(n) || ((mul(g, k) != n) || ((len(part) > len(total_)) || !truthy(functions::contains(total_, part, g, Int(-1))))))) {
      continue;
    }
    {
      auto t4_ = this->_span(Int(0), part);
    least_ = at<0>(t4_);
    most_ = at<1>(t4_);
    }
    if (((low <= least_) && (most_ <= high))) {
      continue;
    }
    {
    auto t5_c = part;
    for (auto&& t5_ : t5_c) {
      a = at<0>(t5_);
      total_.erase(a);
    }
    }
    low = larger(low, least_);
    high = smaller(high, most_);
    if ((g < Int(0))) {
      {
        auto t6_ = high;
        auto t7_ = low;
      low = t6_;
      high = t7_;
      }
    }
    { Int v_ = mul(g, low); auto& r_ = from_; r_ = add(r_, v_); }
    { Int v_ = mul(g, high); auto& r_ = to; r_ = add(r_, v_); }
  }
  }
  if ((len(total_) < len(terms))) {
    {
      auto t8_ = this->_span(Int(0), terms_of(total_.items()));
    low = at<0>(t8_);
    high = at<1>(t8_);
    }
    lo = larger(lo, add(from_, low));
    hi = smaller(hi, add(to, high));
  }
  if ((len(terms) <= Int(6))) {
    total_ = Dict<Int, Int>::from(terms, here_total);
    {
    auto t9_c = this->sums.items();
    for (auto&& t9_ : t9_c) {
      part = at<0>(t9_);
      low = at<0>(at<1>(t9_));
      high = at<1>(at<1>(t9_));
      if ((len(part) <= Int(6))) {
        {
          auto t10_ = this->_in_proportion(total_, part, low, high, lo, hi);
        lo = at<0>(t10_);
        hi = at<1>(t10_);
        }
      }
    }
    }
  }
  return mk(lo, hi);
}

inline Term Engine::_in_proportion(Dict<Int, Int> total_, Terms part, Int low, Int high, Int lo, Int hi) {
  List<Term> proportions{};
  Room<List<Term>> here_proportions;
  Int shared{};
  Int a{};
  Int q{};
  Int p{};
  Int g{};
  List<Int> los{};
  List<Int> his{};
  Dict<Int, Int> others{};
  Room<Dict<Int, Int>> here_others;
  Int from_{};
  Int to{};
  Int least_{};
  Int most_{};
  Int k{};
  proportions = List<Term>::of({}, here_proportions);
  shared = Int(0);
  {
  auto t1_c = part;
  for (auto&& t1_ : t1_c) {
    a = at<0>(t1_);
    q = at<1>(t1_);
    p = total_.get(Int(a), Int(0));
    if (truthy(p)) {
      { Int v_ = Int(1); auto& r_ = shared; r_ = add(r_, v_); }
      g = Gcd().one(p).one(q).g;
      if ((q < Int(0))) {
        g = neg(g);
      }
      if (!in(mk(floor_div(p, g), floor_div(q, g)), proportions)) {
        proportions.append(mk(floor_div(p, g), floor_div(q, g)));
      }
    }
  }
  }
  if (((shared < Int(2)) || ((len(proportions) == Int(1)) && ((shared == len(part)) && (at<1>(proportions[Int(0)]) == Int(1)))))) {
    return mk(lo, hi);
  }
  {
    auto t2_ = this->lo;
    auto t3_ = this->hi;
  los = t2_;
  his = t3_;
  }
  others = Dict<Int, Int>::from(total_, here_others);
  {
  auto t4_c = part;
  for (auto&& t4_ : t4_c) {
    a = at<0>(t4_);
    others.discard(Int(a));
  }
  }
  {
    auto t5_ = (truthy(others) ? Term(this->_span(Int(0), terms_of(others.items()))) : Term(mk(Int(0), Int(0))));
  from_ = at<0>(t5_);
  to = at<1>(t5_);
  }
  {
  auto t6_c = proportions;
  for (auto&& t6_ : t6_c) {
    p = at<0>(t6_);
    q = at<1>(t6_);
    {
      auto t7_ = mul(q, from_);
      auto t8_ = mul(q, to);
    least_ = t7_;
    most_ = t8_;
    }
    {
    auto t9_c = part;
    for (auto&& t9_ : t9_c) {
      a = at<0>(t9_);
      k = at<1>(t9_);
      k = sub(mul(q, total_.get(Int(a), Int(0))), mul(p, k));
      if ((k > Int(0))) {
        { Int v_ = mul(k, los[a]); auto& r_ = least_; r_ = add(r_, v_); }
        { Int v_ = mul(k, his[a]); auto& r_ = most_; r_ = add(r_, v_); }
      } else {
        if (truthy(k)) {
          { Int v_ = mul(k, his[a]); auto& r_ = least_; r_ = add(r_, v_); }
          { Int v_ = mul(k, los[a]); auto& r_ = most_; r_ = add(r_, v_); }
        }
      }
    }
    }
    if ((p > Int(0))) {
      { Int v_ = mul(p, low); auto& r_ = least_; r_ = add(r_, v_); }
      { Int v_ = mul(p, high); auto& r_ = most_; r_ = add(r_, v_); }
    } else {
      { Int v_ = mul(p, high); auto& r_ = least_; r_ = add(r_, v_); }
      { Int v_ = mul(p, low); auto& r_ = most_; r_ = add(r_, v_); }
    }
    lo = larger(lo, neg(floor_div(neg(least_), q)));
    hi = smaller(hi, floor_div(most_, q));
  }
  }
  return mk(lo, hi);
}

inline Opt<Int> Engine::constant(Form f) {
  Int lo{};
  Int hi{};
  if (!truthy(at<1>(f))) {
    return at<0>(f);
  }
  {
    auto t1_ = this->range(f);
  lo = at<0>(t1_);
  hi = at<1>(t1_);
  }
  return ((lo == hi) ? Opt<Int>(lo) : Opt<Int>(none));
}

inline bool Engine::within(Form f, Int lo, Int hi) {
  Int low{};
  Int high{};
  {
    auto t1_ = this->range(f);
  low = at<0>(t1_);
  high = at<1>(t1_);
  }
  return ((lo <= low) && (high <= hi));
}

inline bool Engine::equal(Form x, Form y) {
  return ((x == y) || (this->constant(functions::minus(x, y, Int(1))) == Int(0)));
}

inline bool Engine::at_most(Form x, Form y) {
  Form f{};
  Int lo{};
  Int hi{};
  f = functions::minus(y, x, Int(1));
  {
    auto t1_ = this->range(f);
  lo = at<0>(t1_);
  hi = at<1>(t1_);
  }
  return ((lo >= Int(0)) || ((hi >= Int(0)) && (this->_with_one_argument(f, lo) >= Int(0))));
}

inline Int Engine::_with_one_argument(Form f, Int lo) {
  Int i{};
  Int a{};
  Int k{};
  Int t{};
  Form rest{};
  List<Int> ends{};
  Room<List<Int>> here_ends;
  {
  Int t1_i = Int(0);
  auto t1_c = at<1>(f);
  for (auto&& t1_ : t1_c) {
    i = t1_i;
    a = at<0>(t1_);
    k = at<1>(t1_);
    t1_i++;
    t = this->kind[a];
    if (((t == Int(3)) || (t == Int(4)))) {
      rest = mk(at<0>(f), concat(slice(at<1>(f), 0, i), slice(at<1>(f), add(i, Int(1)), TO_END)));
      ends = [&] { auto l_ = List<Int>::make(here_ends); auto t2_c = this->parts.at_(Int(a)); for (auto&& t2_ : t2_c) { Form p = t2_; l_.append(at<0>(this->range(functions::minus(rest, p, neg(k))))); } return l_; }();
      lo = larger(lo, (((t == Int(4)) == (k > Int(0))) ? Int(most(ends)) : Int(least(ends))));
    }
  }
  }
  return lo;
}

inline bool Engine::differ(Form x, Form y) {
  Form f{};
  Int lo{};
  Int hi{};
  Int g{};
  f = functions::minus(x, y, Int(1));
  {
    auto t1_ = this->range(f);
  lo = at<0>(t1_);
  hi = at<1>(t1_);
  }
  if (((lo > Int(0)) || (hi < Int(0)))) {
    return true;
  }
  g = Gcd().all([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t2_c = at<1>(f); for (auto&& t2_ : t2_c) { Int k = at<1>(t2_); l_.append(k); } return l_; }(Room<List<Int>>())).g;
  return (truthy(g) ? bool((floor_mod(at<0>(f), g) != Int(0))) : bool(false));
}

inline bool Engine::divides(Int d, Form f) {
  if ((!truthy(d) || truthy(floor_mod(at<0>(f), d)))) {
    return false;
  }
  return [&] { auto t1_c = at<1>(f); for (auto&& t1_ : t1_c) { Int a = at<0>(t1_); Int k = at<1>(t1_); if (!((!truthy(floor_mod(k, d)) || truthy(this->_multiple(a, k, d))))) return false; } return !false; }();
}

inline bool Engine::_multiple(Int a, Int k, Int d) {
  Int t{};
  t = this->kind[a];
  if (((t == Int(3)) || (t == Int(4)))) {
    return [&] { auto t1_c = this->parts.at_(Int(a)); for (auto&& t1_ : t1_c) { Form p = t1_; if (!(truthy(this->divides(d, functions::times(p, k))))) return false; } return !false; }();
  }
  return ((t == Int(2)) && (!truthy(floor_mod(mul(k, this->divisor[a]), d)) && truthy(this->divides(d, functions::times(this->arg[a], k)))));
}

inline Form Engine::_atom(Int kind, Form arg, Int d) {
  Int lo{};
  Int hi{};
  Int a{};
  Int found{};
  Form f{};
  {
    auto t1_ = this->_span_of_division(kind, arg, d);
  lo = at<0>(t1_);
  hi = at<1>(t1_);
  }
  if (!isnone(this->index)) {
    a = len(this->kind);
    found = this->index.setdefault(Tuple<Int, Form, Int>(mk(kind, arg, d)), a);
    if ((found != a)) {
      return this->_again(found, lo, hi);
    }
    if (truthy(this->coarse)) {
      this->_new(kind, arg, d, lo, hi);
      this->_refine(a);
      return this->_again(a, lo, hi);
    }
  }
  f = this->_new(kind, arg, d, lo, hi);
  return ((lo < hi) ? Form(f) : Form(this->settled(functions::lone(f))));
}

inline Term Engine::_span_of_division(Int kind, Form x, Int d) {
  Int lo{};
  Int hi{};
  Opt<Int> m{};
  {
    auto t1_ = this->range(x);
  lo = at<0>(t1_);
  hi = at<1>(t1_);
  }
  if ((kind == Int(1))) {
    return mk(floor_div(lo, d), floor_div(hi, d));
  }
  if ((floor_div(lo, d) == floor_div(hi, d))) {
    return mk(floor_mod(lo, d), floor_mod(hi, d));
  }
  m = this->known_remainder(x, d);
  return (isnone(m) ? Term(mk(Int(0), sub(d, Int(1)))) : Term(mk(some(m), some(m))));
}

inline Form Engine::_again(Int a, Int lo, Int hi) {
  {
    auto t1_ = larger(lo, this->lo[a]);
    auto t2_ = smaller(hi, this->hi[a]);
  lo = t1_;
  hi = t2_;
  }
  if (((lo > this->lo[a]) || (hi < this->hi[a]))) {
    {
      auto t3_ = lo;
      auto t4_ = hi;
    this->lo[a] = t3_;
    this->hi[a] = t4_;
    }
    this->narrower.append(a);
    this->sharp.clear();
  }
  return ((lo < hi) ? Form(functions::atom(a)) : Form(this->settled(a)));
}

inline Form Engine::settled(Int a) {
  Form f{};
  Form found{};
  Expr e{};
  f = functions::atom(a);
  found = this->_known(f);
  e = this->expr[a];
  if ((!isnone(e) && (found != f))) {
    {
      auto t1_ = found;
    this->memo.set(e, t1_);
    }
  }
  return found;
}

inline void Engine::_narrow(Form f, Int lo, Int hi) {
  List<Int> los{};
  List<Int> his{};
  List<Tuple<Form, Int, Int>> todo{};
  Room<List<Tuple<Form, Int, Int>>> here_todo;
  Int c{};
  Terms terms{};
  Int least_{};
  Int most_{};
  Int a{};
  Int k{};
  Int low{};
  Int high{};
  bool narrower{};
  Int d{};
  {
    auto t1_ = this->lo;
    auto t2_ = this->hi;
  los = t1_;
  his = t2_;
  }
  todo = List<Tuple<Form, Int, Int>>::of({mk(f, lo, hi)}, here_todo);
  while (truthy(todo)) {
    {
      auto t3_ = todo.pop();
    c = at<0>(at<0>(t3_));
    terms = at<1>(at<0>(t3_));
    lo = at<1>(t3_);
    hi = at<2>(t3_);
    }
    if (!truthy(terms)) {
      continue;
    }
    {
      auto t4_ = this->_know_sum(terms, sub(lo, c), sub(hi, c));
    terms = at<0>(t4_);
    lo = at<1>(t4_);
    hi = at<2>(t4_);
    }
    {
      auto t5_ = this->_span(Int(0), terms);
    least_ = at<0>(t5_);
    most_ = at<1>(t5_);
    }
    {
    auto t6_c = terms;
    for (auto&& t6_ : t6_c) {
      a = at<0>(t6_);
      k = at<1>(t6_);
      if ((k > Int(0))) {
        {
          auto t7_ = sub(lo, sub(most_, mul(k, his[a])));
          auto t8_ = sub(hi, sub(least_, mul(k, los[a])));
        low = t7_;
        high = t8_;
        }
      } else {
        {
          auto t9_ = sub(lo, sub(most_, mul(k, los[a])));
          auto t10_ = sub(hi, sub(least_, mul(k, his[a])));
        low = t9_;
        high = t10_;
        }
        {
          auto t11_ = neg(high);
          auto t12_ = neg(low);
          auto t13_ = neg(k);
        low = t11_;
        high = t12_;
        k = t13_;
        }
      }
      low = neg(floor_div(neg(low), k));
      high = floor_div(high, k);
      narrower = false;
      if (((low > los[a]) && (low > neg(constants::FAR)))) {
        {
          auto t14_ = low;
        los[a] = t14_;
        }
        narrower = true;
      }
      if (((high < his[a]) && (high < constants::FAR))) {
        {
          auto t15_ = high;
        his[a] = t15_;
        }
        narrower = true;
      }
      if (truthy(narrower)) {
        this->narrower.append(a);
        if ((this->kind[a] == Int(1))) {
          d = this->divisor[a];
          todo.append(mk(this->arg[a], mul(los[a], d), sub(add(mul(his[a], d), d), Int(1))));
        }
      }
    }
    }
  }
}

inline Tuple<Terms, Int, Int> Engine::_know_sum(Terms terms, Int lo, Int hi) {
  Int g{};
  Opt<Term> old{};
  g = Gcd().all([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t1_c = terms; for (auto&& t1_ : t1_c) { Int k = at<1>(t1_); l_.append(k); } return l_; }(Room<List<Int>>())).g;
  if ((at<1>(terms[Int(0)]) < Int(0))) {
    g = neg(g);
    {
      auto t2_ = hi;
      auto t3_ = lo;
    lo = t2_;
    hi = t3_;
    }
  }
  this->sharp.clear();
  lo = neg(floor_div(neg(lo), g));
  hi = floor_div(hi, g);
  if ((lo < neg(constants::FAR))) {
    lo = smaller(lo, neg(constants::END));
  }
  if ((hi > constants::FAR)) {
    hi = larger(hi, constants::END);
  }
  terms = terms_of([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t4_c = terms; for (auto&& t4_ : t4_c) { Int a = at<0>(t4_); Int k = at<1>(t4_); l_.append(mk(a, floor_div(k, g))); } return l_; }(Room<List<Term>>()));
  if ((len(terms) > Int(1))) {
    old = lookup(this->facts, Terms(terms));
    if (!isnone(old)) {
      {
        auto t5_ = larger(lo, at<0>(some(old)));
        auto t6_ = smaller(hi, at<1>(some(old)));
      lo = t5_;
      hi = t6_;
      }
    }
    this->leading.add(at<0>(terms[Int(0)]));
    {
      auto t7_ = mk(lo, hi);
    this->sums.set(terms, t7_);
    this->facts.set(terms, t7_);
    }
    {
      auto t8_ = mk(neg(hi), neg(lo));
    this->facts.set(terms_of([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t9_c = terms; for (auto&& t9_ : t9_c) { Int a = at<0>(t9_); Int k = at<1>(t9_); l_.append(mk(a, neg(k))); } return l_; }(Room<List<Term>>())), t8_);
    }
  }
  return mk(terms, lo, hi);
}

inline void Engine::_know_digits() {
  Set<Int> of_sums{};
  Room<Set<Int>> here_of_sums;
  Int a{};
  Int t{};
  Form x{};
  Int n{};
  Int m{};
  this->coarse.clear();
  of_sums = [&] { auto l_ = Set<Int>::make(here_of_sums); auto t1_c = this->sums; for (auto&& t1_ : t1_c) { Terms part = t1_; auto t2_c = part; for (auto&& t2_ : t2_c) { Term t = t2_; l_.add(at<0>(t)); }} return l_; }();
  {
  Int t3_i = Int(0);
  auto t3_c = this->kind;
  for (auto&& t3_ : t3_c) {
    a = t3_i;
    t = t3_;
    t3_i++;
    if (((t == Int(1)) || (t == Int(2)))) {
      {
        auto t4_ = this->_digit(a);
      x = at<0>(t4_);
      n = at<1>(t4_);
      m = at<2>(t4_);
      }
      if (((n > Int(1)) && (of_sums.has(Int(a)) || (truthy(m) && (sub(this->hi[a], this->lo[a]) < sub(floor_div(m, n), Int(1))))))) {
        this->coarse.setdefault(Tuple<Form, Int>(mk(x, m)), List<Term>::of({})).append(mk(n, a));
      }
    }
  }
  }
  if (truthy(this->coarse)) {
    {
    Int t5_i = Int(0);
    auto t5_c = this->kind;
    for (auto&& t5_ : t5_c) {
      a = t5_i;
      t = t5_;
      t5_i++;
      if (((t == Int(1)) || (t == Int(2)))) {
        this->_refine(a);
      }
    }
    }
  }
}

inline Tuple<Form, Int, Int> Engine::_digit(Int a) {
  Form x{};
  Int d{};
  Int q{};
  {
    auto t1_ = this->arg[a];
    auto t2_ = this->divisor[a];
  x = t1_;
  d = t2_;
  }
  if ((this->kind[a] == Int(1))) {
    return mk(x, d, Int(0));
  }
  q = functions::lone(x);
  if (((q >= Int(0)) && (this->kind[q] == Int(1)))) {
    { Int v_ = this->divisor[q]; auto& r_ = d; r_ = mul(r_, v_); }
    return mk(this->arg[q], this->divisor[q], d);
  }
  return mk(x, Int(1), d);
}

inline void Engine::_refine(Int a) {
  Form x{};
  Int n{};
  Int m{};
  Int coarse{};
  Int t{};
  Int g{};
  Terms part{};
  Int lo{};
  Int hi{};
  Dict<Int, Int> total_{};
  Room<Dict<Int, Int>> here_total;
  Int k{};
  {
    auto t1_ = this->_digit(a);
  x = at<0>(t1_);
  n = at<1>(t1_);
  m = at<2>(t1_);
  }
  {
  auto t2_c = lookup(this->coarse, Tuple<Form, Int>(mk(x, m)));
  if (!isnone(t2_c)) for (auto&& t2_ : t2_c) {
    coarse = at<0>(t2_);
    t = at<1>(t2_);
    g = floor_div(coarse, n);
    if (((g < Int(2)) || truthy(floor_mod(coarse, n)))) {
      continue;
    }
    {
      auto t3_ = larger(this->lo[a], mul(g, this->lo[t]));
    this->lo[a] = t3_;
    }
    {
      auto t4_ = smaller(this->hi[a], sub(add(mul(g, this->hi[t]), g), Int(1)));
    this->hi[a] = t4_;
    }
    this->narrower.append(a);
    if ((len(this->sums) > Int(64))) {
      continue;
    }
    {
    Room<List<Tuple<Terms, Term>>> t5_r;
    auto t5_c = List<Tuple<Terms, Term>>::from(this->sums.items(), t5_r);
    for (auto&& t5_ : t5_c) {
      part = at<0>(t5_);
      lo = at<0>(at<1>(t5_));
      hi = at<1>(at<1>(t5_));
      if ((len(part) > Int(6))) {
        continue;
      }
      total_ = Dict<Int, Int>::from(part, here_total);
      k = total_.pop(Int(t), Int(0));
      if ((!truthy(k) || total_.has(Int(a)))) {
        continue;
      }
      total_ = [&] { auto l_ = Dict<Int, Int>::make(); auto t6_c = total_.items(); for (auto&& t6_ : t6_c) { Int b = at<0>(t6_); Int j = at<1>(t6_); l_.set(b, mul(g, j)); } return l_; }();
      {
        auto t7_ = k;
      total_.set(a, t7_);
      }
      {
        auto t8_ = mul(g, lo);
        auto t9_ = mul(g, hi);
      lo = t8_;
      hi = t9_;
      }
      if ((k > Int(0))) {
        { Int v_ = mul(k, sub(g, Int(1))); auto& r_ = hi; r_ = add(r_, v_); }
      } else {
        { Int v_ = mul(k, sub(g, Int(1))); auto& r_ = lo; r_ = add(r_, v_); }
      }
      this->_know_sum(sorted_terms(total_.items()), lo, hi);
    }
    }
  }
  }
}

inline Opt<Int> Engine::known_remainder(Form x, Int d) {
  Int k{};
  Dict<Int, Int> left{};
  Int known{};
  if (!truthy(this->exact)) {
    {
    auto t1_c = at<1>(x);
    for (auto&& t1_ : t1_c) {
      k = at<1>(t1_);
      if (truthy(floor_mod(k, d))) {
        return none;
      }
    }
    }
    return floor_mod(at<0>(x), d);
  }
  {
    auto t2_ = this->unknown_part(x, d);
  left = at<0>(t2_);
  known = at<1>(t2_);
  }
  return (truthy(left) ? Opt<Int>(none) : Opt<Int>(((known < Int(0)) ? Opt<Int>(floor_mod(at<0>(x), d)) : Opt<Int>(known))));
}

inline Tuple<Dict<Int, Int>, Int> Engine::unknown_part(Form x, Int d) {
  Int c{};
  Terms terms{};
  Dict<Int, Int> left{};
  bool found{};
  Terms body{};
  Int n{};
  Int r{};
  Int j{};
  Int a{};
  Int k{};
  Int b{};
  Int i{};
  {
    auto t1_ = x;
  c = at<0>(t1_);
  terms = at<1>(t1_);
  }
  left = ((d > Int(1)) ? Dict<Int, Int>([&] { auto l_ = Dict<Int, Int>::make(); auto t2_c = terms; for (auto&& t2_ : t2_c) { Int a = at<0>(t2_); Int k = at<1>(t2_); if (!(truthy(floor_mod(k, d)))) continue; l_.set(a, k); } return l_; }()) : Dict<Int, Int>(Dict<Int, Int>::make()));
  found = false;
  {
  auto t3_c = this->exact.items();
  for (auto&& t3_ : t3_c) {
    body = at<0>(at<0>(t3_));
    n = at<1>(at<0>(t3_));
    r = at<1>(t3_);
    if (!truthy(left)) {
      break;
    }
    j = Int(0);
    {
    auto t4_c = body;
    for (auto&& t4_ : t4_c) {
      a = at<0>(t4_);
      k = at<1>(t4_);
      if (truthy(floor_mod(k, d))) {
        j = floor_div(left.get(Int(a), Int(0)), k);
        break;
      }
    }
    }
    if ((!truthy(j) || truthy(floor_mod(mul(j, n), d)))) {
      continue;
    }
    {
    auto t5_c = body;
    for (auto&& t5_ : t5_c) {
      b = at<0>(t5_);
      i = at<1>(t5_);
      if (truthy(floor_mod(sub(left.get(Int(b), Int(0)), mul(j, i)), d))) {
        goto broken_6;
      }
    }
    {
      {
      auto t7_c = body;
      for (auto&& t7_ : t7_c) {
        b = at<0>(t7_);
        left.discard(Int(b));
      }
      }
      { Int v_ = mul(j, r); auto& r_ = c; r_ = add(r_, v_); }
      found = true;
    }
    broken_6:;
    }
  }
  }
  return mk(left, (truthy(found) ? Int(floor_mod(c, d)) : Int(Int(-1))));
}

inline Form Engine::add_(Form x, Form y) {
  Dict<Int, Int> total_{};
  Room<Dict<Int, Int>> here_total;
  Int a{};
  Int k{};
  if (!truthy(this->exact)) {
    if (!truthy(at<1>(x))) {
      return (truthy(at<0>(x)) ? Form(mk(add(at<0>(x), at<0>(y)), at<1>(y))) : Form(y));
    }
    if (!truthy(at<1>(y))) {
      return (truthy(at<0>(y)) ? Form(mk(add(at<0>(x), at<0>(y)), at<1>(x))) : Form(x));
    }
  }
  total_ = Dict<Int, Int>::from(at<1>(x), here_total);
  {
  auto t1_c = at<1>(y);
  for (auto&& t1_ : t1_c) {
    a = at<0>(t1_);
    k = at<1>(t1_);
    if (total_.has(Int(a))) {
      { Int v_ = total_.at_(Int(a)); auto& r_ = k; r_ = add(r_, v_); }
      if (truthy(k)) {
        {
          auto t2_ = k;
        total_.set(a, t2_);
        }
      } else {
        total_.erase(a);
      }
    } else {
      {
        auto t3_ = k;
      total_.set(a, t3_);
      }
    }
  }
  }
  return this->recombine(add(at<0>(x), at<0>(y)), total_);
}

inline Form Engine::scale(Form x, Int k) {
  return functions::times(x, k);
}

inline Form Engine::shift(Form x, Int n) {
  return mk(add(at<0>(x), n), at<1>(x));
}

inline Form Engine::normal(Form x) {
  Dict<Int, Opt<Form>> normals{};
  Term t{};
  Int c{};
  Dict<Int, Int> total_{};
  Room<Dict<Int, Int>> here_total;
  Int a{};
  Int k{};
  Int n{};
  Terms terms{};
  Int b{};
  Int j{};
  normals = this->normals;
  {
  auto t1_c = at<1>(x);
  for (auto&& t1_ : t1_c) {
    t = t1_;
    if (normals.has(Int(at<0>(t)))) {
      goto broken_2;
    }
  }
  {
    return ((len(at<1>(x)) > Int(1)) ? Form(this->recombine(at<0>(x), Dict<Int, Int>::from(at<1>(x), here(Room<Dict<Int, Int>>())))) : Form(x));
  }
  broken_2:;
  }
  c = at<0>(x);
  total_ = Dict<Int, Int>::make(here_total);
  {
  auto t3_c = at<1>(x);
  for (auto&& t3_ : t3_c) {
    a = at<0>(t3_);
    k = at<1>(t3_);
    {
      auto t4_ = (normals.has(Int(a)) ? Form(this->_normal(a)) : Form(functions::atom(a)));
    n = at<0>(t4_);
    terms = at<1>(t4_);
    }
    { Int v_ = mul(k, n); auto& r_ = c; r_ = add(r_, v_); }
    {
    auto t5_c = terms;
    for (auto&& t5_ : t5_c) {
      b = at<0>(t5_);
      j = at<1>(t5_);
      j = add(total_.get(Int(b), Int(0)), mul(j, k));
      if (truthy(j)) {
        {
          auto t6_ = j;
        total_.set(b, t6_);
        }
      } else {
        total_.erase(b);
      }
    }
    }
  }
  }
  return this->recombine(c, total_);
}

inline Form Engine::_normal(Int a) {
  Opt<Form> f{};
  Int of{};
  f = this->normals.at_(Int(a));
  if (isnone(f)) {
    of = this->kind[a];
    if ((of == Int(1))) {
      f = this->floordiv(this->normal(this->arg[a]), this->divisor[a]);
    } else {
      if ((of == Int(2))) {
        f = this->mod(this->normal(this->arg[a]), this->divisor[a]);
      } else {
        f = this->extremum(of, [&](auto&& r_) { auto l_ = List<Form>::make(r_); auto t1_c = this->parts.at_(Int(a)); for (auto&& t1_ : t1_c) { Form x = t1_; l_.append(this->normal(x)); } return l_; }(Room<List<Form>>()));
      }
    }
    {
      auto t2_ = some(f);
    this->normals.set(a, t2_);
    }
  }
  return some(f);
}

inline Form Engine::floordiv(Form x, Int d) {
  Tuple<Terms, Int, Int> key{};
  Opt<Form> f{};
  key = mk(at<1>(x), at<0>(x), d);
  f = lookup(this->quotients, Tuple<Terms, Int, Int>(key));
  if (isnone(f)) {
    {
      auto t1_ = this->_divided(Int(1), x, d);
    f = t1_;
    this->quotients.set(key, t1_);
    }
  }
  return some(f);
}

inline Form Engine::mod(Form x, Int d) {
  Tuple<Terms, Int, Int> key{};
  Opt<Form> f{};
  key = mk(at<1>(x), at<0>(x), d);
  f = lookup(this->remainders, Tuple<Terms, Int, Int>(key));
  if (isnone(f)) {
    {
      auto t1_ = this->_divided(Int(2), x, d);
    f = t1_;
    this->remainders.set(key, t1_);
    }
  }
  return some(f);
}

inline Form Engine::raw(Int kind, Form x, Int d) {
  Opt<Form> f{};
  Int a{};
  Int found{};
  Int lo{};
  Int hi{};
  if ((!truthy(at<1>(x)) || (d < Int(1)))) {
    return ((kind == Int(1)) ? Form(this->floordiv(x, d)) : Form(this->mod(x, d)));
  }
  f = lookup(((kind == Int(1)) ? Dict<Tuple<Terms, Int, Int>, Form>(this->quotients) : Dict<Tuple<Terms, Int, Int>, Form>(this->remainders)), Tuple<Terms, Int, Int>(mk(at<1>(x), at<0>(x), d)));
  if (!isnone(f)) {
    a = functions::lone(some(f));
    if (((a >= Int(0)) && ((this->kind[a] == kind) && ((this->arg[a] == x) && (this->divisor[a] == d))))) {
      return some(f);
    }
  }
  found = this->raws.get(Tuple<Int, Form, Int>(mk(kind, x, d)), Int(-1));
  if ((found < Int(0))) {
    {
      auto t1_ = len(this->kind);
    found = t1_;
    this->raws.set(mk(kind, x, d), t1_);
    }
    {
      auto t2_ = this->_span_of_division(kind, x, d);
    lo = at<0>(t2_);
    hi = at<1>(t2_);
    }
    this->_new(kind, x, d, lo, hi);
    {
      auto t3_ = none;
    this->normals.set(found, t3_);
    }
  }
  return functions::atom(found);
}

inline Form Engine::raw_extremum(Int kind, Tup<Form> parts) {
  Int found{};
  found = this->raw_extrema.get(Tuple<Int, Tup<Form>>(mk(kind, parts)), Int(-1));
  if ((found < Int(0))) {
    {
      auto t1_ = len(this->kind);
    found = t1_;
    this->raw_extrema.set(mk(kind, parts), t1_);
    }
    this->joined(kind, parts);
    {
      auto t2_ = none;
    this->normals.set(found, t2_);
    }
  }
  return functions::atom(found);
}

inline Form Engine::extremum(Int kind, List<Form> forms) {
  bool least_{};
  List<Form> flat{};
  Room<List<Form>> here_flat;
  Opt<Int> literal{};
  List<Form> stack{};
  Room<List<Form>> here_stack;
  Form f{};
  Int a{};
  Int n{};
  List<Form> args{};
  Tuple<bool, Tup<Form>> key{};
  Opt<Form> found{};
  List<Term> ranges{};
  Room<List<Term>> here_ranges;
  List<Int> lows{};
  List<Int> highs{};
  Int lo{};
  Int hi{};
  least_ = (kind == Int(3));
  flat = List<Form>::of({}, here_flat);
  literal = none;
  stack = List<Form>::from(forms, here_stack);
  stack.reverse();
  while (truthy(stack)) {
    f = stack.pop();
    a = functions::lone(f);
    if (((a >= Int(0)) && (this->kind[a] == kind))) {
      stack.extend(reversed<Form>(this->parts.at_(Int(a))));
    } else {
      if (!truthy(at<1>(f))) {
        n = at<0>(f);
        if ((isnone(literal) || ((n < some(literal)) == least_))) {
          literal = n;
        }
      } else {
        flat.append(f);
      }
    }
  }
  if (!isnone(literal)) {
    flat.append(mk(some(literal), Terms()));
  }
  if (truthy(this->unbounded)) {
    {
    auto t1_c = flat;
    for (auto&& t1_ : t1_c) {
      f = t1_;
      this->_refuse_large(f, Int(0));
    }
    }
  }
  args = this->_in_pairs(kind, flat);
  if ((len(args) == Int(1))) {
    return args[Int(0)];
  }
  args.sort();
  key = mk(least_, Tup<Form>::from(args));
  found = lookup(this->extrema, Tuple<bool, Tup<Form>>(key));
  if ((!isnone(found) && isnone(this->index))) {
    return some(found);
  }
  ranges = [&] { auto l_ = List<Term>::make(here_ranges); auto t2_c = args; for (auto&& t2_ : t2_c) { Form f = t2_; l_.append(this->range(f)); } return l_; }();
  {
    auto t5_ = [&] { auto l_ = List<Int>::make(); auto t3_c = ranges; for (auto&& t3_ : t3_c) { Term r = t3_; l_.append(at<0>(r)); } return l_; }();
    auto t6_ = [&] { auto l_ = List<Int>::make(); auto t4_c = ranges; for (auto&& t4_ : t4_c) { Term r = t4_; l_.append(at<1>(r)); } return l_; }();
  lows = t5_;
  highs = t6_;
  }
  {
    auto t7_ = (truthy(least_) ? Term(mk(least(lows), least(highs))) : Term(mk(most(lows), most(highs))));
  lo = at<0>(t7_);
  hi = at<1>(t7_);
  }
  if (!isnone(found)) {
    return this->_again(functions::lone(some(found)), lo, hi);
  }
  {
    auto t8_ = this->_new(kind, constants::ZERO, Int(0), lo, hi);
  found = t8_;
  this->extrema.set(key, t8_);
  }
  {
    auto t9_ = at<1>(key);
  this->parts.set(functions::lone(some(found)), t9_);
  }
  return some(found);
}

inline Form Engine::joined(Int kind, Tup<Form> args) {
  List<Term> ranges{};
  Room<List<Term>> here_ranges;
  List<Int> lows{};
  List<Int> highs{};
  Int lo{};
  Int hi{};
  Form made{};
  if ((len(args) == Int(1))) {
    return at<0>(args);
  }
  ranges = [&] { auto l_ = List<Term>::make(here_ranges); auto t1_c = args; for (auto&& t1_ : t1_c) { Form f = t1_; l_.append(this->range(f)); } return l_; }();
  {
    auto t4_ = [&] { auto l_ = List<Int>::make(); auto t2_c = ranges; for (auto&& t2_ : t2_c) { Term r = t2_; l_.append(at<0>(r)); } return l_; }();
    auto t5_ = [&] { auto l_ = List<Int>::make(); auto t3_c = ranges; for (auto&& t3_ : t3_c) { Term r = t3_; l_.append(at<1>(r)); } return l_; }();
  lows = t4_;
  highs = t5_;
  }
  {
    auto t6_ = ((kind == Int(3)) ? Term(mk(least(lows), least(highs))) : Term(mk(most(lows), most(highs))));
  lo = at<0>(t6_);
  hi = at<1>(t6_);
  }
  made = this->_new(kind, constants::ZERO, Int(0), lo, hi);
  {
    auto t7_ = args;
  this->parts.set(functions::lone(made), t7_);
  }
  return made;
}

inline bool Engine::is_multiple(Form f, Int d) {
  return (truthy(this->divides(d, f)) || ((d > Int(0)) && (this->mod(this->normal(f), d) == constants::ZERO)));
}

inline Terms Engine::atoms(Form f, Int kind) {
  List<Int> kinds{};
  List<Term> found{};
  Room<List<Term>> here_found;
  kinds = this->kind;
  found = [&] { auto l_ = List<Term>::make(here_found); auto t1_c = at<1>(f); for (auto&& t1_ : t1_c) { Term t = t1_; if (!((kinds[at<0>(t)] == kind))) continue; l_.append(t); } return l_; }();
  if ((len(found) > Int(1))) {
    found.sort([&](const auto& x_) { return this->_rank(x_); });
  }
  return terms_of(found);
}

inline Tuple<Int, Int, Int, List<Tuple<Int, Int, Int, Int>>, Int> Engine::_rank(Term t) {
  Int a{};
  Int k{};
  Form x{};
  List<Int> kind{};
  List<Int> lo{};
  List<Int> hi{};
  List<Tuple<Int, Int, Int, Int>> inside{};
  {
    auto t1_ = t;
  a = at<0>(t1_);
  k = at<1>(t1_);
  }
  x = this->arg[a];
  {
    auto t2_ = this->kind;
    auto t3_ = this->lo;
    auto t4_ = this->hi;
  kind = t2_;
  lo = t3_;
  hi = t4_;
  }
  inside = sorted<Tuple<Int, Int, Int, Int>>([&](auto&& r_) { auto l_ = List<Tuple<Int, Int, Int, Int>>::make(r_); auto t5_c = at<1>(x); for (auto&& t5_ : t5_c) { Int b = at<0>(t5_); Int j = at<1>(t5_); l_.append(mk(j, kind[b], lo[b], hi[b])); } return l_; }(Room<List<Tuple<Int, Int, Int, Int>>>()));
  return mk(p_abs(k), this->divisor[a], neg(len(at<1>(x))), inside, at<0>(x));
}

inline bool Engine::descends(Tuple<Int, Int, Int, Int, Int> before, Tuple<Int, Int, Int, Int, Int> after) {
  return (after < before);
}

inline Int Engine::coefficient(Form f, Int a) {
  Int b{};
  Int k{};
  {
  auto t1_c = at<1>(f);
  for (auto&& t1_ : t1_c) {
    b = at<0>(t1_);
    k = at<1>(t1_);
    if ((b == a)) {
      return k;
    }
  }
  }
  return Int(0);
}

inline bool Engine::contains(Form f, Form x, Int k, Int at_) {
  Dict<Int, Int> total_{};
  Room<Dict<Int, Int>> here_total;
  Int a{};
  Int j{};
  if (!truthy(at<1>(x))) {
    return false;
  }
  total_ = Dict<Int, Int>::from(at<1>(f), here_total);
  {
  auto t1_c = at<1>(x);
  for (auto&& t1_ : t1_c) {
    a = at<0>(t1_);
    j = at<1>(t1_);
    if (((a == at_) || (total_.get(Int(a), Int(0)) != mul(k, j)))) {
      return false;
    }
  }
  }
  return true;
}

inline List<Tuple<Form, Form>> Engine::splits(Int a) {
  Tup<Form> parts{};
  Int kind{};
  {
    auto t1_ = this->parts.at_(Int(a));
    auto t2_ = this->kind[a];
  parts = t1_;
  kind = t2_;
  }
  return [&] { auto l_ = List<Tuple<Form, Form>>::make(); Int t3_i = Int(0); auto t3_c = parts; for (auto&& t3_ : t3_c) { Int i = t3_i; Form x = t3_; t3_i++; l_.append(mk(x, this->joined(kind, concat(slice(parts, 0, i), slice(parts, add(i, Int(1)), TO_END))))); } return l_; }();
}

inline List<Form> Engine::beside(Int a, Form x) {
  return (in(x, this->parts.at_(Int(a))) ? List<Form>([&] { auto l_ = List<Form>::make(); auto t1_c = this->splits(a); for (auto&& t1_ : t1_c) { Form part = at<0>(t1_); Form y = at<1>(t1_); if (!((part == x))) continue; l_.append(y); } return l_; }()) : List<Form>(List<Form>::of({})));
}

inline bool Engine::made_of(Int a, Form x, Form y) {
  return (sorted<Form>(this->parts.at_(Int(a))) == sorted<Form>(List<Form>::of({x, y})));
}

template <class Sink> inline bool Engine::propose_for_division(Int kind, Form x, Int d, Sink&& sink) {
  Int c{};
  Terms terms{};
  bool narrow{};
  Dict<Int, Int> unknown{};
  Int m{};
  List<Int> los{};
  List<Int> his{};
  Int lo{};
  Int hi{};
  Int near{};
  Int multiples{};
  bool reducible{};
  Int a{};
  Int k{};
  Int r{};
  Terms out{};
  Terms rest{};
  Int q{};
  bool facts{};
  Opt<Tuple<Int, List<Term>>> f{};
  Int n{};
  List<Int> kinds{};
  bool structured{};
  Opt<Tuple<Int, Form>> low{};
  Opt<Form> line{};
  {
    auto t1_ = x;
  c = at<0>(t1_);
  terms = at<1>(t1_);
  }
  if ((d <= Int(1))) {
    if (sink(strategy::matched{})) return true;
    return false;
  }
  if ((this->left == mk(kind, terms, c, d))) {
    narrow = this->narrow;
  } else {
    if (((kind == Int(2)) && truthy(this->exact))) {
      {
        auto t2_ = this->unknown_part(x, d);
      unknown = at<0>(t2_);
      m = at<1>(t2_);
      }
      if (((m >= Int(0)) && !truthy(unknown))) {
        return false;
      }
      if ((m >= Int(0))) {
        if (sink(strategy::known_residue{}, functions::minus(x, mk(Int(0), sorted_terms(unknown.items())), Int(1)))) return true;
      }
    }
    {
      auto t3_ = this->lo;
      auto t4_ = this->hi;
    los = t3_;
    his = t4_;
    }
    {
      auto t5_ = c;
    lo = t5_;
    hi = t5_;
    }
    {
      auto t6_ = Int(0);
    near = t6_;
    multiples = t6_;
    }
    reducible = false;
    {
    auto t7_c = terms;
    for (auto&& t7_ : t7_c) {
      a = at<0>(t7_);
      k = at<1>(t7_);
      r = floor_mod(k, d);
      if (!truthy(r)) {
        { Int v_ = Int(1); auto& r_ = multiples; r_ = add(r_, v_); }
        continue;
      }
      if ((k > Int(0))) {
        { Int v_ = mul(k, los[a]); auto& r_ = lo; r_ = add(r_, v_); }
        { Int v_ = mul(k, his[a]); auto& r_ = hi; r_ = add(r_, v_); }
        if ((add(k, k) > d)) {
          reducible = true;
        }
      } else {
        { Int v_ = mul(k, his[a]); auto& r_ = lo; r_ = add(r_, v_); }
        { Int v_ = mul(k, los[a]); auto& r_ = hi; r_ = add(r_, v_); }
        reducible = true;
      }
      { Int v_ = mul(((add(r, r) <= d) ? Int(r) : Int(sub(d, r))), sub(his[a], los[a])); auto& r_ = near; r_ = add(r_, v_); }
    }
    }
    out = Terms();
    rest = terms;
    if (truthy(multiples)) {
      out = terms_of([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t8_c = terms; for (auto&& t8_ : t8_c) { Int a = at<0>(t8_); Int k = at<1>(t8_); if (!(!truthy(floor_mod(k, d)))) continue; l_.append(mk(a, floor_div(k, d))); } return l_; }(Room<List<Term>>()));
      rest = terms_of([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t9_c = terms; for (auto&& t9_ : t9_c) { Term t = t9_; if (!(truthy(floor_mod(at<1>(t), d)))) continue; l_.append(t); } return l_; }(Room<List<Term>>()));
    }
    q = floor_div(lo, d);
    facts = false;
    if (((q != floor_div(hi, d)) && (truthy(this->facts) && ((len(rest) > Int(1)) && truthy(this->_spoken_of(rest)))))) {
      facts = true;
      {
        auto t10_ = this->range(mk(c, rest));
      lo = at<0>(t10_);
      hi = at<1>(t10_);
      }
      q = floor_div(lo, d);
    }
    if ((q == floor_div(hi, d))) {
      if (truthy(out)) {
        if (sink(strategy::coefficient_quotients{}, mk(q, out))) return true;
      } else {
        if (sink(strategy::block_of_range{}, q)) return true;
      }
    }
    narrow = (near < d);
    if ((truthy(reducible) && (truthy(narrow) || truthy(facts)))) {
      f = this->_certified(c, rest, d, facts);
      if (!isnone(f)) {
        if (sink(strategy::coefficient_quotients{}, mk(at<0>(some(f)), sorted_terms([&](auto&& r_) { auto l_ = List<Term>::make(r_); l_.extend(out); l_.extend(at<1>(some(f))); return l_; }(Room<List<Term>>()))))) return true;
      }
    }
    n = floor_div(c, d);
    if ((truthy(out) || truthy(n))) {
      {
        auto t11_ = mk(kind, rest, sub(c, mul(n, d)), d);
      this->left = t11_;
      }
      {
        auto t12_ = narrow;
      this->narrow = t12_;
      }
      if (sink(strategy::multiples{}, mk(n, out))) return true;
    }
  }
  kinds = this->kind;
  structured = [&] { auto t13_c = terms; for (auto&& t13_ : t13_c) { Int a = at<0>(t13_); if (((kinds[a] != Int(0)))) return true; } return !true; }();
  if ((truthy(structured) && (kind == Int(2)))) {
    if (sink(strategy::matched{})) return true;
  }
  low = this->_low_part(x, d);
  if (!isnone(low)) {
    if (sink(strategy::common_factor{}, at<0>(some(low)), at<1>(some(low)))) return true;
  }
  if ((truthy(structured) && (kind == Int(1)))) {
    if (sink(strategy::matched{})) return true;
  }
  if (((c == sub(d, Int(1))) && truthy([&] { auto t14_c = terms; for (auto&& t14_ : t14_c) { Int k = at<1>(t14_); if (!((k < Int(0)))) return false; } return !false; }()))) {
    if (sink(strategy::complement{})) return true;
  }
  line = (truthy(narrow) ? Opt<Form>(this->_straight(x, d)) : Opt<Form>(none));
  if (!isnone(line)) {
    if (sink(strategy::coefficient_quotients{}, some(line))) return true;
  }
  return false;
}

template <class Sink> inline bool Engine::propose_for_sum(Form f, Dict<Int, Int> total_, Sink&& sink) {
  List<Int> kind{};
  List<Tuple<Int, Int, Int>> remainders{};
  Room<List<Tuple<Int, Int, Int>>> here_remainders;
  bool structured{};
  Int a{};
  Int k{};
  Int t{};
  kind = this->kind;
  remainders = List<Tuple<Int, Int, Int>>::of({}, here_remainders);
  structured = false;
  {
  auto t1_c = total_.items();
  for (auto&& t1_ : t1_c) {
    a = at<0>(t1_);
    k = at<1>(t1_);
    t = kind[a];
    if ((t == Int(2))) {
      remainders.append(mk(p_abs(k), this->divisor[a], a));
    } else {
      if (((t == Int(3)) || ((t == Int(1)) && !truthy(floor_mod(k, this->divisor[a]))))) {
        structured = true;
      }
    }
  }
  }
  if (truthy(remainders)) {
    if (this->_digits(total_, remainders, sink)) return true;
  }
  if ((truthy(structured) && truthy(this->exact))) {
    {
    auto t2_c = this->atoms(f, Int(1));
    for (auto&& t2_ : t2_c) {
      a = at<0>(t2_);
      k = at<1>(t2_);
      if (!truthy(floor_mod(k, this->divisor[a]))) {
        if (sink(strategy::known_remainder{}, a, floor_div(k, this->divisor[a]))) return true;
      }
    }
    }
  }
  if ((truthy(structured) || truthy(remainders))) {
    if (sink(strategy::matched{})) return true;
  }
  return false;
}

template <class Sink> inline bool Engine::propose_for_extremum(Int kind, List<Form> args, Sink&& sink) {
  List<Int> constants{};
  Int c{};
  Terms terms{};
  List<Int> factors{};
  Room<List<Int>> here_factors;
  Int g{};
  constants = [&] { auto l_ = List<Int>::make(); auto t1_c = args; for (auto&& t1_ : t1_c) { Form f = t1_; if (!(truthy(at<1>(f)))) continue; l_.append(at<0>(f)); } return l_; }();
  if (truthy(all_of(constants))) {
    if (sink(strategy::common_constant{}, least(constants, [&](const auto& n) { return mk(p_abs(n), n); }))) return true;
  }
  {
    auto t2_ = args[Int(0)];
  c = at<0>(t2_);
  terms = at<1>(t2_);
  }
  factors = [&] { auto l_ = List<Int>::make(here_factors); auto t3_c = args; for (auto&& t3_ : t3_c) { Form f = t3_; auto t4_c = at<1>(f); for (auto&& t4_ : t4_c) { Int k = at<1>(t4_); l_.append(k); }} return l_; }();
  g = Gcd().all(factors).all([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t5_c = args; for (auto&& t5_ : t5_c) { Form f = t5_; l_.append(at<0>(f)); } return l_; }(Room<List<Int>>())).g;
  if ((mul(Int(2), total([&](auto&& r_) { auto l_ = List<bool>::make(r_); auto t6_c = factors; for (auto&& t6_ : t6_c) { Int k = t6_; l_.append((k < Int(0))); } return l_; }(Room<List<bool>>()))) > len(factors))) {
    g = neg(g);
  }
  if ((g != Int(1))) {
    if (sink(strategy::common_factor{}, g, mk(floor_div(c, g), terms_of([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t7_c = terms; for (auto&& t7_ : t7_c) { Int a = at<0>(t7_); Int k = at<1>(t7_); l_.append(mk(a, floor_div(k, g))); } return l_; }(Room<List<Term>>()))))) return true;
  }
  return false;
}

inline Form Engine::_read(Expr e) {
  Int t{};
  Dict<Expr, Form> memo{};
  Expr s{};
  Int c{};
  Tup<Tuple<Expr, Int>> terms{};
  Set<Tup<Tuple<Expr, Int>>> bodies{};
  Int had{};
  Dict<Int, Int> total_{};
  Int interesting{};
  List<Int> kind{};
  Expr a{};
  Int k{};
  Opt<Form> f{};
  Int n{};
  Terms ts{};
  Int b{};
  Int j{};
  Expr q{};
  Expr by{};
  Opt<Term> box{};
  Int lo{};
  Int hi{};
  Expr literal{};
  Expr of{};
  List<Form> kids{};
  Room<List<Form>> here_kids;
  Expr up{};
  Opt<Form> made{};
  t = e->tag;
  memo = this->memo;
  if ((t == tag::Sum)) {
    s = e;
    c = s->const_;
    terms = s->terms;
    if (truthy(c)) {
      { Int v_ = Int(1); auto& r_ = this->spent; r_ = add(r_, v_); }
    }
    bodies = this->bodies;
    had = len(bodies);
    bodies.add(terms);
    if ((len(bodies) > had)) {
      { Int v_ = sub(len(terms), Int(1)); auto& r_ = this->spent; r_ = add(r_, v_); }
    }
    total_ = Dict<Int, Int>::make();
    interesting = Int(0);
    kind = this->kind;
    {
    auto t1_c = terms;
    for (auto&& t1_ : t1_c) {
      a = at<0>(t1_);
      k = at<1>(t1_);
      f = lookup(memo, Expr(a));
      if (isnone(f)) {
        f = this->_read(a);
      }
      {
        auto t2_ = some(f);
      n = at<0>(t2_);
      ts = at<1>(t2_);
      }
      if (truthy(n)) {
        { Int v_ = mul(k, n); auto& r_ = c; r_ = add(r_, v_); }
      }
      {
      auto t3_c = ts;
      for (auto&& t3_ : t3_c) {
        b = at<0>(t3_);
        j = at<1>(t3_);
        if (truthy(kind[b])) {
          { Int v_ = Int(1); auto& r_ = interesting; r_ = add(r_, v_); }
        }
        if (total_.has(Int(b))) {
          j = add(total_.at_(Int(b)), mul(j, k));
          if (truthy(j)) {
            {
              auto t4_ = j;
            total_.set(b, t4_);
            }
          } else {
            total_.erase(b);
          }
        } else {
          {
            auto t5_ = mul(j, k);
          total_.set(b, t5_);
          }
        }
      }
      }
    }
    }
    if (((truthy(interesting) || truthy(this->sums)) && (len(total_) > Int(1)))) {
      f = this->recombine(c, total_);
    } else {
      f = mk(c, sorted_terms(total_.items()));
    }
  } else {
    if (((t == tag::FloorDiv) || (t == tag::Mod))) {
      { Int v_ = Int(3); auto& r_ = this->spent; r_ = add(r_, v_); }
      q = e;
      by = q->b;
      f = or_(lookup(memo, Expr(q->a)), [&] { return Form(this->_below(q->a)); });
      if ((by->tag == tag::Int)) {
        f = ((t == tag::FloorDiv) ? Opt<Form>(this->floordiv(some(f), by->value)) : Opt<Form>(this->mod(some(f), by->value)));
      } else {
        f = this->_opaque(e);
      }
    } else {
      if ((t == tag::Var)) {
        box = lookup(this->bounds, e);
        {
          auto t6_ = (isnone(box) ? Term(mk(neg(constants::END), constants::END)) : Term(mk(functions::finite(at<0>(some(box))), functions::finite(at<1>(some(box))))));
        lo = at<0>(t6_);
        hi = at<1>(t6_);
        }
        f = this->_new(Int(0), constants::ZERO, Int(0), lo, hi);
        {
          auto t7_ = e;
        this->expr[Int(-1)] = t7_;
        }
        if (((lo == hi) && !truthy(this->keep_points))) {
          f = this->settled(functions::lone(some(f)));
        }
      } else {
        if ((t == tag::Int)) {
          literal = e;
          f = mk(literal->value, Terms());
        } else {
          if (((t == tag::Min) || (t == tag::Max))) {
            of = e;
            kids = [&] { auto l_ = List<Form>::make(here_kids); auto t8_c = of->args; for (auto&& t8_ : t8_c) { Expr a = t8_; l_.append(or_(lookup(memo, Expr(a)), [&] { return Form(this->_below(a)); })); } return l_; }();
            f = this->extremum(((t == tag::Min) ? Int(Int(3)) : Int(Int(4))), kids);
          } else {
            if ((t == tag::CeilDiv)) {
              up = e;
              by = up->b;
              made = none;
              if ((by->tag == tag::Int)) {
                made = this->ceildiv(or_(lookup(memo, Expr(up->a)), [&] { return Form(this->_below(up->a)); }), by->value);
              }
              f = or_(made, [&] { return Form(this->_opaque(e)); });
            } else {
              f = this->_opaque(e);
            }
          }
        }
      }
    }
  }
  {
    auto t9_ = some(f);
  memo.set(e, t9_);
  }
  return some(f);
}

inline void Engine::know(Expr e, Int lo, Int hi, bool more) {
  Int a{};
  Int t{};
  Dict<Expr, Form> kept{};
  Expr v{};
  Form f{};
  Form x{};
  Int d{};
  this->_narrow(this->read(e), functions::finite(lo), functions::finite(hi));
  if (isnone(this->index)) {
    {
      auto t1_ = Dict<Tuple<Int, Form, Int>, Int>::make();
    this->index = t1_;
    }
    {
    Int t2_i = Int(0);
    auto t2_c = this->kind;
    for (auto&& t2_ : t2_c) {
      a = t2_i;
      t = t2_;
      t2_i++;
      if (((t == Int(1)) || (t == Int(2)))) {
        this->index.setdefault(Tuple<Int, Form, Int>(mk(t, this->arg[a], this->divisor[a])), a);
      }
    }
    }
  }
  kept = Dict<Expr, Form>::make();
  {
  auto t3_c = this->memo.items();
  for (auto&& t3_ : t3_c) {
    v = at<0>(t3_);
    f = at<1>(t3_);
    if ((v->tag == tag::Var)) {
      if ((truthy(at<1>(f)) && !truthy(this->keep_points))) {
        a = functions::lone(f);
        if ((this->lo[a] == this->hi[a])) {
          f = this->settled(a);
        }
      }
      {
        auto t4_ = f;
      kept.set(v, t4_);
      }
    }
  }
  }
  {
    auto t5_ = kept;
  this->memo = t5_;
  }
  for (Int t6_ = this->later, t6_e = len(this->kind); t6_ < t6_e; t6_++) {
    a = t6_;
    this->narrower.append(a);
  }
  {
  auto t7_c = this->narrower;
  for (auto&& t7_ : t7_c) {
    a = t7_;
    if (((this->kind[a] == Int(2)) && (this->lo[a] == this->hi[a]))) {
      {
        auto t8_ = this->arg[a];
        auto t9_ = this->divisor[a];
      x = t8_;
      d = t9_;
      }
      {
        auto t10_ = floor_mod(sub(this->lo[a], at<0>(x)), d);
      this->exact.set(mk(at<1>(x), d), t10_);
      }
    }
  }
  }
  this->narrower.clear();
  {
    auto t11_ = len(this->kind);
  this->later = t11_;
  }
  this->sharp.clear();
  this->quotients.clear();
  this->remainders.clear();
  this->forget();
  if (!truthy(more)) {
    this->_know_digits();
  }
}

inline void Engine::forget_read() {
  {
    auto t1_ = [&] { auto l_ = Dict<Expr, Form>::make(); auto t2_c = this->memo.items(); for (auto&& t2_ : t2_c) { Expr v = at<0>(t2_); Form f = at<1>(t2_); if (!((v->tag == tag::Var))) continue; l_.set(v, f); } return l_; }();
  this->memo = t1_;
  }
  {
    auto t3_ = Int(0);
  this->deepest = t3_;
  }
}

inline void Engine::forget() {
  this->above.clear();
  this->apart.clear();
}

inline Opt<Tuple<Int, List<Term>>> Engine::_certified(Int c, Terms terms, Int d, bool facts) {
  List<Int> los{};
  List<Int> his{};
  bool nearest{};
  Int lo{};
  Int hi{};
  List<Term> qs{};
  List<Term> rs{};
  Room<List<Term>> here_rs;
  bool same{};
  Int a{};
  Int k{};
  Int r{};
  Int q{};
  {
    auto t1_ = this->lo;
    auto t2_ = this->hi;
  los = t1_;
  his = t2_;
  }
  for (auto&& t3_ : List<bool>::of({true, false})) {
    nearest = t3_;
    {
      auto t4_ = c;
    lo = t4_;
    hi = t4_;
    }
    qs = List<Term>::of({});
    rs = List<Term>::of({}, here_rs);
    same = true;
    {
    auto t5_c = terms;
    for (auto&& t5_ : t5_c) {
      a = at<0>(t5_);
      k = at<1>(t5_);
      r = floor_mod(k, d);
      if ((truthy(nearest) && (add(r, r) > d))) {
        { Int v_ = d; auto& r_ = r; r_ = sub(r_, v_); }
        same = false;
      }
      if ((r != k)) {
        qs.append(mk(a, floor_div(sub(k, r), d)));
        if (!truthy(r)) {
          continue;
        }
      }
      if (truthy(facts)) {
        rs.append(mk(a, r));
      }
      if ((r > Int(0))) {
        { Int v_ = mul(r, los[a]); auto& r_ = lo; r_ = add(r_, v_); }
        { Int v_ = mul(r, his[a]); auto& r_ = hi; r_ = add(r_, v_); }
      } else {
        { Int v_ = mul(r, his[a]); auto& r_ = lo; r_ = add(r_, v_); }
        { Int v_ = mul(r, los[a]); auto& r_ = hi; r_ = add(r_, v_); }
      }
    }
    }
    if (truthy(qs)) {
      q = floor_div(lo, d);
      if ((q == floor_div(hi, d))) {
        return mk(q, qs);
      }
      if ((truthy(facts) && (len(rs) > Int(1)))) {
        {
          auto t6_ = this->range(mk(c, terms_of(rs)));
        lo = at<0>(t6_);
        hi = at<1>(t6_);
        }
        q = floor_div(lo, d);
        if ((q == floor_div(hi, d))) {
          return mk(q, qs);
        }
      }
    }
    if (truthy(same)) {
      break;
    }
  }
  return none;
}

inline Opt<Form> Engine::_straight(Form x, Int d) {
  List<Int> los{};
  List<Int> his{};
  List<Term> pairs{};
  Room<List<Term>> here_pairs;
  List<Term> others{};
  Room<List<Term>> here_others;
  List<Term> rest{};
  Room<List<Term>> here_rest;
  Term t{};
  Int a{};
  Int k{};
  Int r{};
  Int lo{};
  Int hi{};
  Int choice{};
  Int low{};
  Int high{};
  List<Term> qs{};
  Room<List<Term>> here_qs;
  Int q{};
  {
    auto t1_ = this->lo;
    auto t2_ = this->hi;
  los = t1_;
  his = t2_;
  }
  if (truthy([&] { auto t3_c = at<1>(x); for (auto&& t3_ : t3_c) { Int a = at<0>(t3_); if (!((sub(his[a], los[a]) != Int(1)))) return false; } return !false; }())) {
    return none;
  }
  pairs = List<Term>::of({}, here_pairs);
  others = List<Term>::of({}, here_others);
  rest = List<Term>::of({}, here_rest);
  {
  auto t4_c = at<1>(x);
  for (auto&& t4_ : t4_c) {
    t = t4_;
    {
      auto t5_ = t;
    a = at<0>(t5_);
    k = at<1>(t5_);
    }
    if (((sub(his[a], los[a]) == Int(1)) && (len(pairs) < Int(3)))) {
      pairs.append(t);
      continue;
    }
    r = floor_mod(k, d);
    if ((add(r, r) > d)) {
      { Int v_ = d; auto& r_ = r; r_ = sub(r_, v_); }
    }
    others.append(mk(a, r));
    if ((r != k)) {
      rest.append(mk(a, floor_div(sub(k, r), d)));
    }
  }
  }
  {
    auto t6_ = this->_span(at<0>(x), terms_of(others));
  lo = at<0>(t6_);
  hi = at<1>(t6_);
  }
  if ((sub(hi, lo) >= d)) {
    return none;
  }
  for (Int t7_ = Int(0), t7_e = (Int(1) << len(pairs)); t7_ < t7_e; t7_++) {
    choice = t7_;
    {
      auto t8_ = lo;
      auto t9_ = hi;
    low = t8_;
    high = t9_;
    }
    qs = List<Term>::from(rest, here_qs);
    {
    auto t10_c = pairs;
    for (auto&& t10_ : t10_c) {
      a = at<0>(t10_);
      k = at<1>(t10_);
      r = floor_mod(k, d);
      if (truthy((choice & Int(1)))) {
        { Int v_ = d; auto& r_ = r; r_ = sub(r_, v_); }
        { Int v_ = mul(r, his[a]); auto& r_ = low; r_ = add(r_, v_); }
        { Int v_ = mul(r, los[a]); auto& r_ = high; r_ = add(r_, v_); }
      } else {
        { Int v_ = mul(r, los[a]); auto& r_ = low; r_ = add(r_, v_); }
        { Int v_ = mul(r, his[a]); auto& r_ = high; r_ = add(r_, v_); }
      }
      { Int v_ = Int(1); auto& r_ = choice; r_ = (r_ >> v_); }
      if ((r != k)) {
        qs.append(mk(a, floor_div(sub(k, r), d)));
      }
    }
    }
    q = floor_div(low, d);
    if ((q == floor_div(high, d))) {
      return mk(q, sorted_terms(qs));
    }
  }
  return none;
}

inline Opt<Tuple<Int, Form>> Engine::_low_part(Form x, Int d) {
  List<Int> los{};
  List<Int> his{};
  Int c{};
  Terms terms{};
  Int k{};
  Int g{};
  Int n{};
  Int largest{};
  Int smallest{};
  Int first{};
  Int last{};
  Int a{};
  bool facts{};
  List<Term> ordered{};
  List<Int> gs{};
  Room<List<Int>> here_gs;
  Int i{};
  Int lo{};
  Int hi{};
  Int m{};
  bool room{};
  Int low{};
  Int high{};
  {
    auto t1_ = this->lo;
    auto t2_ = this->hi;
  los = t1_;
  his = t2_;
  }
  {
    auto t3_ = x;
  c = at<0>(t3_);
  terms = at<1>(t3_);
  }
  if ((len(terms) == Int(1))) {
    k = at<1>(at<0>(terms));
    g = ((k == Int(1)) ? Int(Int(1)) : Int(Gcd().one(d).one(k).g));
    if ((g == Int(1))) {
      return none;
    }
    n = floor_div(c, g);
    return mk(g, mk(n, terms_of(std::initializer_list<Term>{mk(at<0>(at<0>(terms)), floor_div(k, g))})));
  }
  {
    auto t4_ = Int(0);
  largest = t4_;
  smallest = t4_;
  }
  {
    auto t5_ = Int(-1);
  first = t5_;
  last = t5_;
  }
  {
  auto t6_c = terms;
  for (auto&& t6_ : t6_c) {
    a = at<0>(t6_);
    k = at<1>(t6_);
    if ((k < Int(0))) {
      k = neg(k);
    }
    if ((k > largest)) {
      {
        auto t7_ = k;
        auto t8_ = a;
      largest = t7_;
      first = t8_;
      }
    }
    if ((!truthy(smallest) || (k <= smallest))) {
      {
        auto t9_ = k;
        auto t10_ = a;
      smallest = t9_;
      last = t10_;
      }
    }
  }
  }
  g = Gcd().one(d).one(largest).g;
  if ((g == Int(1))) {
    return none;
  }
  facts = (truthy(truthy(this->facts)) && truthy(this->_spoken_of(terms)));
  if (((mul(smallest, sub(his[last], los[last])) >= g) && (((smallest == Int(1)) || (Gcd().one(g).one(smallest).g == Int(1))) && !truthy(facts)))) {
    return none;
  }
  if ((len(terms) > Int(2))) {
    ordered = sorted<Term>(terms, functions::magnitude);
  } else {
    ordered = List<Term>::from(terms);
    if ((first != at<0>(terms[Int(0)]))) {
      ordered.reverse();
    }
  }
  gs = List<Int>::of({g}, here_gs);
  {
  auto t11_c = slice(ordered, Int(1), TO_END);
  for (auto&& t11_ : t11_c) {
    k = at<1>(t11_);
    if ((k == Int(1))) {
      break;
    }
    g = Gcd().one(g).one(k).g;
    if ((g == Int(1))) {
      break;
    }
    gs.append(g);
  }
  }
  i = len(gs);
  {
    auto t12_ = Int(0);
  lo = t12_;
  hi = t12_;
  }
  {
  auto t13_c = slice(ordered, i, TO_END);
  for (auto&& t13_ : t13_c) {
    a = at<0>(t13_);
    k = at<1>(t13_);
    if ((k > Int(0))) {
      { Int v_ = mul(k, los[a]); auto& r_ = lo; r_ = add(r_, v_); }
      { Int v_ = mul(k, his[a]); auto& r_ = hi; r_ = add(r_, v_); }
    } else {
      { Int v_ = mul(k, his[a]); auto& r_ = lo; r_ = add(r_, v_); }
      { Int v_ = mul(k, los[a]); auto& r_ = hi; r_ = add(r_, v_); }
    }
  }
  }
  while (truthy(i)) {
    g = gs[sub(i, Int(1))];
    m = floor_div(add(c, lo), g);
    room = (m == floor_div(add(c, hi), g));
    if ((truthy(facts) && (!truthy(room) && (sub(len(ordered), i) > Int(1))))) {
      {
        auto t14_ = this->range(mk(c, sorted_terms(slice(ordered, i, TO_END))));
      low = at<0>(t14_);
      high = at<1>(t14_);
      }
      m = floor_div(low, g);
      room = (m == floor_div(high, g));
    }
    if (truthy(room)) {
      return mk(g, mk(m, sorted_terms([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t15_c = slice(ordered, 0, i); for (auto&& t15_ : t15_c) { Int a = at<0>(t15_); Int k = at<1>(t15_); l_.append(mk(a, floor_div(k, g))); } return l_; }(Room<List<Term>>()))));
    }
    { Int v_ = Int(1); auto& r_ = i; r_ = sub(r_, v_); }
    {
      auto t16_ = ordered[i];
    a = at<0>(t16_);
    k = at<1>(t16_);
    }
    if ((k > Int(0))) {
      { Int v_ = mul(k, los[a]); auto& r_ = lo; r_ = add(r_, v_); }
      { Int v_ = mul(k, his[a]); auto& r_ = hi; r_ = add(r_, v_); }
    } else {
      { Int v_ = mul(k, his[a]); auto& r_ = lo; r_ = add(r_, v_); }
      { Int v_ = mul(k, los[a]); auto& r_ = hi; r_ = add(r_, v_); }
    }
  }
  return none;
}

inline Form Engine::quotient_above(Int a) {
  Opt<Form> f{};
  f = lookup(this->above, Int(a));
  if (isnone(f)) {
    {
      auto t1_ = this->floordiv(this->arg[a], this->divisor[a]);
    f = t1_;
    this->above.set(a, t1_);
    }
  }
  return some(f);
}

template <class Sink> inline bool Engine::_digits(Dict<Int, Int> total_, List<Tuple<Int, Int, Int>> remainders, Sink&& sink) {
  List<Int> kind{};
  List<Form> arg{};
  List<Int> divisor{};
  Int i{};
  Int d{};
  Int a{};
  Int w{};
  Form x{};
  Int p{};
  Form q{};
  Int b{};
  Int v{};
  Opt<Form> y{};
  {
    auto t1_ = this->kind;
    auto t2_ = this->arg;
    auto t3_ = this->divisor;
  kind = t1_;
  arg = t2_;
  divisor = t3_;
  }
  remainders.sort();
  {
  Int t4_i = Int(0);
  auto t4_c = remainders;
  for (auto&& t4_ : t4_c) {
    i = t4_i;
    d = at<1>(t4_);
    a = at<2>(t4_);
    t4_i++;
    w = total_.at_(Int(a));
    x = arg[a];
    p = mul(w, d);
    if (truthy([&] { auto t5_c = total_.items(); for (auto&& t5_ : t5_c) { Int b = at<0>(t5_); Int v = at<1>(t5_); if (!((truthy(floor_mod(v, p)) || (b == a)))) return false; } return !false; }())) {
      continue;
    }
    q = this->quotient_above(a);
    if (!truthy(at<1>(q))) {
      continue;
    }
    if (truthy(functions::contains(total_, at<1>(q), p, a))) {
      if (sink(strategy::quotient_below_remainder{}, a, q, w, x)) return true;
      continue;
    }
    {
    auto t6_c = total_.items();
    for (auto&& t6_ : t6_c) {
      b = at<0>(t6_);
      v = at<1>(t6_);
      if (((v == p) && ((kind[b] == Int(1)) && !truthy(floor_mod(divisor[b], d))))) {
        y = this->_congruent(a, b);
        if (!isnone(y)) {
          if (sink(strategy::quotient_below_remainder{}, a, mk(Int(0), terms_of(std::initializer_list<Term>{mk(b, Int(1))})), w, some(y))) return true;
        }
      }
    }
    }
    if (this->_next_digits(total_, a, q, [&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t7_c = slice(remainders, add(i, Int(1)), TO_END); for (auto&& t7_ : t7_c) { Int b = at<2>(t7_); l_.append(b); } return l_; }(Room<List<Int>>()), sink)) return true;
  }
  }
  return false;
}

inline Opt<Form> Engine::_congruent(Int a, Int b) {
  Int d{};
  Int n{};
  Form y{};
  if (this->apart.has(Term(mk(a, b)))) {
    return none;
  }
  d = this->divisor[a];
  n = floor_div(this->divisor[b], d);
  y = ((n == Int(1)) ? Form(this->arg[b]) : Form(this->floordiv(this->arg[b], n)));
  if (((functions::lone(this->mod(y, d)) == a) && (functions::lone(this->floordiv(y, d)) == b))) {
    return y;
  }
  this->apart.add(mk(a, b));
  return none;
}

template <class Sink> inline bool Engine::_next_digits(Dict<Int, Int> total_, Int a, Form q, List<Int> others, Sink&& sink) {
  Int w{};
  Int p{};
  Set<Int> tried{};
  Room<Set<Int>> here_tried;
  bool single{};
  Int b{};
  Int v{};
  Int n{};
  Form z{};
  Form t{};
  w = total_.at_(Int(a));
  p = mul(w, this->divisor[a]);
  tried = Set<Int>::make(here_tried);
  single = ((len(at<1>(q)) == Int(1)) && ((at<1>(at<0>(at<1>(q))) == Int(1)) && (this->kind[at<0>(at<0>(at<1>(q)))] != Int(2))));
  {
  auto t1_c = reversed<Int>(others);
  for (auto&& t1_ : t1_c) {
    b = t1_;
    v = total_.at_(Int(b));
    if ((truthy(single) && (v != p))) {
      continue;
    }
    n = floor_div(mul(v, this->divisor[b]), p);
    if (((n <= Int(1)) || (mul(n, p) != mul(v, this->divisor[b])))) {
      continue;
    }
    if ((v == p)) {
      z = this->add_(this->arg[b], this->scale(q, Int(-1)));
      if ((len(at<1>(z)) == sub(len(at<1>(this->arg[b])), len(at<1>(q))))) {
        if (sink(strategy::next_digit{}, a, n, w, z)) return true;
      }
    }
    if (!tried.has(Int(n))) {
      tried.add(n);
      t = this->mod(q, n);
      if ((truthy(at<1>(t)) && truthy(functions::contains(total_, at<1>(t), p, a)))) {
        if (sink(strategy::next_digit{}, a, n, w, mk(Int(0), Terms()))) return true;
      }
    }
  }
  }
  return false;
}

inline Opt<Form> Engine::value_known(Form x) {
  Opt<Int> k_known{};
  Int k{};
  k_known = this->constant(x);
  if (!!isnone(k_known)) {
    return none;
  }
  k = some(k_known);
  if (record) [[unlikely]] tell("value_known", false, k, x);
  return mk(k, Terms());
}

inline Opt<Form> Engine::quotient_by_one(Form x, Int _1) {
  if (!(_1 == Int(1))) {
    return none;
  }
  if (record) [[unlikely]] tell("quotient_by_one", false, x);
  return x;
}

inline Opt<Form> Engine::quotient_known(Form x, Int d, Int q) {
  if (!(((Int(0) < d) && truthy(this->within(this->shift(x, neg(mul(d, q))), Int(0), sub(d, Int(1))))) || ((d < Int(0)) && truthy(this->within(this->shift(x, neg(mul(d, q))), add(d, Int(1)), Int(0)))))) {
    return none;
  }
  if (record) [[unlikely]] tell("quotient_known", false, d, q, x);
  return mk(q, Terms());
}

inline Opt<Form> Engine::quotient_certified(Form x, Int d, Form q) {
  if (!truthy(this->within(functions::minus(x, q, d), Int(0), sub(d, Int(1))))) {
    return none;
  }
  q = this->normal(q);
  if (!truthy([&] { auto a0_ = this->size_of_division(Int(1), x, d); auto a1_ = this->size(q); return this->descends(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("quotient_certified", false, d, q, x);
  return q;
}

inline Opt<Form> Engine::multiple_leaves_quotient(Form _1, Int d, Form x) {
  Form r{};
  r = functions::minus(_1, x, d);
  if (record) [[unlikely]] tell("multiple_leaves_quotient", false, d, r, x);
  return this->add_(this->floordiv(r, d), x);
}

inline Opt<Form> Engine::small_remainder_vanishes(Form _1, Int d, Int g, Form x) {
  Form r{};
  if (!(Int(0) < d)) {
    return none;
  }
  if (!((g != Int(0)) && (floor_mod(d, g) == Int(0)))) {
    return none;
  }
  if (!(Int(1) < g)) {
    return none;
  }
  r = functions::minus(_1, x, g);
  if (!truthy(this->within(r, Int(0), sub(g, Int(1))))) {
    return none;
  }
  if (record) [[unlikely]] tell("small_remainder_vanishes", false, d, g, r, x);
  return this->floordiv(x, floor_div(d, g));
}

inline Opt<Form> Engine::quotient_of_quotient(Form _1, Int b) {
  Int _2{};
  Form x{};
  Int a{};
  if (!(Int(0) < b)) {
    return none;
  }
  _2 = functions::lone(_1);
  if (!((_2 >= Int(0)) && (this->kind[_2] == Int(1)))) {
    return none;
  }
  x = this->arg[_2];
  a = this->divisor[_2];
  if (record) [[unlikely]] tell("quotient_of_quotient", false, a, b, x);
  return this->floordiv(x, mul(a, b));
}

inline Opt<Form> Engine::quotient_absorbs_summand(Form _1, Int b) {
  Int _2{};
  Int _3{};
  Form x{};
  Int a{};
  Form r{};
  if (!(Int(0) < b)) {
    return none;
  }
  {
  auto t1_c = this->atoms(_1, Int(1));
  for (auto&& t1_ : t1_c) {
    _2 = at<0>(t1_);
    _3 = at<1>(t1_);
    x = this->arg[_2];
    a = this->divisor[_2];
    if (!(_3 == Int(1))) {
      continue;
    }
    r = functions::minus(_1, functions::atom(_2), Int(1));
    if (record) [[unlikely]] tell("quotient_absorbs_summand", false, a, b, r, x);
    return this->floordiv(this->add_(x, functions::times(r, a)), mul(a, b));
  }
  }
  return none;
}

inline Opt<Form> Engine::quotient_absorbs_negated(Form _1, Int b) {
  Int _2{};
  Int v{};
  Form x{};
  Int a{};
  Form r{};
  if (!(Int(0) < b)) {
    return none;
  }
  {
  auto t1_c = this->atoms(_1, Int(1));
  for (auto&& t1_ : t1_c) {
    _2 = at<0>(t1_);
    v = at<1>(t1_);
    x = this->arg[_2];
    a = this->divisor[_2];
    if (!(Int(0) < a)) {
      continue;
    }
    if (!(v == Int(-1))) {
      continue;
    }
    r = functions::minus(_1, functions::atom(_2), v);
    if (record) [[unlikely]] tell("quotient_absorbs_negated", false, a, b, r, v, x);
    return this->floordiv(this->add_(this->shift(functions::times(x, Int(-1)), sub(a, Int(1))), functions::times(r, a)), mul(a, b));
  }
  }
  return none;
}

inline Opt<Form> Engine::quotient_absorbs_digit(Form _1, Int b) {
  Int _2{};
  Int _3{};
  Form _4{};
  Int n{};
  Int _5{};
  Form x{};
  Int a{};
  Int _6{};
  Int v{};
  Form _7{};
  Int m{};
  Form r{};
  if (!(Int(0) < b)) {
    return none;
  }
  {
  auto t1_c = this->atoms(_1, Int(2));
  for (auto&& t1_ : t1_c) {
    _2 = at<0>(t1_);
    _3 = at<1>(t1_);
    _4 = this->arg[_2];
    n = this->divisor[_2];
    if (!(Int(0) < n)) {
      continue;
    }
    if (!(_3 == Int(1))) {
      continue;
    }
    _5 = functions::lone(_4);
    if (!((_5 >= Int(0)) && (this->kind[_5] == Int(1)))) {
      continue;
    }
    x = this->arg[_5];
    a = this->divisor[_5];
    {
    auto t2_c = this->atoms(_1, Int(1));
    for (auto&& t2_ : t2_c) {
      _6 = at<0>(t2_);
      v = at<1>(t2_);
      _7 = this->arg[_6];
      m = this->divisor[_6];
      if (!(m == mul(a, n))) {
        continue;
      }
      if (!((n != Int(0)) && (floor_mod(v, n) == Int(0)))) {
        continue;
      }
      if (!(_7 == x)) {
        continue;
      }
      r = functions::minus(functions::minus(_1, functions::atom(_2), Int(1)), functions::atom(_6), v);
      if (record) [[unlikely]] tell("quotient_absorbs_digit", false, a, b, m, n, r, v, x);
      return this->floordiv(this->add_([&] { auto a0_ = functions::times(this->floordiv(x, m), mul(a, v)); auto a1_ = this->mod(x, mul(a, n)); return this->add_(a0_, a1_); }(), functions::times(r, a)), mul(a, b));
    }
    }
  }
  }
  return none;
}

inline Opt<Form> Engine::quotient_of_remainder(Form _1, Int d) {
  Int _2{};
  Form x{};
  Int m{};
  if (!(Int(0) < d)) {
    return none;
  }
  _2 = functions::lone(_1);
  if (!((_2 >= Int(0)) && (this->kind[_2] == Int(2)))) {
    return none;
  }
  x = this->arg[_2];
  m = this->divisor[_2];
  if (!(Int(0) < m)) {
    return none;
  }
  if (!((d != Int(0)) && (floor_mod(m, d) == Int(0)))) {
    return none;
  }
  if (record) [[unlikely]] tell("quotient_of_remainder", false, d, m, x);
  return this->mod(this->floordiv(x, d), floor_div(m, d));
}

inline Opt<Form> Engine::quotient_of_digit(Form _1, Int b) {
  Int _2{};
  Form _3{};
  Int n{};
  Int _4{};
  Form x{};
  Int a{};
  if (!(Int(0) < b)) {
    return none;
  }
  _2 = functions::lone(_1);
  if (!((_2 >= Int(0)) && (this->kind[_2] == Int(2)))) {
    return none;
  }
  _3 = this->arg[_2];
  n = this->divisor[_2];
  if (!(Int(0) < n)) {
    return none;
  }
  _4 = functions::lone(_3);
  if (!((_4 >= Int(0)) && (this->kind[_4] == Int(1)))) {
    return none;
  }
  x = this->arg[_4];
  a = this->divisor[_4];
  if (record) [[unlikely]] tell("quotient_of_digit", false, a, b, n, x);
  return this->floordiv(this->mod(x, mul(a, n)), mul(a, b));
}

inline Opt<Form> Engine::complement_leaves_quotient(Form _1, Int d) {
  Form x{};
  if (!(Int(0) < d)) {
    return none;
  }
  x = this->shift(functions::times(_1, Int(-1)), sub(d, Int(1)));
  if (record) [[unlikely]] tell("complement_leaves_quotient", false, d, x);
  return functions::times(this->floordiv(x, d), Int(-1));
}

inline Opt<Form> Engine::negative_divisor_moves_up(Form x, Int d) {
  if (!(d < Int(0))) {
    return none;
  }
  if (record) [[unlikely]] tell("negative_divisor_moves_up", false, d, x);
  return this->floordiv(functions::times(x, Int(-1)), neg(d));
}

inline Opt<Form> Engine::ceiling_of_positive(Form x, Int d) {
  if (!(Int(0) < d)) {
    return none;
  }
  if (record) [[unlikely]] tell("ceiling_of_positive", false, d, x);
  return this->floordiv(this->shift(x, sub(d, Int(1))), d);
}

inline Opt<Form> Engine::ceiling_of_negative(Form x, Int d) {
  if (!(d < Int(0))) {
    return none;
  }
  if (record) [[unlikely]] tell("ceiling_of_negative", false, d, x);
  return functions::times(this->floordiv(x, neg(d)), Int(-1));
}

inline Opt<Form> Engine::remainder_by_one(Form x, Int d) {
  if (!((d == Int(1)) || (d == Int(-1)))) {
    return none;
  }
  if (record) [[unlikely]] tell("remainder_by_one", false, d, x);
  return mk(Int(0), Terms());
}

inline Opt<Form> Engine::remainder_known(Form x, Int d, Int q) {
  if (!(((Int(0) < d) && truthy(this->within(this->shift(x, neg(mul(d, q))), Int(0), sub(d, Int(1))))) || ((d < Int(0)) && truthy(this->within(this->shift(x, neg(mul(d, q))), add(d, Int(1)), Int(0)))))) {
    return none;
  }
  if (record) [[unlikely]] tell("remainder_known", false, d, q, x);
  return this->shift(x, neg(mul(d, q)));
}

inline Opt<Form> Engine::remainder_certified(Form x, Int d, Form q) {
  if (!truthy(this->within(functions::minus(x, q, d), Int(0), sub(d, Int(1))))) {
    return none;
  }
  q = this->normal(q);
  if (!truthy([&] { auto a0_ = this->size_of_division(Int(2), x, d); auto a1_ = this->added(List<Tuple<Int, Int, Int, Int, Int>>::of({this->size(x), this->size(q)}, here(Room<List<Tuple<Int, Int, Int, Int, Int>>>()))); return this->descends(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("remainder_certified", false, d, q, x);
  return this->add_(functions::times(q, neg(d)), x);
}

inline Opt<Form> Engine::multiple_leaves_remainder(Form _1, Int d, Form x) {
  Form r{};
  r = functions::minus(_1, x, d);
  if (record) [[unlikely]] tell("multiple_leaves_remainder", false, d, r, x);
  return this->mod(r, d);
}

inline Opt<Form> Engine::common_factor_leaves_remainder(Form _1, Int d, Int g, Form x) {
  Form r{};
  if (!(Int(0) < d)) {
    return none;
  }
  if (!((g != Int(0)) && (floor_mod(d, g) == Int(0)))) {
    return none;
  }
  if (!(Int(1) < g)) {
    return none;
  }
  r = functions::minus(_1, x, g);
  if (!truthy(this->within(r, Int(0), sub(g, Int(1))))) {
    return none;
  }
  if (record) [[unlikely]] tell("common_factor_leaves_remainder", false, d, g, r, x);
  return this->add_(functions::times(this->mod(x, floor_div(d, g)), g), r);
}

inline Opt<Form> Engine::known_residue_is_constant(Form _1, Int d, Form x) {
  Form r{};
  Opt<Int> m_known{};
  Int m{};
  r = functions::minus(_1, x, Int(1));
  m_known = this->constant(this->mod(x, d));
  if (!!isnone(m_known)) {
    return none;
  }
  m = some(m_known);
  if (record) [[unlikely]] tell("known_residue_is_constant", false, d, m, r, x);
  return this->mod(this->shift(r, m), d);
}

inline Opt<Form> Engine::inner_remainder_vanishes(Form _1, Int d) {
  Int _2{};
  Int c{};
  Form x{};
  Int m{};
  Form r{};
  {
  auto t1_c = this->atoms(_1, Int(2));
  for (auto&& t1_ : t1_c) {
    _2 = at<0>(t1_);
    c = at<1>(t1_);
    x = this->arg[_2];
    m = this->divisor[_2];
    if (!((d != Int(0)) && (floor_mod(mul(c, m), d) == Int(0)))) {
      continue;
    }
    r = functions::minus(_1, functions::atom(_2), c);
    if (record) [[unlikely]] tell("inner_remainder_vanishes", false, c, d, m, r, x);
    return this->mod(this->add_(functions::times(x, c), r), d);
  }
  }
  return none;
}

inline Opt<Form> Engine::complement_leaves_remainder(Form _1, Int d) {
  Form x{};
  if (!(Int(0) < d)) {
    return none;
  }
  x = this->shift(functions::times(_1, Int(-1)), sub(d, Int(1)));
  if (record) [[unlikely]] tell("complement_leaves_remainder", false, d, x);
  return this->shift(functions::times(this->mod(x, d), Int(-1)), sub(d, Int(1)));
}

inline Opt<Form> Engine::negative_modulus_moves_out(Form x, Int d) {
  if (!(d < Int(0))) {
    return none;
  }
  if (record) [[unlikely]] tell("negative_modulus_moves_out", false, d, x);
  return functions::times(this->mod(functions::times(x, Int(-1)), neg(d)), Int(-1));
}

inline Opt<Form> Engine::quotient_and_remainder_recombine(Form _1, Int _2, Form q, Int w, Form x) {
  Form y{};
  Int d{};
  Int p{};
  Form r{};
  if (!(this->kind[_2] == Int(2))) {
    return none;
  }
  y = this->arg[_2];
  d = this->divisor[_2];
  if (!truthy(this->equal(q, this->floordiv(x, d)))) {
    return none;
  }
  if (!truthy(this->is_multiple(functions::minus(x, y, Int(1)), d))) {
    return none;
  }
  p = mul(d, w);
  r = functions::minus(functions::minus(_1, functions::atom(_2), w), q, p);
  x = this->normal(x);
  if (!truthy([&] { auto a0_ = this->size(_1); auto a1_ = this->added(List<Tuple<Int, Int, Int, Int, Int>>::of({this->size(x), this->size(r)}, here(Room<List<Tuple<Int, Int, Int, Int, Int>>>()))); return this->descends(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("quotient_and_remainder_recombine", false, d, p, q, r, w, x, y);
  return this->add_(functions::times(x, w), r);
}

inline Opt<Form> Engine::digits_recombine(Form _1, Int _2, Int n, Int w, Form z) {
  Form x{};
  Int d{};
  Int p{};
  Form q{};
  Form t{};
  Form r{};
  if (!(Int(0) < n)) {
    return none;
  }
  if (!(this->kind[_2] == Int(2))) {
    return none;
  }
  x = this->arg[_2];
  d = this->divisor[_2];
  p = mul(d, w);
  q = this->floordiv(x, d);
  t = this->mod(this->add_(q, z), n);
  r = functions::minus(functions::minus(_1, functions::atom(_2), w), t, p);
  z = this->normal(z);
  if (!truthy([&] { auto a0_ = this->size(_1); auto a1_ = this->added(List<Tuple<Int, Int, Int, Int, Int>>::of({this->size_of_division(Int(2), functions::minus(x, z, neg(d)), mul(d, n)), this->size(r)}, here(Room<List<Tuple<Int, Int, Int, Int, Int>>>()))); return this->descends(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("digits_recombine", false, d, n, p, q, r, t, w, x, z);
  return this->add_(functions::times(this->mod(this->add_(x, functions::times(z, d)), mul(d, n)), w), r);
}

inline Opt<Form> Engine::remainder_subtracts_to_quotient(Form _1) {
  Int _2{};
  Int v{};
  Form x{};
  Int d{};
  Int w{};
  Form r{};
  {
  auto t1_c = this->atoms(_1, Int(2));
  for (auto&& t1_ : t1_c) {
    _2 = at<0>(t1_);
    v = at<1>(t1_);
    x = this->arg[_2];
    d = this->divisor[_2];
    w = floor_div(neg(v), Int(1));
    if (!(v == neg(w))) {
      continue;
    }
    if (!truthy(this->contains(_1, x, w, _2))) {
      continue;
    }
    r = functions::minus(functions::minus(_1, functions::atom(_2), v), x, w);
    if (record) [[unlikely]] tell("remainder_subtracts_to_quotient", false, d, r, v, w, x);
    return this->add_(functions::times(this->floordiv(x, d), mul(d, w)), r);
  }
  }
  return none;
}

inline Opt<Form> Engine::quotient_subtracts_to_remainder(Form _1) {
  Int _2{};
  Int v{};
  Form x{};
  Int d{};
  Int w{};
  Form r{};
  {
  auto t1_c = this->atoms(_1, Int(1));
  for (auto&& t1_ : t1_c) {
    _2 = at<0>(t1_);
    v = at<1>(t1_);
    x = this->arg[_2];
    d = this->divisor[_2];
    if (!(d != Int(0))) {
      continue;
    }
    w = floor_div(neg(v), d);
    if (!(v == neg(mul(d, w)))) {
      continue;
    }
    if (!truthy(this->contains(_1, x, w, _2))) {
      continue;
    }
    r = functions::minus(functions::minus(_1, functions::atom(_2), v), x, w);
    if (record) [[unlikely]] tell("quotient_subtracts_to_remainder", false, d, r, v, w, x);
    return this->add_(functions::times(this->mod(x, d), w), r);
  }
  }
  return none;
}

inline Opt<Form> Engine::exact_quotient_multiplies(Form _1, Int _2, Int w) {
  Form x{};
  Int d{};
  Int v{};
  Form r{};
  Opt<Int> m_known{};
  Int m{};
  if (!(this->kind[_2] == Int(1))) {
    return none;
  }
  x = this->arg[_2];
  d = this->divisor[_2];
  v = mul(d, w);
  r = functions::minus(_1, functions::atom(_2), v);
  m_known = this->constant(this->mod(x, d));
  if (!!isnone(m_known)) {
    return none;
  }
  m = some(m_known);
  if (record) [[unlikely]] tell("exact_quotient_multiplies", false, d, m, r, v, w, x);
  return this->add_(functions::times(this->shift(x, neg(m)), w), r);
}

inline Opt<Form> Engine::min_keeps_smaller(Form _1, Form _2) {
  Form y{};
  Form x{};
  for (auto&& t1_ : List<Tuple<Form, Form>>::of({mk(_1, _2), mk(_2, _1)})) {
    _1 = at<0>(t1_);
    _2 = at<1>(t1_);
    y = _1;
    x = _2;
    if (!truthy(this->at_most(x, y))) {
      continue;
    }
    if (record) [[unlikely]] tell("min_keeps_smaller", false, x, y);
    return x;
  }
  return none;
}

inline Opt<Form> Engine::max_keeps_larger(Form _1, Form _2) {
  Form y{};
  Form x{};
  for (auto&& t1_ : List<Tuple<Form, Form>>::of({mk(_1, _2), mk(_2, _1)})) {
    _1 = at<0>(t1_);
    _2 = at<1>(t1_);
    y = _1;
    x = _2;
    if (!truthy(this->at_most(y, x))) {
      continue;
    }
    if (record) [[unlikely]] tell("max_keeps_larger", false, x, y);
    return x;
  }
  return none;
}

inline Opt<Form> Engine::min_shifts(Form _1, Form _2, Int k) {
  Form y{};
  Form x{};
  y = _1;
  x = _2;
  if (!truthy([&] { auto a0_ = this->size_of_extremum(Tup<Form>::from(List<Form>::of({_1, _2}))); auto a1_ = this->size_of_extremum(Tup<Form>::from(List<Form>::of({this->shift(x, neg(k)), this->shift(y, neg(k))}))); return this->descends(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("min_shifts", false, k, x, y);
  return this->shift(this->extremum(Int(3), List<Form>::of({this->shift(x, neg(k)), this->shift(y, neg(k))}, here(Room<List<Form>>()))), k);
}

inline Opt<Form> Engine::max_shifts(Form _1, Form _2, Int k) {
  Form y{};
  Form x{};
  y = _1;
  x = _2;
  if (!truthy([&] { auto a0_ = this->size_of_extremum(Tup<Form>::from(List<Form>::of({_1, _2}))); auto a1_ = this->size_of_extremum(Tup<Form>::from(List<Form>::of({this->shift(x, neg(k)), this->shift(y, neg(k))}))); return this->descends(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("max_shifts", false, k, x, y);
  return this->shift(this->extremum(Int(4), List<Form>::of({this->shift(x, neg(k)), this->shift(y, neg(k))}, here(Room<List<Form>>()))), k);
}

inline Opt<Form> Engine::min_distributes(Form _1, Form _2, Int g, Form x) {
  Opt<Form> y_exact{};
  Form y{};
  if (!(Int(0) < g)) {
    return none;
  }
  if (!(Int(1) < g)) {
    return none;
  }
  if (!(_1 == functions::times(x, g))) {
    return none;
  }
  y_exact = functions::exactly(_2, g);
  if (!!isnone(y_exact)) {
    return none;
  }
  y = some(y_exact);
  if (!truthy([&] { auto a0_ = this->size_of_extremum(Tup<Form>::from(List<Form>::of({_1, _2}))); auto a1_ = this->size_of_extremum(Tup<Form>::from(List<Form>::of({y, x}))); return this->descends(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("min_distributes", false, g, x, y);
  return functions::times(this->extremum(Int(3), List<Form>::of({y, x}, here(Room<List<Form>>()))), g);
}

inline Opt<Form> Engine::max_distributes(Form _1, Form _2, Int g, Form x) {
  Opt<Form> y_exact{};
  Form y{};
  if (!(Int(0) < g)) {
    return none;
  }
  if (!(Int(1) < g)) {
    return none;
  }
  if (!(_1 == functions::times(x, g))) {
    return none;
  }
  y_exact = functions::exactly(_2, g);
  if (!!isnone(y_exact)) {
    return none;
  }
  y = some(y_exact);
  if (!truthy([&] { auto a0_ = this->size_of_extremum(Tup<Form>::from(List<Form>::of({_1, _2}))); auto a1_ = this->size_of_extremum(Tup<Form>::from(List<Form>::of({y, x}))); return this->descends(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("max_distributes", false, g, x, y);
  return functions::times(this->extremum(Int(4), List<Form>::of({y, x}, here(Room<List<Form>>()))), g);
}

inline Opt<Form> Engine::min_turns(Form _1, Form _2, Int g, Form x) {
  Opt<Form> y_exact{};
  Form y{};
  if (!(g < Int(0))) {
    return none;
  }
  if (!(_1 == functions::times(x, g))) {
    return none;
  }
  y_exact = functions::exactly(_2, g);
  if (!!isnone(y_exact)) {
    return none;
  }
  y = some(y_exact);
  if (!truthy([&] { auto a0_ = this->size_of_extremum(Tup<Form>::from(List<Form>::of({_1, _2}))); auto a1_ = this->size_of_extremum(Tup<Form>::from(List<Form>::of({y, x}))); return this->descends(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("min_turns", false, g, x, y);
  return functions::times(this->extremum(Int(4), List<Form>::of({y, x}, here(Room<List<Form>>()))), g);
}

inline Opt<Form> Engine::max_turns(Form _1, Form _2, Int g, Form x) {
  Opt<Form> y_exact{};
  Form y{};
  if (!(g < Int(0))) {
    return none;
  }
  if (!(_1 == functions::times(x, g))) {
    return none;
  }
  y_exact = functions::exactly(_2, g);
  if (!!isnone(y_exact)) {
    return none;
  }
  y = some(y_exact);
  if (!truthy([&] { auto a0_ = this->size_of_extremum(Tup<Form>::from(List<Form>::of({_1, _2}))); auto a1_ = this->size_of_extremum(Tup<Form>::from(List<Form>::of({y, x}))); return this->descends(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("max_turns", false, g, x, y);
  return functions::times(this->extremum(Int(3), List<Form>::of({y, x}, here(Room<List<Form>>()))), g);
}

inline Opt<Form> Engine::min_and_max_sum(Form _1) {
  Int _2{};
  Int v{};
  Form y{};
  Form x{};
  Int _3{};
  Int w{};
  Form r{};
  {
  auto t1_c = this->atoms(_1, Int(4));
  for (auto&& t1_ : t1_c) {
    _2 = at<0>(t1_);
    v = at<1>(t1_);
    {
    auto t2_c = this->splits(_2);
    for (auto&& t2_ : t2_c) {
      y = at<0>(t2_);
      x = at<1>(t2_);
      {
      auto t3_c = this->atoms(_1, Int(3));
      for (auto&& t3_ : t3_c) {
        _3 = at<0>(t3_);
        w = at<1>(t3_);
        if (!truthy(this->made_of(_3, y, x))) {
          continue;
        }
        if (!(v == w)) {
          continue;
        }
        r = functions::minus(functions::minus(_1, functions::atom(_2), v), functions::atom(_3), w);
        if (record) [[unlikely]] tell("min_and_max_sum", false, r, v, w, x, y);
        return this->add_(this->add_(functions::times(x, w), functions::times(y, w)), r);
      }
      }
    }
    }
  }
  }
  return none;
}

inline Opt<Form> Engine::minimum_of_congruent_leaves_remainder(Form _1, Int d) {
  Int _2{};
  Int k{};
  Form y{};
  Form x{};
  Form r{};
  {
  auto t1_c = this->atoms(_1, Int(3));
  for (auto&& t1_ : t1_c) {
    _2 = at<0>(t1_);
    k = at<1>(t1_);
    {
    auto t2_c = this->splits(_2);
    for (auto&& t2_ : t2_c) {
      y = at<0>(t2_);
      x = at<1>(t2_);
      if (!truthy(this->is_multiple(functions::minus(functions::times(x, k), y, k), d))) {
        continue;
      }
      r = functions::minus(_1, functions::atom(_2), k);
      if (record) [[unlikely]] tell("minimum_of_congruent_leaves_remainder", false, d, k, r, x, y);
      return this->mod(this->add_(functions::times(y, k), r), d);
    }
    }
  }
  }
  return none;
}

inline Opt<Form> Engine::maximum_of_congruent_leaves_remainder(Form _1, Int d) {
  Int _2{};
  Int k{};
  Form y{};
  Form x{};
  Form r{};
  {
  auto t1_c = this->atoms(_1, Int(4));
  for (auto&& t1_ : t1_c) {
    _2 = at<0>(t1_);
    k = at<1>(t1_);
    {
    auto t2_c = this->splits(_2);
    for (auto&& t2_ : t2_c) {
      y = at<0>(t2_);
      x = at<1>(t2_);
      if (!truthy(this->is_multiple(functions::minus(functions::times(x, k), y, k), d))) {
        continue;
      }
      r = functions::minus(_1, functions::atom(_2), k);
      if (record) [[unlikely]] tell("maximum_of_congruent_leaves_remainder", false, d, k, r, x, y);
      return this->mod(this->add_(functions::times(y, k), r), d);
    }
    }
  }
  }
  return none;
}

inline Opt<Form> Engine::remainder_is_difference(Form x, Int d, Form q) {
  if (!truthy([&] { auto a0_ = this->normal(q); auto a1_ = this->floordiv(this->normal(x), d); return this->equal(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("remainder_is_difference", true, d, q, x);
  return functions::minus(x, q, d);
}

inline Opt<Form> Engine::multiple_is_difference(Form _1, Int _2, Form t) {
  Form x{};
  Int d{};
  Int v{};
  Form r{};
  Int w{};
  if (!(this->kind[_2] == Int(1))) {
    return none;
  }
  x = this->arg[_2];
  d = this->divisor[_2];
  if (!truthy([&] { auto a0_ = this->normal(t); auto a1_ = this->mod(this->normal(x), d); return this->equal(a0_, a1_); }())) {
    return none;
  }
  v = this->coefficient(_1, _2);
  r = functions::minus(_1, functions::atom(_2), v);
  if (!(neg(d) != Int(0))) {
    return none;
  }
  w = floor_div(neg(v), neg(d));
  if (!(v == mul(d, w))) {
    return none;
  }
  if (record) [[unlikely]] tell("multiple_is_difference", true, d, r, t, v, w, x);
  return functions::minus(functions::minus(r, t, w), x, neg(w));
}

inline Opt<Form> Engine::known_digit_joins_quotient(Form _1, Int _2, Int a, Form q) {
  Form x{};
  Int e{};
  Int n{};
  Opt<Int> m_known{};
  Int m{};
  Int v{};
  Form r{};
  Int w{};
  if (!(this->kind[_2] == Int(1))) {
    return none;
  }
  x = this->arg[_2];
  e = this->divisor[_2];
  if (!truthy([&] { auto a0_ = this->normal(q); auto a1_ = this->floordiv(this->normal(x), a); return this->equal(a0_, a1_); }())) {
    return none;
  }
  if (!(neg(a) != Int(0))) {
    return none;
  }
  n = floor_div(neg(e), neg(a));
  if (!(Int(0) < n)) {
    return none;
  }
  if (!(e == mul(a, n))) {
    return none;
  }
  m_known = this->constant(this->mod(this->normal(q), n));
  if (!!isnone(m_known)) {
    return none;
  }
  m = some(m_known);
  v = this->coefficient(_1, _2);
  r = functions::minus(_1, functions::atom(_2), v);
  if (!(neg(n) != Int(0))) {
    return none;
  }
  w = floor_div(neg(v), neg(n));
  if (!(v == mul(n, w))) {
    return none;
  }
  if (record) [[unlikely]] tell("known_digit_joins_quotient", true, a, e, m, n, q, r, v, w, x);
  return functions::minus(this->shift(r, neg(mul(m, w))), q, neg(w));
}

inline Opt<Form> Engine::known_digit_joins_digit(Form _1, Int _2, Int a, Form t, Form x) {
  Form q{};
  Int n{};
  Opt<Int> m_known{};
  Int m{};
  Int v{};
  Form r{};
  Int w{};
  if (!(this->kind[_2] == Int(2))) {
    return none;
  }
  q = this->arg[_2];
  n = this->divisor[_2];
  if (!(Int(0) < n)) {
    return none;
  }
  if (!truthy([&] { auto a0_ = this->normal(q); auto a1_ = this->floordiv(this->normal(x), a); return this->equal(a0_, a1_); }())) {
    return none;
  }
  if (!truthy([&] { auto a0_ = this->normal(t); auto a1_ = this->mod(this->normal(x), mul(a, n)); return this->equal(a0_, a1_); }())) {
    return none;
  }
  m_known = this->constant(this->mod(this->normal(x), a));
  if (!!isnone(m_known)) {
    return none;
  }
  m = some(m_known);
  v = this->coefficient(_1, _2);
  r = functions::minus(_1, functions::atom(_2), v);
  if (!(neg(a) != Int(0))) {
    return none;
  }
  w = floor_div(neg(v), neg(a));
  if (!(v == mul(a, w))) {
    return none;
  }
  if (record) [[unlikely]] tell("known_digit_joins_digit", true, a, m, n, q, r, t, v, w, x);
  return functions::minus(this->shift(r, neg(mul(m, w))), t, neg(w));
}

inline Opt<Form> Engine::exact_quotient_negates(Form x, Int d) {
  Opt<Int> m_known{};
  Int m{};
  m_known = this->constant(this->mod(this->normal(x), d));
  if (!!isnone(m_known)) {
    return none;
  }
  m = some(m_known);
  if (record) [[unlikely]] tell("exact_quotient_negates", true, d, m, x);
  return functions::times(this->raw(Int(1), this->shift(functions::times(x, Int(-1)), m), d), Int(-1));
}

inline Opt<Form> Engine::quotient_turns(Form x, Int d, Form t) {
  if (!(Int(0) < d)) {
    return none;
  }
  if (!truthy([&] { auto a0_ = this->normal(t); auto a1_ = this->floordiv(this->shift(functions::times(this->normal(x), Int(-1)), sub(d, Int(1))), d); return this->equal(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("quotient_turns", true, d, t, x);
  return functions::times(t, Int(-1));
}

inline Opt<Form> Engine::remainder_turns(Form x, Int d, Form t) {
  if (!(Int(0) < d)) {
    return none;
  }
  if (!truthy([&] { auto a0_ = this->normal(t); auto a1_ = this->mod(this->shift(functions::times(this->normal(x), Int(-1)), sub(d, Int(1))), d); return this->equal(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("remainder_turns", true, d, t, x);
  return this->shift(functions::times(t, Int(-1)), sub(d, Int(1)));
}

inline Opt<Form> Engine::quotient_is_sign(Form x, Int d, Int e) {
  if (!(Int(0) < d)) {
    return none;
  }
  if (!(Int(0) < e)) {
    return none;
  }
  if (!truthy(this->within(x, neg(d), sub(d, Int(1))))) {
    return none;
  }
  if (!truthy(this->within(x, neg(e), sub(e, Int(1))))) {
    return none;
  }
  if (record) [[unlikely]] tell("quotient_is_sign", true, d, e, x);
  return this->raw(Int(1), x, e);
}

inline Opt<Form> Engine::quotient_widens(Form y, Int e, Int g, Form r) {
  if (!(Int(0) < e)) {
    return none;
  }
  if (!(Int(0) < g)) {
    return none;
  }
  if (!truthy(this->within(r, Int(0), sub(g, Int(1))))) {
    return none;
  }
  if (record) [[unlikely]] tell("quotient_widens", true, e, g, r, y);
  return this->raw(Int(1), functions::minus(r, y, neg(g)), mul(e, g));
}

inline Opt<Form> Engine::remainder_widens(Form _1, Int _2, Int g, Form r) {
  Form y{};
  Int e{};
  Int k{};
  Int h{};
  Form s{};
  if (!(Int(0) < g)) {
    return none;
  }
  if (!truthy(this->within(r, Int(0), sub(g, Int(1))))) {
    return none;
  }
  if (!(this->kind[_2] == Int(2))) {
    return none;
  }
  y = this->arg[_2];
  e = this->divisor[_2];
  if (!(Int(0) < e)) {
    return none;
  }
  k = this->coefficient(_1, _2);
  if (!(neg(g) != Int(0))) {
    return none;
  }
  h = floor_div(neg(k), neg(g));
  if (!(k == mul(g, h))) {
    return none;
  }
  s = functions::minus(functions::minus(_1, functions::atom(_2), k), r, h);
  if (record) [[unlikely]] tell("remainder_widens", true, e, g, h, k, r, s, y);
  return functions::minus(s, this->raw(Int(2), functions::minus(r, y, neg(g)), mul(e, g)), neg(h));
}

inline Opt<Form> Engine::summand_joins_quotient(Form x, Int d, Form t) {
  if (record) [[unlikely]] tell("summand_joins_quotient", true, d, t, x);
  return functions::minus(this->raw(Int(1), functions::minus(x, t, neg(d)), d), t, Int(1));
}

inline Opt<Form> Engine::remainder_takes_congruent(Form x, Int d, Form y) {
  if (!truthy(this->is_multiple(functions::minus(x, y, Int(1)), d))) {
    return none;
  }
  if (record) [[unlikely]] tell("remainder_takes_congruent", true, d, x, y);
  return this->raw(Int(2), y, d);
}

inline Opt<Form> Engine::quotient_releases_summand(Form _1, Int _2, Int a, Form q, Form x) {
  Opt<Form> r_exact{};
  Form r{};
  Int b{};
  if (!truthy([&] { auto a0_ = this->normal(q); auto a1_ = this->floordiv(this->normal(x), a); return this->equal(a0_, a1_); }())) {
    return none;
  }
  r_exact = functions::exactly(functions::minus(_1, x, Int(1)), a);
  if (!!isnone(r_exact)) {
    return none;
  }
  r = some(r_exact);
  if (!(neg(a) != Int(0))) {
    return none;
  }
  b = floor_div(neg(_2), neg(a));
  if (!(Int(0) < b)) {
    return none;
  }
  if (!(_2 == mul(a, b))) {
    return none;
  }
  if (record) [[unlikely]] tell("quotient_releases_summand", true, a, b, q, r, x);
  return this->raw(Int(1), functions::minus(q, r, Int(-1)), b);
}

inline Opt<Form> Engine::inner_remainder_leaves_quotient(Form _1, Int d, Int _2, Int j, Form o, Form q) {
  Form x{};
  Int m{};
  Int k{};
  Form r{};
  if (!(this->kind[_2] == Int(2))) {
    return none;
  }
  x = this->arg[_2];
  m = this->divisor[_2];
  if (!truthy([&] { auto a0_ = this->normal(q); auto a1_ = this->floordiv(this->normal(x), m); return this->equal(a0_, a1_); }())) {
    return none;
  }
  k = this->coefficient(_1, _2);
  r = functions::minus(_1, functions::atom(_2), k);
  if (!truthy([&] { auto a0_ = this->normal(o); auto a1_ = this->floordiv([&] { auto a0_ = [&] { auto a0_ = functions::times(this->normal(q), sub(mul(d, j), mul(k, m))); auto a1_ = functions::times(this->normal(x), k); return this->add_(a0_, a1_); }(); auto a1_ = this->normal(r); return this->add_(a0_, a1_); }(), d); return this->equal(a0_, a1_); }())) {
    return none;
  }
  if (record) [[unlikely]] tell("inner_remainder_leaves_quotient", true, d, j, k, m, o, q, r, x);
  return functions::minus(o, q, j);
}

inline Ledger::Ledger(Engine* engine, Int weight, List<Form> forms) {
  Form f{};
  Int i{};
  {
    auto t1_ = engine;
  this->engine = t1_;
  }
  {
    auto t2_ = ((weight > Int(1)) ? Int(Int(1)) : Int(Int(65536)));
  this->unit = t2_;
  }
  {
    auto t3_ = ((weight > Int(1)) ? Int(weight) : Int(add(Int(65536), Int(1))));
  this->weight = t3_;
  }
  {
    auto t4_ = forms;
  this->forms = t4_;
  }
  {
    auto t5_ = Int(0);
  this->cost = t5_;
  }
  {
    auto t6_ = Dict<Int, Form>::make();
  this->choice = t6_;
  }
  {
    auto t7_ = Dict<Int, Form>::make();
  this->written = t7_;
  }
  {
    auto t8_ = Dict<Form, Dict<Int, Unit>>::make();
  this->owners = t8_;
  }
  {
    auto t9_ = Dict<Form, Tuple<Int, List<Term>, Terms, Int>>::make();
  this->shapes = t9_;
  }
  {
    auto t10_ = Dict<Int, Dict<Int, Form>>::make();
  this->users = t10_;
  }
  {
    auto t11_ = Dict<Terms, Int>::make();
  this->bodies = t11_;
  }
  {
    auto t12_ = Dict<Term, Int>::make();
  this->products = t12_;
  }
  {
    auto t13_ = List<Tuple<Tuple<Int, Form, Any>, Opt<Form>, List<Tuple<Int, Form>>>>::of({});
  this->log = t13_;
  }
  {
  Int t14_i = Int(0);
  auto t14_c = forms;
  for (auto&& t14_ : t14_c) {
    i = t14_i;
    f = t14_;
    t14_i++;
    this->_own(sub(Int(-1), i), f);
  }
  }
}

inline Int Ledger::spent() {
  return floor_div(this->cost, this->unit);
}

inline List<Form> Ledger::arguments(Int a) {
  return [&] { auto l_ = List<Form>::make(); for (Int t1_ = Int(0), t1_e = len(this->engine->parts.at_(Int(a))); t1_ < t1_e; t1_++) { Int n = t1_; l_.append(this->written.at_(Int(add(mul(add(n, Int(1)), Int(4294967296)), a)))); } return l_; }();
}

inline Form Ledger::resolved(Form f) {
  Dict<Int, Form> choice{};
  Term t{};
  Int c{};
  Dict<Int, Int> total_{};
  Room<Dict<Int, Int>> here_total;
  List<Term> todo{};
  Room<List<Term>> here_todo;
  Int a{};
  Int k{};
  Opt<Form> by{};
  Int b{};
  Int j{};
  choice = this->choice;
  if (!truthy(choice)) {
    return f;
  }
  {
  auto t1_c = at<1>(f);
  for (auto&& t1_ : t1_c) {
    t = t1_;
    if (choice.has(Int(at<0>(t)))) {
      goto broken_2;
    }
  }
  {
    return f;
  }
  broken_2:;
  }
  c = at<0>(f);
  total_ = Dict<Int, Int>::make(here_total);
  todo = List<Term>::from(at<1>(f), here_todo);
  while (truthy(todo)) {
    {
      auto t3_ = todo.pop();
    a = at<0>(t3_);
    k = at<1>(t3_);
    }
    by = lookup(choice, Int(a));
    if (isnone(by)) {
      {
        auto t4_ = add(total_.get(Int(a), Int(0)), k);
      total_.set(a, t4_);
      }
      continue;
    }
    { Int v_ = mul(k, at<0>(some(by))); auto& r_ = c; r_ = add(r_, v_); }
    {
    auto t5_c = at<1>(some(by));
    for (auto&& t5_ : t5_c) {
      b = at<0>(t5_);
      j = at<1>(t5_);
      todo.append(mk(b, mul(j, k)));
    }
    }
  }
  return mk(c, sorted_terms([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t6_c = total_.items(); for (auto&& t6_ : t6_c) { Term t = t6_; if (!(truthy(at<1>(t)))) continue; l_.append(t); } return l_; }(Room<List<Term>>())));
}

inline bool Ledger::reaches(Form f, Int a) {
  Dict<Int, Form> choice{};
  Engine* engine{};
  List<Int> kind{};
  List<Form> todo{};
  Room<List<Form>> here_todo;
  Set<Int> seen{};
  Room<Set<Int>> here_seen;
  Term t{};
  Int b{};
  Int of{};
  Opt<Form> by{};
  {
    auto t1_ = this->choice;
    auto t2_ = this->engine;
  choice = t1_;
  engine = t2_;
  }
  kind = engine->kind;
  todo = List<Form>::of({f}, here_todo);
  seen = Set<Int>::make(here_seen);
  while (truthy(todo)) {
    {
    auto t3_c = at<1>(todo.pop());
    for (auto&& t3_ : t3_c) {
      t = t3_;
      b = at<0>(t);
      if ((b == a)) {
        return true;
      }
      of = kind[b];
      if (((of == Int(0)) || ((of == Int(5)) || seen.has(Int(b))))) {
        continue;
      }
      seen.add(b);
      if ((len(seen) > Int(48))) {
        return true;
      }
      by = lookup(choice, Int(b));
      if (!isnone(by)) {
        todo.append(some(by));
      } else {
        if (((of == Int(1)) || (of == Int(2)))) {
          todo.append(engine->arg[b]);
        } else {
          todo.extend(engine->parts.at_(Int(b)));
        }
      }
    }
    }
  }
  return false;
}

inline bool Ledger::choose(Tuple<Int, Form, Any> choice) {
  Int key{};
  Form f{};
  Opt<Form> had{};
  Form by{};
  List<Tuple<Int, Form>> changes{};
  Room<List<Tuple<Int, Form>>> here_changes;
  Form g{};
  Form now{};
  List<Tuple<Int, Form>> before{};
  Int owner{};
  Opt<Form> was{};
  {
    auto t1_ = choice;
  key = at<0>(t1_);
  f = at<1>(t1_);
  }
  had = lookup(this->choice, Int(key));
  if (((key >= Int(0)) && (!isnone(had) || truthy(this->reaches(f, key))))) {
    return false;
  }
  by = this->resolved(f);
  changes = List<Tuple<Int, Form>>::of({}, here_changes);
  if ((key < Int(0))) {
    changes.append(mk(key, by));
  } else {
    if (this->users.has(Int(key))) {
      {
      auto t2_c = this->users.at_(Int(key)).values();
      for (auto&& t2_ : t2_c) {
        g = t2_;
        now = this->_with(g, key, by);
        changes.extend([&](auto&& r_) { auto l_ = List<Tuple<Int, Form>>::make(r_); auto t3_c = this->owners.at_(Form(g)); for (auto&& t3_ : t3_c) { Int owner = t3_; l_.append(mk(owner, now)); } return l_; }(Room<List<Tuple<Int, Form>>>()));
      }
      }
    }
  }
  {
    auto t4_ = f;
  this->choice.set(key, t4_);
  }
  before = List<Tuple<Int, Form>>::of({});
  {
  auto t5_c = changes;
  for (auto&& t5_ : t5_c) {
    owner = at<0>(t5_);
    now = at<1>(t5_);
    was = lookup(this->written, Int(owner));
    if ((!isnone(was) && (some(was) != now))) {
      before.append(mk(owner, some(was)));
      this->_own(owner, now);
      this->_disown(owner, some(was));
    }
  }
  }
  this->log.append(mk(choice, had, before));
  return true;
}

inline Form Ledger::_with(Form f, Int a, Form by) {
  Dict<Int, Int> total_{};
  Room<Dict<Int, Int>> here_total;
  Int k{};
  Int b{};
  Int j{};
  total_ = Dict<Int, Int>::from(at<1>(f), here_total);
  k = total_.pop(Int(a));
  {
  auto t1_c = at<1>(by);
  for (auto&& t1_ : t1_c) {
    b = at<0>(t1_);
    j = at<1>(t1_);
    {
      auto t2_ = add(total_.get(Int(b), Int(0)), mul(k, j));
    total_.set(b, t2_);
    }
  }
  }
  return mk(add(at<0>(f), mul(k, at<0>(by))), sorted_terms([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t3_c = total_.items(); for (auto&& t3_ : t3_c) { Term t = t3_; if (!(truthy(at<1>(t)))) continue; l_.append(t); } return l_; }(Room<List<Term>>())));
}

inline void Ledger::undo(Int mark) {
  List<Tuple<Tuple<Int, Form, Any>, Opt<Form>, List<Tuple<Int, Form>>>> log{};
  Int key{};
  Opt<Form> had{};
  List<Tuple<Int, Form>> before{};
  Int owner{};
  Form f{};
  Opt<Form> now{};
  log = this->log;
  while ((len(log) > mark)) {
    {
      auto t1_ = log.pop();
    key = at<0>(at<0>(t1_));
    had = at<1>(t1_);
    before = at<2>(t1_);
    }
    if (isnone(had)) {
      this->choice.erase(key);
    } else {
      {
        auto t2_ = some(had);
      this->choice.set(key, t2_);
      }
    }
    {
    auto t3_c = reversed<Tuple<Int, Form>>(before);
    for (auto&& t3_ : t3_c) {
      owner = at<0>(t3_);
      f = at<1>(t3_);
      now = lookup(this->written, Int(owner));
      if ((!isnone(now) && (some(now) != f))) {
        this->_own(owner, f);
        this->_disown(owner, some(now));
      }
    }
    }
  }
}

inline bool Ledger::attempt(List<Tuple<Int, Form, Any>> choices, bool even) {
  Int mark{};
  Int cost{};
  if ((!truthy(choices) || ((len(choices) == Int(1)) && (!truthy(even) && !truthy(this->may_pay(choices[Int(0)])))))) {
    return false;
  }
  {
    auto t1_ = len(this->log);
    auto t2_ = this->cost;
  mark = t1_;
  cost = t2_;
  }
  if ((truthy(this->_chosen(choices)) && ((this->cost < cost) || (truthy(even) && (this->cost == cost))))) {
    return true;
  }
  this->undo(mark);
  return false;
}

inline bool Ledger::best(List<List<Tuple<Int, Form, Any>>> options) {
  Int mark{};
  Int cost{};
  List<Tuple<Int, Form, Any>> found{};
  List<Tuple<Int, Form, Any>> choices{};
  Tuple<Int, Form, Any> c{};
  {
    auto t1_ = len(this->log);
    auto t2_ = this->cost;
  mark = t1_;
  cost = t2_;
  }
  found = List<Tuple<Int, Form, Any>>::of({});
  {
  auto t3_c = reversed<List<Tuple<Int, Form, Any>>>(options);
  for (auto&& t3_ : t3_c) {
    choices = t3_;
    if ((truthy(this->_chosen(choices)) && ((this->cost < cost) || (truthy(found) && (this->cost == cost))))) {
      {
        auto t4_ = choices;
        auto t5_ = this->cost;
      found = t4_;
      cost = t5_;
      }
      if (same(choices, options[Int(0)])) {
        return true;
      }
    }
    this->undo(mark);
  }
  }
  {
  auto t6_c = found;
  for (auto&& t6_ : t6_c) {
    c = t6_;
    this->choose(c);
  }
  }
  return truthy(found);
}

inline bool Ledger::_chosen(List<Tuple<Int, Form, Any>> choices) {
  Tuple<Int, Form, Any> c{};
  {
  auto t1_c = choices;
  for (auto&& t1_ : t1_c) {
    c = t1_;
    if (!truthy(this->choose(c))) {
      return false;
    }
  }
  }
  return true;
}

inline bool Ledger::may_pay(Tuple<Int, Form, Any> choice) {
  Int key{};
  Form f{};
  Form had{};
  Dict<Int, Form> users{};
  Int saved{};
  Form g{};
  {
    auto t1_ = choice;
  key = at<0>(t1_);
  f = at<1>(t1_);
  }
  f = this->resolved(f);
  if ((key < Int(0))) {
    had = this->written.at_(Int(key));
    return (sub(add(this->_freed(had, Int(0)), this->_sum(had, f)), this->_needed(f)) > Int(0));
  }
  users = lookup(this->users, Int(key));
  if (!truthy(users)) {
    return false;
  }
  saved = sub(this->_spared(key, Int(0)), this->_needed(f));
  if (((saved > Int(0)) && ((len(users) == Int(1)) && (len(at<1>(f)) == Int(1))))) {
    return true;
  }
  {
  auto t2_c = users.values();
  for (auto&& t2_ : t2_c) {
    g = t2_;
    { Int v_ = this->_sum(g, this->_with(g, key, f)); auto& r_ = saved; r_ = add(r_, v_); }
  }
  }
  return (saved > Int(0));
}

inline Int Ledger::_spared(Int a, Int depth) {
  Int of{};
  Form x{};
  of = this->engine->kind[a];
  if (((of == Int(0)) || (of == Int(5)))) {
    return Int(0);
  }
  if (((depth > Int(4)) || ((of != Int(1)) && (of != Int(2))))) {
    return Int(1099511627776);
  }
  x = this->written.at_(Int(a));
  if ((len(this->owners.at_(Form(x))) > Int(1))) {
    return this->weight;
  }
  return add(add(this->weight, this->_sum(x, constants::ZERO)), this->_freed(x, add(depth, Int(1))));
}

inline Int Ledger::_freed(Form f, Int depth) {
  Int saved{};
  Int a{};
  saved = Int(0);
  {
  auto t1_c = at<1>(f);
  for (auto&& t1_ : t1_c) {
    a = at<0>(t1_);
    if ((len(this->users.at_(Int(a))) == Int(1))) {
      { Int v_ = this->_spared(a, depth); auto& r_ = saved; r_ = add(r_, v_); }
    }
  }
  }
  return saved;
}

inline Int Ledger::_needed(Form f) {
  List<Int> kind{};
  Dict<Int, Dict<Int, Form>> users{};
  Int spent{};
  Int a{};
  Int of{};
  Form x{};
  {
    auto t1_ = this->engine->kind;
    auto t2_ = this->users;
  kind = t1_;
  users = t2_;
  }
  spent = Int(0);
  {
  auto t3_c = at<1>(f);
  for (auto&& t3_ : t3_c) {
    a = at<0>(t3_);
    if (!users.has(Int(a))) {
      of = kind[a];
      if (((of == Int(1)) || (of == Int(2)))) {
        x = this->engine->arg[a];
        { Int v_ = add(sub(this->weight, this->_sum(constants::ZERO, x)), this->_needed(x)); auto& r_ = spent; r_ = add(r_, v_); }
      } else {
        if (((of != Int(0)) && (of != Int(5)))) {
          { Int v_ = this->unit; auto& r_ = spent; r_ = add(r_, v_); }
        }
      }
    }
  }
  }
  return spent;
}

inline Int Ledger::_sum(Form f, Form g) {
  Int saved{};
  saved = Int(0);
  if (!this->owners.has(Form(g))) {
    { Int v_ = this->_priced(g, f, Int(0)); auto& r_ = saved; r_ = sub(r_, v_); }
  }
  return mul(add(saved, this->_priced(f, g, Int(1))), this->unit);
}

inline Int Ledger::_priced(Form f, Form other, Int n) {
  List<Term> products{};
  Terms body{};
  Int spent{};
  List<Term> free{};
  Term t{};
  {
    auto t1_ = this->_shape(f);
  products = at<1>(t1_);
  body = at<2>(t1_);
  spent = at<3>(t1_);
  }
  if (truthy(products)) {
    free = at<1>(this->_shape(other));
    {
    auto t2_c = products;
    for (auto&& t2_ : t2_c) {
      t = t2_;
      if (((this->products.get(Term(t), Int(0)) <= n) && !in(t, free))) {
        { Int v_ = Int(1); auto& r_ = spent; r_ = add(r_, v_); }
      }
    }
    }
  }
  if ((truthy(body) && (this->bodies.get(Terms(body), Int(0)) <= n))) {
    { Int v_ = sub(len(body), Int(1)); auto& r_ = spent; r_ = add(r_, v_); }
  }
  return spent;
}

inline Tuple<Int, List<Term>, Terms, Int> Ledger::_shape(Form f) {
  Opt<Tuple<Int, List<Term>, Terms, Int>> found{};
  List<Term> products{};
  bool opposite{};
  Int a{};
  Int k{};
  Terms body{};
  Int spent{};
  found = lookup(this->shapes, Form(f));
  if (isnone(found)) {
    products = List<Term>::of({});
    opposite = truthy(at<1>(f));
    {
    auto t1_c = at<1>(f);
    for (auto&& t1_ : t1_c) {
      a = at<0>(t1_);
      k = at<1>(t1_);
      if ((k > Int(0))) {
        opposite = false;
      }
      if (((k != Int(1)) && (k != Int(-1)))) {
        products.append(mk(a, p_abs(k)));
      }
    }
    }
    body = ((len(at<1>(f)) < Int(2)) ? Terms(Terms()) : Terms((truthy(opposite) ? Terms(at<1>(functions::times(mk(Int(0), at<1>(f)), Int(-1)))) : Terms(at<1>(f)))));
    spent = ((truthy(opposite) || (truthy(at<0>(f)) && truthy(at<1>(f)))) ? Int(Int(1)) : Int(Int(0)));
    {
      auto t2_ = mk(len(this->shapes), products, body, spent);
    found = t2_;
    this->shapes.set(f, t2_);
    }
  }
  return some(found);
}

inline void Ledger::_own(Int owner, Form f) {
  Dict<Int, Unit> at_{};
  Int number{};
  List<Term> products{};
  Terms body{};
  Int spent{};
  Term t{};
  Int n{};
  List<Int> kind{};
  Dict<Int, Dict<Int, Form>> users{};
  Int a{};
  Dict<Int, Form> by{};
  Int of{};
  {
    auto t1_ = f;
  this->written.set(owner, t1_);
  }
  at_ = lookup(this->owners, Form(f));
  if (truthy(at_)) {
    {
      auto t2_ = none;
    at_.set(owner, t2_);
    }
    return;
  }
  {
    auto t3_ = [&] { auto d_ = Dict<Int, Unit>::make(); d_.set(owner, Unit{}); return d_; }();
  this->owners.set(f, t3_);
  }
  {
    auto t4_ = this->_shape(f);
  number = at<0>(t4_);
  products = at<1>(t4_);
  body = at<2>(t4_);
  spent = at<3>(t4_);
  }
  {
  auto t5_c = products;
  for (auto&& t5_ : t5_c) {
    t = t5_;
    n = this->products.get(Term(t), Int(0));
    {
      auto t6_ = add(n, Int(1));
    this->products.set(t, t6_);
    }
    if (!truthy(n)) {
      { Int v_ = Int(1); auto& r_ = spent; r_ = add(r_, v_); }
    }
  }
  }
  if (truthy(body)) {
    n = this->bodies.get(Terms(body), Int(0));
    {
      auto t7_ = add(n, Int(1));
    this->bodies.set(body, t7_);
    }
    if (!truthy(n)) {
      { Int v_ = sub(len(body), Int(1)); auto& r_ = spent; r_ = add(r_, v_); }
    }
  }
  { Int v_ = mul(spent, this->unit); auto& r_ = this->cost; r_ = add(r_, v_); }
  {
    auto t8_ = this->engine->kind;
    auto t9_ = this->users;
  kind = t8_;
  users = t9_;
  }
  {
  auto t10_c = at<1>(f);
  for (auto&& t10_ : t10_c) {
    a = at<0>(t10_);
    by = lookup(users, Int(a));
    if (truthy(by)) {
      {
        auto t11_ = f;
      by.set(number, t11_);
      }
    } else {
      {
        auto t12_ = [&] { auto d_ = Dict<Int, Form>::make(); d_.set(number, f); return d_; }();
      users.set(a, t12_);
      }
      of = kind[a];
      if (((of != Int(0)) && (of != Int(5)))) {
        this->_enter(a, of);
      }
    }
  }
  }
}

inline void Ledger::_enter(Int a, Int of) {
  Tup<Form> parts{};
  Int n{};
  Form x{};
  if (((of == Int(1)) || (of == Int(2)))) {
    { Int v_ = this->weight; auto& r_ = this->cost; r_ = add(r_, v_); }
    this->_own(a, this->resolved(this->engine->arg[a]));
  } else {
    parts = this->engine->parts.at_(Int(a));
    { Int v_ = mul(sub(len(parts), Int(1)), this->unit); auto& r_ = this->cost; r_ = add(r_, v_); }
    {
    Int t1_i = Int(0);
    auto t1_c = parts;
    for (auto&& t1_ : t1_c) {
      n = t1_i;
      x = t1_;
      t1_i++;
      this->_own(add(mul(add(n, Int(1)), Int(4294967296)), a), this->resolved(x));
    }
    }
  }
}

inline void Ledger::_disown(Int owner, Form f) {
  Dict<Int, Unit> at_{};
  Int number{};
  List<Term> products{};
  Terms body{};
  Int spent{};
  Term t{};
  Int n{};
  Dict<Int, Dict<Int, Form>> users{};
  Int a{};
  Dict<Int, Form> by{};
  at_ = this->owners.at_(Form(f));
  at_.erase(owner);
  if (truthy(at_)) {
    return;
  }
  this->owners.erase(f);
  {
    auto t1_ = this->_shape(f);
  number = at<0>(t1_);
  products = at<1>(t1_);
  body = at<2>(t1_);
  spent = at<3>(t1_);
  }
  {
  auto t2_c = products;
  for (auto&& t2_ : t2_c) {
    t = t2_;
    n = sub(this->products.at_(Term(t)), Int(1));
    if (truthy(n)) {
      {
        auto t3_ = n;
      this->products.set(t, t3_);
      }
    } else {
      this->products.erase(t);
      { Int v_ = Int(1); auto& r_ = spent; r_ = add(r_, v_); }
    }
  }
  }
  if (truthy(body)) {
    n = sub(this->bodies.at_(Terms(body)), Int(1));
    if (truthy(n)) {
      {
        auto t4_ = n;
      this->bodies.set(body, t4_);
      }
    } else {
      this->bodies.erase(body);
      { Int v_ = sub(len(body), Int(1)); auto& r_ = spent; r_ = add(r_, v_); }
    }
  }
  { Int v_ = mul(spent, this->unit); auto& r_ = this->cost; r_ = sub(r_, v_); }
  users = this->users;
  {
  auto t5_c = at<1>(f);
  for (auto&& t5_ : t5_c) {
    a = at<0>(t5_);
    by = users.at_(Int(a));
    by.erase(number);
    if (!truthy(by)) {
      users.erase(a);
      this->_leave(a, this->engine->kind[a]);
    }
  }
  }
}

inline void Ledger::_leave(Int a, Int of) {
  Tup<Form> parts{};
  Int n{};
  if (((of == Int(1)) || (of == Int(2)))) {
    { Int v_ = this->weight; auto& r_ = this->cost; r_ = sub(r_, v_); }
    this->_disown(a, this->written.pop(Int(a)));
  } else {
    if (((of != Int(0)) && (of != Int(5)))) {
      parts = this->engine->parts.at_(Int(a));
      { Int v_ = mul(sub(len(parts), Int(1)), this->unit); auto& r_ = this->cost; r_ = sub(r_, v_); }
      for (Int t1_ = Int(0), t1_e = len(parts); t1_ < t1_e; t1_++) {
        n = t1_;
        this->_disown(add(mul(add(n, Int(1)), Int(4294967296)), a), this->written.pop(Int(add(mul(add(n, Int(1)), Int(4294967296)), a))));
      }
    }
  }
}

inline List<Expr> Ledger::expressions() {
  Dict<Int, Expr> done{};
  Dict<Int, Form> choice{};
  if ((!truthy(this->choice) && !truthy(this->engine->normals))) {
    return [&] { auto l_ = List<Expr>::make(); auto t1_c = this->forms; for (auto&& t1_ : t1_c) { Form f = t1_; l_.append(this->engine->write(f)); } return l_; }();
  }
  done = Dict<Int, Expr>::make();
  choice = this->choice;
  return [&] { auto l_ = List<Expr>::make(); Int t2_i = Int(0); auto t2_c = this->forms; for (auto&& t2_ : t2_c) { Int i = t2_i; Form f = t2_; t2_i++; l_.append(this->express(choice.get(Int(sub(Int(-1), i)), f), done)); } return l_; }();
}

inline Expr Ledger::express(Form f, Dict<Int, Expr> done) {
  Int c{};
  Terms terms{};
  List<Tuple<Expr, Int>> parts{};
  Int a{};
  Int k{};
  Expr e{};
  {
    auto t1_ = this->resolved(f);
  c = at<0>(t1_);
  terms = at<1>(t1_);
  }
  if (!truthy(terms)) {
    return functions::integer(c);
  }
  parts = List<Tuple<Expr, Int>>::of({});
  {
  auto t2_c = terms;
  for (auto&& t2_ : t2_c) {
    a = at<0>(t2_);
    k = at<1>(t2_);
    e = lookup(done, Int(a));
    if (isnone(e)) {
      {
        auto t3_ = this->_atom(a, done);
      e = t3_;
      done.set(a, t3_);
      }
    }
    parts.append(mk(e, k));
  }
  }
  return functions::linear(c, parts);
}

inline Expr Ledger::_atom(Int a, Dict<Int, Expr> done) {
  Engine* engine{};
  Int of{};
  Expr made{};
  List<Expr> parts{};
  engine = this->engine;
  of = engine->kind[a];
  if (((of == Int(0)) || (of == Int(5)))) {
    made = engine->expr[a];
    return made;
  }
  if ((of == Int(1))) {
    return functions::floordiv(this->express(engine->arg[a], done), engine->divisor[a]);
  }
  if ((of == Int(2))) {
    return functions::mod(this->express(engine->arg[a], done), engine->divisor[a]);
  }
  parts = [&] { auto l_ = List<Expr>::make(); auto t1_c = engine->parts.at_(Int(a)); for (auto&& t1_ : t1_c) { Form x = t1_; l_.append(this->express(x, done)); } return l_; }();
  return ((of == Int(3)) ? Expr(functions::minimum(parts)) : Expr(functions::maximum(parts)));
}

inline Search::Search(Ledger* ledger) {
  {
    auto t1_ = ledger;
  this->ledger = t1_;
  }
  {
    auto t2_ = ledger->engine;
  this->engine = t2_;
  }
  {
    auto t1_ = Dict<Form, Int>::make();
  this->digests = t1_;
  }
}

template <class S, class... V> inline List<Tuple<Int, Form, Any>> Search::instead(Int a, S strategy, V... values) {
  Engine* engine{};
  Form x{};
  Opt<Tuple<Form, Any>> found{};
  if ((a < Int(0))) {
    return List<Tuple<Int, Form, Any>>::of({});
  }
  engine = this->engine;
  x = this->ledger->written.get(Int(a), engine->arg[a]);
  found = this->_applied(engine->kind[a], strategy, x, engine->divisor[a], values...);
  return (!isnone(found) ? List<Tuple<Int, Form, Any>>(List<Tuple<Int, Form, Any>>::of({mk(a, at<0>(some(found)), at<1>(some(found)))})) : List<Tuple<Int, Form, Any>>(List<Tuple<Int, Form, Any>>::of({})));
}

template <class S, class... V> inline List<Tuple<Int, Form, Any>> Search::everywhere(Form f, S strategy, V... values) {
  Opt<Tuple<Form, Any>> found{};
  found = this->_applied(Int(6), strategy, f, values...);
  if ((isnone(found) || (this->ledger->resolved(at<0>(some(found))) == f))) {
    return List<Tuple<Int, Form, Any>>::of({});
  }
  return this->_replacing(f, at<0>(some(found)), at<1>(some(found)));
}

inline List<Tuple<Int, Form, Any>> Search::_replacing(Form f, Form by, Any why) {
  Ledger* ledger{};
  Engine* engine{};
  Dict<Int, Tuple<Int, Form, Any>> choices{};
  Room<Dict<Int, Tuple<Int, Form, Any>>> here_choices;
  Int owner{};
  Int a{};
  List<Form> written{};
  Form new_{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  choices = Dict<Int, Tuple<Int, Form, Any>>::make(here_choices);
  {
  auto t3_c = ledger->owners.at_(Form(f));
  for (auto&& t3_ : t3_c) {
    owner = t3_;
    if ((owner >= Int(4294967296))) {
      a = floor_mod(owner, Int(4294967296));
      written = ledger->arguments(a);
      new_ = engine->raw_extremum(engine->kind[a], Tup<Form>::from([&](auto&& r_) { auto l_ = List<Form>::make(r_); auto t4_c = written; for (auto&& t4_ : t4_c) { Form x = t4_; l_.append(((x == f) ? Form(by) : Form(x))); } return l_; }(Room<List<Form>>())));
      {
        auto t5_ = mk(a, new_, why);
      choices.set(a, t5_);
      }
    } else {
      if ((owner < Int(0))) {
        {
          auto t6_ = mk(owner, by, why);
        choices.set(owner, t6_);
        }
      } else {
        {
          auto t7_ = mk(owner, engine->raw(engine->kind[owner], by, engine->divisor[owner]), why);
        choices.set(owner, t7_);
        }
      }
    }
  }
  }
  return List<Tuple<Int, Form, Any>>::from(choices.values());
}

inline List<Tuple<Int, Form, Any>> Search::normal_sum(Form f) {
  Form g{};
  g = this->engine->normal(f);
  return ((f != g) ? List<Tuple<Int, Form, Any>>(this->_replacing(f, g, mk(none, mk(f, g)))) : List<Tuple<Int, Form, Any>>(List<Tuple<Int, Form, Any>>::of({})));
}

inline List<Tuple<Int, Form, Any>> Search::normal_atom(Int a) {
  Form f{};
  f = this->engine->normal(functions::atom(a));
  return ((functions::lone(f) != a) ? List<Tuple<Int, Form, Any>>(List<Tuple<Int, Form, Any>>::of({mk(a, f, mk(none, mk(functions::atom(a), f)))})) : List<Tuple<Int, Form, Any>>(List<Tuple<Int, Form, Any>>::of({})));
}

inline List<Tuple<Int, Form, Any>> Search::read_again(Int a) {
  Form f{};
  f = this->engine->read(this->ledger->express(functions::atom(a), Dict<Int, Expr>::make()));
  return ((functions::lone(f) != a) ? List<Tuple<Int, Form, Any>>(List<Tuple<Int, Form, Any>>::of({mk(a, f, mk(none, mk(functions::atom(a), f)))})) : List<Tuple<Int, Form, Any>>(List<Tuple<Int, Form, Any>>::of({})));
}

inline List<Form> Search::sums() {
  return [&] { auto l_ = List<Form>::make(); auto t1_c = this->ledger->owners; for (auto&& t1_ : t1_c) { Form f = t1_; if (!((truthy(at<1>(f)) && (functions::lone(f) < Int(0))))) continue; l_.append(f); } return l_; }();
}

inline List<Int> Search::divisions(Int of) {
  List<Int> kind{};
  List<Int> found{};
  kind = this->engine->kind;
  found = [&] { auto l_ = List<Int>::make(); auto t1_c = this->ledger->users; for (auto&& t1_ : t1_c) { Int a = t1_; if (!((kind[a] == of))) continue; l_.append(a); } return l_; }();
  if ((len(found) > Int(1))) {
    this->sort(found);
  }
  return found;
}

inline Dict<Form, List<Int>> Search::dividends() {
  Dict<Form, List<Int>> found{};
  Form f{};
  Dict<Int, Unit> owners{};
  List<Int> atoms{};
  found = Dict<Form, List<Int>>::make();
  {
  auto t1_c = this->ledger->owners.items();
  for (auto&& t1_ : t1_c) {
    f = at<0>(t1_);
    owners = at<1>(t1_);
    atoms = [&] { auto l_ = List<Int>::make(); auto t2_c = owners; for (auto&& t2_ : t2_c) { Int a = t2_; if (!(((Int(0) <= a) && (a < Int(4294967296))))) continue; l_.append(a); } return l_; }();
    if ((truthy(atoms) && truthy(at<1>(f)))) {
      {
        auto t3_ = atoms;
      found.set(f, t3_);
      }
    }
  }
  }
  return found;
}

inline bool Search::there(Form f) {
  Dict<Int, Dict<Int, Form>> users{};
  List<Int> kind{};
  {
    auto t1_ = this->ledger->users;
    auto t2_ = this->engine->kind;
  users = t1_;
  kind = t2_;
  }
  return [&] { auto t3_c = at<1>(f); for (auto&& t3_ : t3_c) { Int a = at<0>(t3_); if (!(((kind[a] == Int(0)) || users.has(Int(a))))) return false; } return !false; }();
}

inline Form Search::quotient(Int a) {
  Engine* engine{};
  Form x{};
  Int d{};
  Dict<Int, Dict<Int, Form>> users{};
  Int q{};
  Int b{};
  engine = this->engine;
  if (!engine->normals.has(Int(a))) {
    return engine->quotient_above(a);
  }
  {
    auto t1_ = engine->arg[a];
    auto t2_ = engine->divisor[a];
    auto t3_ = this->ledger->users;
  x = t1_;
  d = t2_;
  users = t3_;
  }
  q = engine->raws.get(Tuple<Int, Form, Int>(mk(Int(1), x, d)), Int(-1));
  if (users.has(Int(q))) {
    return functions::atom(q);
  }
  b = functions::lone(x);
  if (((b >= Int(0)) && (engine->kind[b] == Int(1)))) {
    q = engine->raws.get(Tuple<Int, Form, Int>(mk(Int(1), engine->arg[b], mul(engine->divisor[b], d))), Int(-1));
    if (users.has(Int(q))) {
      return functions::atom(q);
    }
  }
  return engine->floordiv(engine->normal(x), d);
}

inline Int Search::digest(Form f) {
  Opt<Int> found{};
  found = lookup(this->digests, Form(f));
  if (isnone(found)) {
    found = py_hash(mk(add(mul(Int(2), at<0>(f)), Int(1)), sorted_terms([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t1_c = at<1>(f); for (auto&& t1_ : t1_c) { Int a = at<0>(t1_); Int k = at<1>(t1_); l_.append(mk(this->_of_atom(a), add(mul(Int(2), k), Int(1)))); } return l_; }(Room<List<Term>>()))));
    {
      auto t2_ = some(found);
    this->digests.set(f, t2_);
    }
  }
  return some(found);
}

inline Int Search::_of_atom(Int a) {
  Engine* engine{};
  Int of{};
  Expr e{};
  engine = this->engine;
  of = engine->kind[a];
  if (((of == Int(1)) || (of == Int(2)))) {
    return py_hash(mk(of, engine->divisor[a], this->digest(engine->arg[a])));
  }
  if (((of >= Int(3)) && engine->parts.has(Int(a)))) {
    return py_hash(mk(of, Tup<Int>::from(sorted<Int>([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t1_c = engine->parts.at_(Int(a)); for (auto&& t1_ : t1_c) { Form f = t1_; l_.append(this->digest(f)); } return l_; }(Room<List<Int>>())))));
  }
  e = engine->expr[a];
  return e->key;
}

inline void Search::sort(List<Int> atoms) {
  List<Int> divisor{};
  List<Form> arg{};
  List<Term> ranks{};
  {
    auto t1_ = this->engine->divisor;
    auto t2_ = this->engine->arg;
  divisor = t1_;
  arg = t2_;
  }
  ranks = sorted<Term>([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t3_c = atoms; for (auto&& t3_ : t3_c) { Int a = t3_; l_.append(mk(neg(divisor[a]), a)); } return l_; }(Room<List<Term>>()));
  if (truthy([&] { for (Int t4_ = Int(0), t4_e = sub(len(ranks), Int(1)); t4_ < t4_e; t4_++) { Int i = t4_; if (((at<0>(ranks[i]) == at<0>(ranks[add(i, Int(1))])))) return true; } return !true; }())) {
    atoms.sort([&](const auto& a) { return mk(neg(divisor[a]), this->digest(arg[a])); });
  } else {
    {
      auto t5_ = [&] { auto l_ = List<Int>::make(); auto t6_c = ranks; for (auto&& t6_ : t6_c) { Int a = at<1>(t6_); l_.append(a); } return l_; }();
    atoms.assign(t5_);
    }
  }
}

inline List<Form> Search::widest(List<Form> forms) {
  if ((len(forms) < Int(2))) {
    return forms;
  }
  return sorted<Form>(forms, [&](const auto& f) { return mk(neg(len(at<1>(f))), this->digest(f)); });
}

inline void Search::differences() {
  Ledger* ledger{};
  bool again{};
  Int a{};
  Form q{};
  List<Int> new_{};
  Room<List<Int>> here_new;
  List<List<Tuple<Int, Form, Any>>> ways{};
  Room<List<List<Tuple<Int, Form, Any>>>> here_ways;
  ledger = this->ledger;
  again = true;
  while (truthy(again)) {
    again = false;
    {
    auto t1_c = this->divisions(Int(2));
    for (auto&& t1_ : t1_c) {
      a = t1_;
      if (!ledger->users.has(Int(a))) {
        continue;
      }
      q = this->quotient(a);
      new_ = [&] { auto l_ = List<Int>::make(here_new); auto t2_c = at<1>(ledger->resolved(q)); for (auto&& t2_ : t2_c) { Int b = at<0>(t2_); if (!((truthy(this->engine->kind[b]) && !ledger->users.has(Int(b))))) continue; l_.append(b); } return l_; }();
      if ((truthy(new_) && ((len(new_) > Int(1)) || !truthy(this->_pays(a, new_[Int(0)]))))) {
        continue;
      }
      ways = List<List<Tuple<Int, Form, Any>>>::of({this->instead(a, strategy::needed_quotient{}, q), this->_without(a, q), this->_same_dividend(a, q)}, here_ways);
      if ((truthy(ledger->best([&](auto&& r_) { auto l_ = List<List<Tuple<Int, Form, Any>>>::make(r_); auto t3_c = ways; for (auto&& t3_ : t3_c) { List<Tuple<Int, Form, Any>> c = t3_; if (!(truthy(c))) continue; l_.append(c); } return l_; }(Room<List<List<Tuple<Int, Form, Any>>>>()))) && truthy(new_))) {
        again = true;
      }
    }
    }
  }
}

inline List<Tuple<Int, Form, Any>> Search::_without(Int a, Form q) {
  Engine* engine{};
  Ledger* ledger{};
  Int b{};
  List<Form> sums{};
  {
    auto t1_ = this->engine;
    auto t2_ = this->ledger;
  engine = t1_;
  ledger = t2_;
  }
  b = functions::lone(q);
  sums = (ledger->users.has(Int(b)) ? List<Form>(List<Form>::from(ledger->users.at_(Int(b)).values())) : List<Form>(List<Form>::of({})));
  if (!truthy([&] { auto t3_c = sums; for (auto&& t3_ : t3_c) { Form f = t3_; if (!(!truthy(floor_mod(engine->coefficient(f, b), engine->divisor[a])))) return false; } return !false; }())) {
    return List<Tuple<Int, Form, Any>>::of({});
  }
  return [&] { auto l_ = List<Tuple<Int, Form, Any>>::make(); auto t4_c = sums; for (auto&& t4_ : t4_c) { Form f = t4_; auto t5_c = this->everywhere(f, strategy::needed_remainder{}, b, functions::atom(a)); for (auto&& t5_ : t5_c) { Tuple<Int, Form, Any> c = t5_; l_.append(c); }} return l_; }();
}

inline List<Tuple<Int, Form, Any>> Search::_same_dividend(Int a, Form q) {
  Int b{};
  b = functions::lone(q);
  if ((!this->ledger->users.has(Int(b)) || (this->engine->kind[b] != Int(1)))) {
    return List<Tuple<Int, Form, Any>>::of({});
  }
  return this->released(b, this->ledger->written.at_(Int(a)));
}

inline List<Tuple<Int, Form, Any>> Search::released(Int a, Form x) {
  Ledger* ledger{};
  Engine* engine{};
  Int b{};
  Int k{};
  Int e{};
  Form inside{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  {
  auto t3_c = at<1>(x);
  for (auto&& t3_ : t3_c) {
    b = at<0>(t3_);
    k = at<1>(t3_);
    if (((k != Int(1)) || ((engine->kind[b] != Int(1)) || truthy(floor_mod(engine->divisor[a], engine->divisor[b]))))) {
      continue;
    }
    e = engine->divisor[b];
    inside = ledger->written.at_(Int(b));
    if ((functions::minus(functions::minus(inside, x, neg(e)), functions::atom(b), e) == ledger->written.at_(Int(a)))) {
      return this->instead(a, strategy::divided_part{}, e, functions::atom(b), inside);
    }
  }
  }
  return List<Tuple<Int, Form, Any>>::of({});
}

inline bool Search::_pays(Int a, Int q) {
  Engine* engine{};
  Ledger* ledger{};
  Form x{};
  Form f{};
  Dict<Int, Int> total_{};
  Room<Dict<Int, Int>> here_total;
  Int b{};
  Int k{};
  Int j{};
  {
    auto t1_ = this->engine;
    auto t2_ = this->ledger;
  engine = t1_;
  ledger = t2_;
  }
  if (((engine->kind[q] != Int(1)) || !truthy(this->there(engine->arg[q])))) {
    return false;
  }
  x = ledger->written.at_(Int(a));
  {
  auto t3_c = ledger->users.at_(Int(a)).values();
  for (auto&& t3_ : t3_c) {
    f = t3_;
    total_ = Dict<Int, Int>::from(at<1>(f), here_total);
    {
    auto t4_c = at<1>(x);
    for (auto&& t4_ : t4_c) {
      b = at<0>(t4_);
      k = at<1>(t4_);
      j = total_.get(Int(b), Int(0));
      if ((truthy(j) && ((add(j, mul(k, total_.at_(Int(a)))) == Int(0)) || (!(j == Int(1) || j == Int(-1)) && (p_abs(add(j, mul(k, total_.at_(Int(a))))) == Int(1)))))) {
        return true;
      }
    }
    }
  }
  }
  return false;
}

inline void Search::differences_inside() {
  Ledger* ledger{};
  Engine* engine{};
  List<Int> kind{};
  List<Int> inner{};
  Room<List<Int>> here_inner;
  Int r{};
  Dict<Int, Form> users{};
  Int mark{};
  Int cost{};
  Form q{};
  Int before{};
  List<Int> dividends{};
  Room<List<Int>> here_dividends;
  List<Tuple<Int, Form, Any>> choices{};
  Int b{};
  Tuple<Int, Form, Any> choice{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  kind = engine->kind;
  inner = List<Int>::of({}, here_inner);
  {
  auto t3_c = ledger->users.items();
  for (auto&& t3_ : t3_c) {
    r = at<0>(t3_);
    users = at<1>(t3_);
    if ((kind[r] == Int(2))) {
      if (truthy([&] { auto t4_c = users.values(); for (auto&& t4_ : t4_c) { Form f = t4_; auto t5_c = ledger->owners.at_(Form(f)); for (auto&& t5_ : t5_c) { Int o = t5_; if ((((Int(0) <= o) && (o < Int(4294967296))))) return true; }} return !true; }())) {
        inner.append(r);
      }
    }
  }
  }
  if ((len(inner) > Int(1))) {
    this->sort(inner);
  }
  mark = len(ledger->log);
  cost = ledger->cost;
  {
  auto t6_c = slice(inner, 0, Int(16));
  for (auto&& t6_ : t6_c) {
    r = t6_;
    if (!ledger->users.has(Int(r))) {
      continue;
    }
    q = this->quotient(r);
    if (!truthy(this->there(q))) {
      continue;
    }
    before = len(ledger->log);
    dividends = [&] { auto l_ = List<Int>::make(here_dividends); auto t7_c = ledger->users.at_(Int(r)).values(); for (auto&& t7_ : t7_c) { Form f = t7_; auto t8_c = ledger->owners.at_(Form(f)); for (auto&& t8_ : t8_c) { Int o = t8_; if (!(((Int(0) <= o) && (o < Int(4294967296))))) continue; l_.append(o); }} return l_; }();
    choices = this->instead(r, strategy::needed_quotient{}, q);
    if ((!truthy(choices) || !truthy(ledger->choose(choices[Int(0)])))) {
      ledger->undo(before);
      continue;
    }
    {
    auto t9_c = sorted<Int>(dividends);
    for (auto&& t9_ : t9_c) {
      b = t9_;
      if (!ledger->users.has(Int(b))) {
        continue;
      }
      {
      auto t10_c = this->read_again(b);
      for (auto&& t10_ : t10_c) {
        choice = t10_;
        if (!truthy(ledger->reaches(at<1>(choice), r))) {
          ledger->choose(choice);
        }
      }
      }
    }
    }
    if ((ledger->cost < cost)) {
      {
        auto t11_ = ledger->cost;
        auto t12_ = len(ledger->log);
      cost = t11_;
      mark = t12_;
      }
    }
  }
  }
  ledger->undo(mark);
}

inline void Search::inner_remainders() {
  Ledger* ledger{};
  Engine* engine{};
  List<Int> kind{};
  List<Int> divisor{};
  Dict<Int, List<Tuple<Int, Form, Any>>> together{};
  Room<Dict<Int, List<Tuple<Int, Form, Any>>>> here_together;
  List<Int> quotients{};
  Dict<Int, List<Int>> divisors{};
  Room<Dict<Int, List<Int>>> here_divisors;
  Int a{};
  Form y{};
  Int d{};
  List<Int> remainders{};
  Room<List<Int>> here_remainders;
  Int b{};
  Int m{};
  Int k{};
  Form q{};
  Form r{};
  Int j{};
  bool exact{};
  List<Int> inside{};
  Room<List<Int>> here_inside;
  Form z{};
  List<Tuple<Int, Form, Any>> choices{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  {
    auto t3_ = engine->kind;
    auto t4_ = engine->divisor;
  kind = t3_;
  divisor = t4_;
  }
  together = Dict<Int, List<Tuple<Int, Form, Any>>>::make(here_together);
  quotients = this->divisions(Int(1));
  divisors = Dict<Int, List<Int>>::make(here_divisors);
  {
  auto t5_c = quotients;
  for (auto&& t5_ : t5_c) {
    a = t5_;
    divisors.setdefault(Int(divisor[a]), List<Int>::of({})).append(a);
  }
  }
  {
  auto t6_c = quotients;
  for (auto&& t6_ : t6_c) {
    a = t6_;
    if (!ledger->users.has(Int(a))) {
      continue;
    }
    {
      auto t7_ = ledger->written.at_(Int(a));
      auto t8_ = divisor[a];
    y = t7_;
    d = t8_;
    }
    remainders = [&] { auto l_ = List<Int>::make(here_remainders); auto t9_c = at<1>(y); for (auto&& t9_ : t9_c) { Int b = at<0>(t9_); if (!((kind[b] == Int(2)))) continue; l_.append(b); } return l_; }();
    if ((len(remainders) > Int(1))) {
      this->sort(remainders);
    }
    {
    auto t10_c = remainders;
    for (auto&& t10_ : t10_c) {
      b = t10_;
      {
        auto t11_ = divisor[b];
        auto t12_ = engine->coefficient(y, b);
      m = t11_;
      k = t12_;
      }
      q = this->quotient(b);
      r = engine->normal(functions::minus(y, functions::atom(b), k));
      j = floor_div(add(mul(k, m), floor_div(d, Int(2))), d);
      exact = (mul(k, m) == mul(j, d));
      if (truthy(exact)) {
        if ((!truthy(this->there(q)) && (len(divisors.at_(Int(d))) < Int(2)))) {
          continue;
        }
      } else {
        if (!truthy(this->there(q))) {
          continue;
        }
        inside = [&] { auto l_ = List<Int>::make(here_inside); auto t13_c = at<1>(r); for (auto&& t13_ : t13_c) { Term t = t13_; l_.append(at<0>(t)); } return l_; }();
        if (truthy([&] { auto t14_c = at<1>(q); for (auto&& t14_ : t14_c) { Term t = t14_; if ((in(at<0>(t), inside))) return true; } return !true; }())) {
          j = Int(0);
        }
      }
      z = engine->add_(functions::times(engine->normal(engine->arg[b]), k), r);
      if (!truthy(exact)) {
        z = engine->add_(z, functions::times(engine->normal(q), sub(mul(j, d), mul(k, m))));
      }
      choices = this->instead(a, strategy::inner_remainder{}, b, j, engine->floordiv(z, d), q);
      if (!truthy(choices)) {
        continue;
      }
      if (truthy(ledger->attempt(choices))) {
        break;
      }
      together.setdefault(Int(b), List<Tuple<Int, Form, Any>>::of({})).extend(choices);
    }
    }
  }
  }
  {
  auto t15_c = together.values();
  for (auto&& t15_ : t15_c) {
    choices = t15_;
    if ((len(choices) > Int(1))) {
      ledger->attempt([&](auto&& r_) { auto l_ = List<Tuple<Int, Form, Any>>::make(r_); auto t16_c = choices; for (auto&& t16_ : t16_c) { Tuple<Int, Form, Any> c = t16_; if (!(ledger->users.has(Int(at<0>(c))))) continue; l_.append(c); } return l_; }(Room<List<Tuple<Int, Form, Any>>>()));
    }
  }
  }
}

inline void Search::multiples() {
  Ledger* ledger{};
  Engine* engine{};
  List<Int> kind{};
  List<Int> divisor{};
  Dict<Int, List<Form>> found{};
  Room<Dict<Int, List<Form>>> here_found;
  Form f{};
  Int a{};
  Int v{};
  List<Int> candidates{};
  Room<List<Int>> here_candidates;
  Form x{};
  Int d{};
  Form t{};
  Int b{};
  List<Tuple<Int, Form, Any>> choices{};
  Room<List<Tuple<Int, Form, Any>>> here_choices;
  Int failed{};
  List<Tuple<Int, Form, Any>> mine{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  {
    auto t3_ = engine->kind;
    auto t4_ = engine->divisor;
  kind = t3_;
  divisor = t4_;
  }
  found = Dict<Int, List<Form>>::make(here_found);
  {
  auto t5_c = ledger->owners;
  for (auto&& t5_ : t5_c) {
    f = t5_;
    {
    auto t6_c = at<1>(f);
    for (auto&& t6_ : t6_c) {
      a = at<0>(t6_);
      v = at<1>(t6_);
      if (((kind[a] == Int(1)) && !truthy(floor_mod(v, divisor[a])))) {
        found.setdefault(Int(a), List<Form>::of({})).append(f);
      }
    }
    }
  }
  }
  candidates = List<Int>::from(found, here_candidates);
  if ((len(candidates) > Int(1))) {
    this->sort(candidates);
  }
  {
  auto t7_c = candidates;
  for (auto&& t7_ : t7_c) {
    a = t7_;
    if (!ledger->users.has(Int(a))) {
      continue;
    }
    {
      auto t8_ = engine->arg[a];
      auto t9_ = divisor[a];
    x = t8_;
    d = t9_;
    }
    if (((functions::lone(x) < Int(0)) && !truthy(this->_joins(a, x)))) {
      continue;
    }
    t = engine->mod(engine->normal(x), d);
    if (engine->normals.has(Int(a))) {
      b = engine->raws.get(Tuple<Int, Form, Int>(mk(Int(2), x, d)), Int(-1));
      if (ledger->users.has(Int(b))) {
        t = functions::atom(b);
      }
    }
    choices = List<Tuple<Int, Form, Any>>::of({}, here_choices);
    failed = Int(0);
    {
    auto t10_c = found.at_(Int(a));
    for (auto&& t10_ : t10_c) {
      f = t10_;
      if (!ledger->owners.has(Form(f))) {
        continue;
      }
      mine = this->everywhere(f, strategy::needed_remainder{}, a, t);
      if ((truthy(mine) && !truthy(ledger->attempt(mine)))) {
        choices.extend(mine);
        { Int v_ = Int(1); auto& r_ = failed; r_ = add(r_, v_); }
      }
    }
    }
    if ((failed > Int(1))) {
      ledger->attempt(choices);
    }
  }
  }
}

inline bool Search::_joins(Int a, Form x) {
  Ledger* ledger{};
  Engine* engine{};
  Form f{};
  List<Int> there{};
  Room<List<Int>> here_there;
  Int owner{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  {
  auto t3_c = ledger->users.at_(Int(a)).values();
  for (auto&& t3_ : t3_c) {
    f = t3_;
    there = [&] { auto l_ = List<Int>::make(here_there); auto t4_c = at<1>(f); for (auto&& t4_ : t4_c) { Term t = t4_; l_.append(at<0>(t)); } return l_; }();
    if (truthy([&] { auto t5_c = at<1>(x); for (auto&& t5_ : t5_c) { Term t = t5_; if (!(in(at<0>(t), there))) return false; } return !false; }())) {
      return true;
    }
  }
  }
  {
  auto t6_c = lookup(ledger->owners, Form(ledger->written.at_(Int(a))));
  if (!isnone(t6_c)) for (auto&& t6_ : t6_c) {
    owner = t6_;
    if ((((Int(0) <= owner) && (owner < Int(4294967296))) && (engine->kind[owner] == Int(2)))) {
      if ((engine->divisor[owner] == engine->divisor[a])) {
        return true;
      }
    }
  }
  }
  return false;
}

inline void Search::known_digits() {
  Ledger* ledger{};
  Engine* engine{};
  List<Int> kind{};
  List<Form> arg{};
  List<Int> divisor{};
  Form f{};
  List<Term> todo{};
  Room<List<Term>> here_todo;
  Int mark{};
  Int cost{};
  Form g{};
  Int a{};
  Int v{};
  List<Tuple<Int, Form, Any>> choices{};
  Int b{};
  Int e{};
  Int n{};
  Form x{};
  Int owner{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  {
    auto t3_ = engine->kind;
    auto t4_ = engine->arg;
    auto t5_ = engine->divisor;
  kind = t3_;
  arg = t4_;
  divisor = t5_;
  }
  {
  auto t6_c = this->sums();
  for (auto&& t6_ : t6_c) {
    f = t6_;
    if (!ledger->owners.has(Form(f))) {
      continue;
    }
    todo = List<Term>::from(at<1>(f), here_todo);
    {
      auto t7_ = len(ledger->log);
      auto t8_ = ledger->cost;
    mark = t7_;
    cost = t8_;
    }
    g = f;
    while (truthy(todo)) {
      {
        auto t9_ = todo.pop();
      a = at<0>(t9_);
      v = at<1>(t9_);
      }
      choices = List<Tuple<Int, Form, Any>>::of({});
      if ((kind[a] == Int(1))) {
        choices = this->_above_known(g, a, v);
      } else {
        if ((kind[a] == Int(2))) {
          b = functions::lone(arg[a]);
          if (((b >= Int(0)) && ((kind[b] == Int(1)) && !truthy(floor_mod(v, divisor[b]))))) {
            {
              auto t10_ = divisor[b];
              auto t11_ = divisor[a];
              auto t12_ = engine->normal(arg[b]);
            e = t10_;
            n = t11_;
            x = t12_;
            }
            if (!truthy(at<1>(engine->mod(x, e)))) {
              choices = this->everywhere(g, strategy::digit_above_known{}, a, e, engine->mod(x, mul(e, n)), x);
            }
          }
        }
      }
      if (truthy(choices)) {
        owner = (*ledger->owners.at_(Form(g)).begin());
        if (!truthy([&] { auto t13_c = choices; for (auto&& t13_ : t13_c) { Tuple<Int, Form, Any> c = t13_; if (!(truthy(ledger->choose(c)))) return false; } return !false; }())) {
          break;
        }
        g = ledger->written.get(Int(owner), g);
        if (!ledger->owners.has(Form(g))) {
          break;
        }
        todo = List<Term>::from(at<1>(g), here_todo);
      }
    }
    if ((len(ledger->log) > mark)) {
      this->differences();
      if ((ledger->cost >= cost)) {
        ledger->undo(mark);
      }
    }
  }
  }
}

inline List<Tuple<Int, Form, Any>> Search::_above_known(Form f, Int a, Int v) {
  Engine* engine{};
  Form x{};
  Int e{};
  Terms terms{};
  Int n{};
  Form q{};
  engine = this->engine;
  {
    auto t1_ = engine->normal(engine->arg[a]);
    auto t2_ = engine->divisor[a];
  x = t1_;
  e = t2_;
  }
  if ((!truthy(floor_mod(v, e)) && !isnone(engine->known_remainder(x, e)))) {
    return this->everywhere(f, strategy::known_remainder{}, a, floor_div(v, e));
  }
  {
  auto t3_c = engine->exact;
  for (auto&& t3_ : t3_c) {
    terms = at<0>(t3_);
    n = at<1>(t3_);
    if ((truthy(floor_mod(v, n)) || (truthy(floor_mod(e, n)) || ((n < Int(2)) || (n == e))))) {
      continue;
    }
    q = engine->floordiv(x, floor_div(e, n));
    if (((at<1>(q) == terms) && !isnone(engine->known_remainder(q, n)))) {
      return this->everywhere(f, strategy::known_digit{}, a, floor_div(e, n), q);
    }
  }
  }
  return List<Tuple<Int, Form, Any>>::of({});
}

inline void Search::improve() {
  List<Int> kind{};
  List<Tuple<Tuple<Int, Form, Any>, Opt<Form>, List<Tuple<Int, Form>>>> log{};
  bool exact{};
  List<Way> ways{};
  Int idle{};
  Way way{};
  Int mark{};
  kind = this->engine->kind;
  if (!truthy([&] { auto t1_c = this->ledger->users; for (auto&& t1_ : t1_c) { Int a = t1_; if (((kind[a] == Int(1) || kind[a] == Int(2)))) return true; } return !true; }())) {
    return;
  }
  {
    auto t2_ = this->ledger->log;
    auto t3_ = truthy(this->engine->exact);
  log = t2_;
  exact = t3_;
  }
  ways = List<Way>::of({&Search::digits_with_rest, &Search::differences, &Search::inner_remainders, &Search::multiples, &Search::signs, &Search::turned, &Search::differences_inside, &Search::wider, &Search::constants, &Search::factors});
  if (truthy(exact)) {
    ways = [&] { auto l_ = List<Way>::make(); l_.append(&Search::known_digits); l_.extend(ways); l_.append(&Search::negated); return l_; }();
  }
  idle = Int(0);
  for (Int t4_ = Int(0), t4_e = Int(4); t4_ < t4_e; t4_++) {
    {
    auto t5_c = ways;
    for (auto&& t5_ : t5_c) {
      way = t5_;
      mark = len(log);
      (this->*way)();
      idle = ((len(log) == mark) ? Int(add(idle, Int(1))) : Int(Int(0)));
      if ((idle == len(ways))) {
        return;
      }
    }
    }
  }
}

inline void Search::normal_forms() {
  Ledger* ledger{};
  Form x{};
  Int i{};
  Int a{};
  ledger = this->ledger;
  {
  Room<List<Form>> t1_r;
  auto t1_c = List<Form>::from(this->dividends(), t1_r);
  for (auto&& t1_ : t1_c) {
    x = t1_;
    if (ledger->owners.has(Form(x))) {
      ledger->attempt(this->normal_sum(x));
    }
  }
  }
  for (Int t2_ = Int(0), t2_e = len(ledger->forms); t2_ < t2_e; t2_++) {
    i = t2_;
    ledger->attempt(this->normal_sum(ledger->written.at_(Int(sub(Int(-1), i)))));
  }
  {
  auto t3_c = sorted<Int>(this->engine->normals);
  for (auto&& t3_ : t3_c) {
    a = t3_;
    if (ledger->users.has(Int(a))) {
      ledger->attempt(this->normal_atom(a));
    }
  }
  }
}

inline void Search::wider() {
  Ledger* ledger{};
  Dict<Form, List<Int>> dividends{};
  List<Form> costly{};
  List<Form> wide{};
  Form y{};
  Form x{};
  List<Int> users{};
  Room<List<Int>> here_users;
  ledger = this->ledger;
  dividends = this->dividends();
  costly = [&] { auto l_ = List<Form>::make(); auto t1_c = dividends; for (auto&& t1_ : t1_c) { Form x = t1_; if (!((functions::lone(x) < Int(0)))) continue; l_.append(x); } return l_; }();
  if (((len(dividends) < Int(2)) || !truthy(costly))) {
    return;
  }
  wide = [&] { auto l_ = List<Form>::make(); auto t2_c = costly; for (auto&& t2_ : t2_c) { Form x = t2_; if (!(((len(at<1>(x)) > Int(1)) || (at<1>(at<1>(x)[Int(0)]) != Int(1))))) continue; l_.append(x); } return l_; }();
  if ((len(wide) > Int(1))) {
    wide = slice(this->widest(wide), 0, Int(16));
  }
  {
  auto t3_c = this->widest(costly);
  for (auto&& t3_ : t3_c) {
    y = t3_;
    {
    auto t4_c = wide;
    for (auto&& t4_ : t4_c) {
      x = t4_;
      if (((x == y) || (!ledger->owners.has(Form(x)) || !ledger->owners.has(Form(y))))) {
        continue;
      }
      users = [&] { auto l_ = List<Int>::make(here_users); auto t5_c = dividends.at_(Form(y)); for (auto&& t5_ : t5_c) { Int a = t5_; if (!((ledger->users.has(Int(a)) && (ledger->written.at_(Int(a)) == y)))) continue; l_.append(a); } return l_; }();
      if ((truthy(users) && truthy(this->_wider(y, users, x)))) {
        break;
      }
    }
    }
  }
  }
}

inline bool Search::_wider(Form y, List<Int> users, Form x) {
  Ledger* ledger{};
  Engine* engine{};
  List<Int> kind{};
  Int g{};
  Form r{};
  List<Tuple<Int, Form, Any>> quotients{};
  List<Tuple<Int, Form, Any>> rest{};
  Int a{};
  Form f{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  kind = engine->kind;
  g = this->_multiple(x, y);
  if (truthy(g)) {
    r = functions::minus(x, y, g);
    quotients = List<Tuple<Int, Form, Any>>::of({});
    rest = List<Tuple<Int, Form, Any>>::of({});
    {
    auto t3_c = users;
    for (auto&& t3_ : t3_c) {
      a = t3_;
      if ((kind[a] == Int(1))) {
        quotients.extend(this->instead(a, strategy::wider{}, g, r));
      } else {
        {
        auto t4_c = ledger->users.at_(Int(a)).values();
        for (auto&& t4_ : t4_c) {
          f = t4_;
          if (!truthy(floor_mod(engine->coefficient(f, a), g))) {
            rest.extend(this->everywhere(f, strategy::wider_digit{}, a, g, r));
          }
        }
        }
      }
    }
    }
    return ledger->best([&](auto&& r_) { auto l_ = List<List<Tuple<Int, Form, Any>>>::make(r_); for (auto&& t5_ : List<List<Tuple<Int, Form, Any>>>::of({concat(quotients, rest), quotients, rest})) { List<Tuple<Int, Form, Any>> c = t5_; if (!(truthy(c))) continue; l_.append(c); } return l_; }(Room<List<List<Tuple<Int, Form, Any>>>>()));
  }
  if ((len(users) > Int(1))) {
    return false;
  }
  a = users[Int(0)];
  if ((kind[a] == Int(2))) {
    if (((len(at<1>(x)) >= len(at<1>(y))) && !truthy([&] { auto l_ = Set<Int>::make(); auto t6_c = at<1>(y); for (auto&& t6_ : t6_c) { Int b = at<0>(t6_); l_.add(b); } return l_; }().isdisjoint([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t7_c = at<1>(x); for (auto&& t7_ : t7_c) { Int b = at<0>(t7_); l_.append(b); } return l_; }(Room<List<Int>>()))))) {
      return ledger->attempt(this->instead(a, strategy::congruent{}, x));
    }
    return false;
  }
  return ledger->attempt(this->released(a, x));
}

inline Int Search::_multiple(Form x, Form y) {
  Dict<Int, Int> there{};
  Room<Dict<Int, Int>> here_there;
  Int g{};
  Int a{};
  Int k{};
  Int j{};
  Int lo{};
  Int hi{};
  if (((len(at<1>(x)) < len(at<1>(y))) || (sub(len(at<1>(x)), len(at<1>(y))) > Int(8)))) {
    return Int(0);
  }
  there = Dict<Int, Int>::from(at<1>(x), here_there);
  g = Int(0);
  {
  auto t1_c = at<1>(y);
  for (auto&& t1_ : t1_c) {
    a = at<0>(t1_);
    k = at<1>(t1_);
    j = there.get(Int(a), Int(0));
    if (!truthy(g)) {
      g = floor_div(j, k);
      if ((g < Int(2))) {
        return Int(0);
      }
    }
    if ((mul(g, k) != j)) {
      return Int(0);
    }
  }
  }
  {
    auto t2_ = (truthy(g) ? Term(this->engine->range(functions::minus(x, y, g))) : Term(mk(Int(0), Int(0))));
  lo = at<0>(t2_);
  hi = at<1>(t2_);
  }
  return ((truthy(g) && ((lo >= Int(0)) && (hi < g))) ? Int(g) : Int(Int(0)));
}

inline void Search::constants() {
  Ledger* ledger{};
  List<Int> kind{};
  Dict<Int, Dict<Int, Form>> users_of{};
  Dict<Terms, List<Int>> groups{};
  Room<Dict<Terms, List<Int>>> here_groups;
  Int sums{};
  bool inside{};
  Form f{};
  Dict<Int, Unit> owners{};
  List<Int> atoms{};
  List<Tuple<Terms, List<Int>>> todo{};
  Room<List<Tuple<Terms, List<Int>>>> here_todo;
  Terms terms{};
  Int mark{};
  List<List<Tuple<Int, Form, Any>>> options{};
  Tuple<Int, Form, Any> choice{};
  ledger = this->ledger;
  {
    auto t1_ = this->engine->kind;
    auto t2_ = ledger->users;
  kind = t1_;
  users_of = t2_;
  }
  groups = Dict<Terms, List<Int>>::make(here_groups);
  sums = Int(0);
  inside = false;
  {
  auto t3_c = ledger->owners.items();
  for (auto&& t3_ : t3_c) {
    f = at<0>(t3_);
    owners = at<1>(t3_);
    atoms = [&] { auto l_ = List<Int>::make(); auto t4_c = owners; for (auto&& t4_ : t4_c) { Int a = t4_; if (!(((Int(0) <= a) && (a < Int(4294967296))))) continue; l_.append(a); } return l_; }();
    if (truthy(atoms)) {
      if (groups.has(Terms(at<1>(f)))) {
        groups.at_(Terms(at<1>(f))).extend(atoms);
      } else {
        {
          auto t5_ = atoms;
        groups.set(at<1>(f), t5_);
        }
      }
      if (truthy(at<0>(f))) {
        inside = true;
      }
    }
    if ((truthy(at<0>(f)) && truthy([&] { auto t6_c = at<1>(f); for (auto&& t6_ : t6_c) { Int a = at<0>(t6_); if (((kind[a] == Int(1)))) return true; } return !true; }()))) {
      { Int v_ = Int(1); auto& r_ = sums; r_ = add(r_, v_); }
    }
  }
  }
  if ((!truthy(inside) && (sums < Int(2)))) {
    return;
  }
  todo = List<Tuple<Terms, List<Int>>>::from(groups.items(), here_todo);
  if ((len(todo) > Int(1))) {
    todo.sort([&](const auto& g) { return this->digest(mk(Int(0), at<0>(g))); });
  }
  {
  auto t7_c = todo;
  for (auto&& t7_ : t7_c) {
    terms = at<0>(t7_);
    atoms = at<1>(t7_);
    while (true) {
      atoms = [&] { auto l_ = List<Int>::make(); auto t8_c = atoms; for (auto&& t8_ : t8_c) { Int a = t8_; if (!((users_of.has(Int(a)) && (at<1>(ledger->written.at_(Int(a))) == terms)))) continue; l_.append(a); } return l_; }();
      mark = len(ledger->log);
      options = (truthy(this->_with_constants(atoms)) ? List<List<Tuple<Int, Form, Any>>>(this->_shifts(atoms)) : List<List<Tuple<Int, Form, Any>>>(List<List<Tuple<Int, Form, Any>>>::of({})));
      if ((!truthy(options) || !truthy(ledger->best(options)))) {
        break;
      }
      {
      auto t9_c = slice(ledger->log, mark, TO_END);
      for (auto&& t9_ : t9_c) {
        choice = at<0>(t9_);
        atoms.extend([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t10_c = at<1>(at<1>(choice)); for (auto&& t10_ : t10_c) { Int a = at<0>(t10_); if (!(((kind[a] == Int(1) || kind[a] == Int(2)) && !in(a, atoms)))) continue; l_.append(a); } return l_; }(Room<List<Int>>()));
      }
      }
    }
  }
  }
}

inline bool Search::_with_constants(List<Int> atoms) {
  Ledger* ledger{};
  List<Int> kind{};
  Int a{};
  Form f{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine->kind;
  ledger = t1_;
  kind = t2_;
  }
  {
  auto t3_c = atoms;
  for (auto&& t3_ : t3_c) {
    a = t3_;
    if (truthy(at<0>(ledger->written.at_(Int(a))))) {
      return true;
    }
    if ((kind[a] == Int(1))) {
      {
      auto t4_c = ledger->users.at_(Int(a)).values();
      for (auto&& t4_ : t4_c) {
        f = t4_;
        if (truthy(at<0>(f))) {
          return true;
        }
      }
      }
    }
  }
  }
  return false;
}

inline List<List<Tuple<Int, Form, Any>>> Search::_shifts(List<Int> atoms) {
  Ledger* ledger{};
  List<Int> kind{};
  List<Int> divisor{};
  Set<Int> wanted{};
  Room<Set<Int>> here_wanted;
  Dict<Term, Unit> alone{};
  Room<Dict<Term, Unit>> here_alone;
  Int a{};
  Int c{};
  Int d{};
  Form f{};
  Int k{};
  Int n{};
  List<Int> nearest{};
  List<Tuple<Int, List<Int>>> tried{};
  Room<List<Tuple<Int, List<Int>>>> here_tried;
  List<Term> ones{};
  List<List<Tuple<Int, Form, Any>>> options{};
  Room<List<List<Tuple<Int, Form, Any>>>> here_options;
  ledger = this->ledger;
  {
    auto t1_ = this->engine->kind;
    auto t2_ = this->engine->divisor;
  kind = t1_;
  divisor = t2_;
  }
  if ((len(atoms) > Int(1))) {
    this->sort(atoms);
  }
  wanted = Set<Int>::make(here_wanted);
  alone = Dict<Term, Unit>::make(here_alone);
  {
  auto t3_c = atoms;
  for (auto&& t3_ : t3_c) {
    a = t3_;
    {
      auto t4_ = at<0>(ledger->written.at_(Int(a)));
      auto t5_ = divisor[a];
    c = t4_;
    d = t5_;
    }
    wanted.add(c);
    if ((kind[a] == Int(1))) {
      {
      auto t6_c = ledger->users.at_(Int(a)).values();
      for (auto&& t6_ : t6_c) {
        f = t6_;
        if (truthy(at<0>(f))) {
          k = this->engine->coefficient(f, a);
          if (!truthy(floor_mod(at<0>(f), k))) {
            n = add(c, mul(floor_div(at<0>(f), k), d));
            wanted.add(n);
            if ((len(atoms) > Int(1))) {
              {
                auto t7_ = none;
              alone.set(mk(n, a), t7_);
              }
            }
          }
        }
      }
      }
    }
    if (((len(atoms) > Int(1)) || truthy(c))) {
      wanted.add(sub(c, d));
      wanted.add(floor_mod(c, d));
    }
  }
  }
  nearest = slice(sorted<Int>(wanted, [&](const auto& n) { return mk(p_abs(n), n); }), 0, Int(16));
  tried = [&] { auto l_ = List<Tuple<Int, List<Int>>>::make(here_tried); auto t8_c = nearest; for (auto&& t8_ : t8_c) { Int n = t8_; l_.append(mk(n, atoms)); } return l_; }();
  ones = List<Term>::from(alone);
  if ((len(ones) > Int(16))) {
    ones = slice(sorted<Term>(ones, [&](const auto& t) { return p_abs(at<0>(t)); }), 0, Int(16));
  }
  tried.extend([&](auto&& r_) { auto l_ = List<Tuple<Int, List<Int>>>::make(r_); auto t9_c = ones; for (auto&& t9_ : t9_c) { Int n = at<0>(t9_); Int a = at<1>(t9_); l_.append(mk(n, List<Int>::of({a}))); } return l_; }(Room<List<Tuple<Int, List<Int>>>>()));
  options = [&] { auto l_ = List<List<Tuple<Int, Form, Any>>>::make(here_options); auto t10_c = tried; for (auto&& t10_ : t10_c) { Int n = at<0>(t10_); List<Int> some_ = at<1>(t10_); if (!(truthy(this->_may_pay(some_, n)))) continue; l_.append(this->_shifted(some_, n)); } return l_; }();
  return [&] { auto l_ = List<List<Tuple<Int, Form, Any>>>::make(); auto t11_c = options; for (auto&& t11_ : t11_c) { List<Tuple<Int, Form, Any>> o = t11_; if (!(truthy(o))) continue; l_.append(o); } return l_; }();
}

inline bool Search::_may_pay(List<Int> atoms, Int n) {
  Ledger* ledger{};
  Engine* engine{};
  Int gain{};
  Set<Int> before{};
  Room<Set<Int>> here_before;
  Set<Int> after{};
  Room<Set<Int>> here_after;
  Set<Term> same{};
  Room<Set<Term>> here_same;
  Dict<Form, Int> changed{};
  Room<Dict<Form, Int>> here_changed;
  Int a{};
  Int c{};
  Int d{};
  Form f{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  gain = Int(0);
  before = Set<Int>::make(here_before);
  after = Set<Int>::make(here_after);
  same = Set<Term>::make(here_same);
  changed = Dict<Form, Int>::make(here_changed);
  {
  auto t3_c = atoms;
  for (auto&& t3_ : t3_c) {
    a = t3_;
    {
      auto t4_ = at<0>(ledger->written.at_(Int(a)));
      auto t5_ = engine->divisor[a];
    c = t4_;
    d = t5_;
    }
    before.add(c);
    if (truthy(floor_mod(sub(n, c), d))) {
      after.add(c);
      continue;
    }
    after.add(n);
    if (same.has(Term(mk(engine->kind[a], d)))) {
      return true;
    }
    same.add(mk(engine->kind[a], d));
    if (((n != c) && (engine->kind[a] == Int(1)))) {
      {
      auto t6_c = ledger->users.at_(Int(a)).values();
      for (auto&& t6_ : t6_c) {
        f = t6_;
        {
          auto t7_ = sub(changed.get(Form(f), at<0>(f)), mul(floor_div(sub(n, c), d), engine->coefficient(f, a)));
        changed.set(f, t7_);
        }
      }
      }
    }
  }
  }
  {
  auto t8_c = before;
  for (auto&& t8_ : t8_c) {
    c = t8_;
    { Int v_ = (c != Int(0)); auto& r_ = gain; r_ = add(r_, v_); }
  }
  }
  {
  auto t9_c = after;
  for (auto&& t9_ : t9_c) {
    c = t9_;
    { Int v_ = (c != Int(0)); auto& r_ = gain; r_ = sub(r_, v_); }
  }
  }
  {
  auto t10_c = changed.items();
  for (auto&& t10_ : t10_c) {
    f = at<0>(t10_);
    c = at<1>(t10_);
    { Int v_ = sub((at<0>(f) != Int(0)), (c != Int(0))); auto& r_ = gain; r_ = add(r_, v_); }
  }
  }
  return (gain > Int(0));
}

inline List<Tuple<Int, Form, Any>> Search::_shifted(List<Int> atoms, Int n) {
  Engine* engine{};
  List<Tuple<Int, Form, Any>> choices{};
  Int a{};
  Int c{};
  Terms terms{};
  Int d{};
  engine = this->engine;
  choices = List<Tuple<Int, Form, Any>>::of({});
  {
  auto t1_c = atoms;
  for (auto&& t1_ : t1_c) {
    a = t1_;
    {
      auto t2_ = this->ledger->written.at_(Int(a));
      auto t3_ = engine->divisor[a];
    c = at<0>(t2_);
    terms = at<1>(t2_);
    d = t3_;
    }
    if (((n != c) && !truthy(floor_mod(sub(n, c), d)))) {
      if ((engine->kind[a] == Int(1))) {
        choices.extend(this->instead(a, strategy::summand{}, mk(floor_div(sub(n, c), d), Terms())));
      } else {
        choices.extend(this->instead(a, strategy::congruent{}, mk(n, terms)));
      }
    }
  }
  }
  return choices;
}

inline void Search::signs() {
  Engine* engine{};
  List<Int> atoms{};
  List<Int> same{};
  Room<List<Int>> here_same;
  Int d{};
  List<Int> larger_{};
  Room<List<Int>> here_larger;
  engine = this->engine;
  {
  auto t1_c = this->dividends().values();
  for (auto&& t1_ : t1_c) {
    atoms = t1_;
    same = [&] { auto l_ = List<Int>::make(here_same); auto t2_c = atoms; for (auto&& t2_ : t2_c) { Int a = t2_; if (!(((engine->kind[a] == Int(1)) && ((engine->lo[a] == Int(-1)) && (engine->hi[a] == Int(0)))))) continue; l_.append(a); } return l_; }();
    if ((len(same) > Int(1))) {
      d = least([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t3_c = same; for (auto&& t3_ : t3_c) { Int a = t3_; l_.append(engine->divisor[a]); } return l_; }(Room<List<Int>>()));
      larger_ = [&] { auto l_ = List<Int>::make(here_larger); auto t4_c = same; for (auto&& t4_ : t4_c) { Int a = t4_; if (!((engine->divisor[a] != d))) continue; l_.append(a); } return l_; }();
      this->ledger->attempt([&](auto&& r_) { auto l_ = List<Tuple<Int, Form, Any>>::make(r_); auto t5_c = larger_; for (auto&& t5_ : t5_c) { Int a = t5_; auto t6_c = this->instead(a, strategy::other_divisor{}, d); for (auto&& t6_ : t6_c) { Tuple<Int, Form, Any> c = t6_; l_.append(c); }} return l_; }(Room<List<Tuple<Int, Form, Any>>>()));
    }
  }
  }
}

inline void Search::turned() {
  Ledger* ledger{};
  List<Int> kind{};
  List<Int> divisor{};
  Dict<Form, List<Int>> dividends{};
  Dict<Tuple<Int, Int, Terms, Int>, List<Int>> at_{};
  Room<Dict<Tuple<Int, Int, Terms, Int>, List<Int>>> here_at;
  List<Term> candidates{};
  Room<List<Term>> here_candidates;
  Form x{};
  List<Int> atoms{};
  Terms terms{};
  Int a{};
  Int d{};
  Int b{};
  Terms opposite{};
  ledger = this->ledger;
  {
    auto t1_ = this->engine->kind;
    auto t2_ = this->engine->divisor;
  kind = t1_;
  divisor = t2_;
  }
  dividends = this->dividends();
  if ((len(dividends) < Int(2))) {
    return;
  }
  at_ = Dict<Tuple<Int, Int, Terms, Int>, List<Int>>::make(here_at);
  candidates = List<Term>::of({}, here_candidates);
  {
  auto t3_c = dividends.items();
  for (auto&& t3_ : t3_c) {
    x = at<0>(t3_);
    atoms = at<1>(t3_);
    terms = at<1>(x);
    if (!truthy(terms)) {
      continue;
    }
    {
    auto t4_c = atoms;
    for (auto&& t4_ : t4_c) {
      a = t4_;
      d = divisor[a];
      if ((kind[a] == Int(1))) {
        {
        auto t5_c = lookup(at_, Tuple<Int, Int, Terms, Int>(mk(Int(1), d, terms_of([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t6_c = terms; for (auto&& t6_ : t6_c) { Int e = at<0>(t6_); Int k = at<1>(t6_); l_.append(mk(e, neg(k))); } return l_; }(Room<List<Term>>())), sub(sub(d, Int(1)), at<0>(x)))));
        if (!isnone(t5_c)) for (auto&& t5_ : t5_c) {
          b = t5_;
          candidates.extend(List<Term>::of({mk(a, b), mk(b, a)}, here(Room<List<Term>>())));
        }
        }
        at_.setdefault(Tuple<Int, Int, Terms, Int>(mk(Int(1), d, terms, at<0>(x))), List<Int>::of({})).append(a);
      } else {
        opposite = terms_of([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t7_c = terms; for (auto&& t7_ : t7_c) { Int e = at<0>(t7_); Int k = at<1>(t7_); l_.append(mk(e, floor_mod(neg(k), d))); } return l_; }(Room<List<Term>>()));
        {
        auto t8_c = lookup(at_, Tuple<Int, Int, Terms, Int>(mk(Int(2), d, opposite, floor_mod(sub(neg(at<0>(x)), Int(1)), d))));
        if (!isnone(t8_c)) for (auto&& t8_ : t8_c) {
          b = t8_;
          candidates.extend(List<Term>::of({mk(a, b), mk(b, a)}, here(Room<List<Term>>())));
        }
        }
        at_.setdefault(Tuple<Int, Int, Terms, Int>(mk(Int(2), d, terms_of([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t9_c = terms; for (auto&& t9_ : t9_c) { Int e = at<0>(t9_); Int k = at<1>(t9_); l_.append(mk(e, floor_mod(k, d))); } return l_; }(Room<List<Term>>())), floor_mod(at<0>(x), d))), List<Int>::of({})).append(a);
      }
    }
    }
  }
  }
  {
  auto t10_c = slice(candidates, 0, Int(16));
  for (auto&& t10_ : t10_c) {
    a = at<0>(t10_);
    b = at<1>(t10_);
    if ((ledger->users.has(Int(a)) && ledger->users.has(Int(b)))) {
      ledger->attempt(this->_turned(a, b));
    }
  }
  }
}

inline List<Tuple<Int, Form, Any>> Search::_turned(Int a, Int b) {
  Ledger* ledger{};
  Engine* engine{};
  Form x{};
  Int d{};
  Form t{};
  List<Tuple<Int, Form, Any>> choices{};
  Int other{};
  List<Tuple<Int, Form, Any>> same{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  {
    auto t3_ = ledger->written.at_(Int(a));
    auto t4_ = engine->divisor[a];
  x = t3_;
  d = t4_;
  }
  t = engine->raw(engine->kind[a], mk(sub(sub(d, Int(1)), at<0>(x)), at<1>(functions::times(x, Int(-1)))), d);
  choices = this->instead(a, strategy::turned{}, t);
  if ((t != functions::atom(b))) {
    other = functions::lone(t);
    same = ((engine->kind[other] == Int(2)) ? List<Tuple<Int, Form, Any>>(this->instead(other, strategy::congruent{}, ledger->written.at_(Int(b)))) : List<Tuple<Int, Form, Any>>(List<Tuple<Int, Form, Any>>::of({})));
    return (truthy(same) ? List<Tuple<Int, Form, Any>>(concat(choices, same)) : List<Tuple<Int, Form, Any>>(List<Tuple<Int, Form, Any>>::of({})));
  }
  return choices;
}

inline void Search::negated() {
  Ledger* ledger{};
  Int a{};
  ledger = this->ledger;
  {
  auto t1_c = this->divisions(Int(1));
  for (auto&& t1_ : t1_c) {
    a = t1_;
    if ((ledger->users.has(Int(a)) && truthy(at<0>(ledger->written.at_(Int(a)))))) {
      if (truthy([&] { auto t2_c = ledger->users.at_(Int(a)).values(); for (auto&& t2_ : t2_c) { Form f = t2_; if ((truthy([&] { auto t3_c = at<1>(f); for (auto&& t3_ : t3_c) { Int k = at<1>(t3_); if (!((k < Int(0)))) return false; } return !false; }()))) return true; } return !true; }())) {
        ledger->attempt(this->instead(a, strategy::negated{}));
      }
    }
  }
  }
}

inline void Search::digits_with_rest() {
  Ledger* ledger{};
  Engine* engine{};
  List<Int> kind{};
  Form f{};
  Int c{};
  Terms terms{};
  Int a{};
  Int k{};
  Term t{};
  Int h{};
  Int g{};
  Form r{};
  List<Tuple<Int, Form, Any>> choices{};
  Int u{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  kind = engine->kind;
  {
  Room<List<Form>> t3_r;
  auto t3_c = List<Form>::from(ledger->owners, t3_r);
  for (auto&& t3_ : t3_c) {
    f = t3_;
    {
      auto t4_ = f;
    c = at<0>(t4_);
    terms = at<1>(t4_);
    }
    {
      auto t5_ = Int(0);
      auto t6_ = Int(1);
    a = t5_;
    k = t6_;
    }
    {
    auto t7_c = terms;
    for (auto&& t7_ : t7_c) {
      t = t7_;
      if ((p_abs(at<1>(t)) > p_abs(k))) {
        {
          auto t8_ = t;
        a = at<0>(t8_);
        k = at<1>(t8_);
        }
      }
    }
    }
    if (((k == Int(1)) || ((kind[a] != Int(2)) || ((!truthy(c) && (len(terms) == Int(1))) || !ledger->owners.has(Form(f)))))) {
      continue;
    }
    h = Gcd().one(c).all([&](auto&& r_) { auto l_ = List<Int>::make(r_); auto t9_c = terms; for (auto&& t9_ : t9_c) { Int j = at<1>(t9_); l_.append(j); } return l_; }(Room<List<Int>>())).g;
    if ((k < Int(0))) {
      h = neg(h);
    }
    g = floor_div(k, h);
    r = mk(floor_div(c, h), terms_of([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t10_c = terms; for (auto&& t10_ : t10_c) { Int b = at<0>(t10_); Int j = at<1>(t10_); if (!((b != a))) continue; l_.append(mk(b, floor_div(j, h))); } return l_; }(Room<List<Term>>())));
    choices = this->everywhere(f, strategy::wider_digit{}, a, g, r);
    if (!truthy(choices)) {
      continue;
    }
    {
    Room<List<Int>> t11_r;
    auto t11_c = List<Int>::from(ledger->owners.at_(Form(ledger->written.at_(Int(a)))), t11_r);
    for (auto&& t11_ : t11_c) {
      u = t11_;
      if ((((Int(0) <= u) && (u < Int(4294967296))) && (kind[u] == Int(1)))) {
        choices.extend(this->instead(u, strategy::wider{}, g, r));
      }
    }
    }
    ledger->attempt(choices);
  }
  }
}

inline void Search::factors() {
  Ledger* ledger{};
  Engine* engine{};
  List<Int> kind{};
  List<Int> divisor{};
  List<Int> atoms{};
  Int a{};
  Opt<Form> y{};
  Form x{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  {
    auto t3_ = engine->kind;
    auto t4_ = engine->divisor;
  kind = t3_;
  divisor = t4_;
  }
  {
  auto t5_c = this->dividends().values();
  for (auto&& t5_ : t5_c) {
    atoms = t5_;
    a = atoms[Int(0)];
    if (((len(atoms) == Int(1)) && ((kind[a] == Int(2)) && ledger->users.has(Int(a))))) {
      y = this->_reduced(ledger->written.at_(Int(a)), divisor[a]);
      if (!isnone(y)) {
        ledger->attempt(this->instead(a, strategy::congruent{}, some(y)));
      }
      y = (ledger->users.has(Int(a)) ? Opt<Form>(this->_smaller(ledger->written.at_(Int(a)), divisor[a])) : Opt<Form>(none));
      if (!isnone(y)) {
        ledger->attempt(this->instead(a, strategy::congruent{}, some(y)), true);
      }
    }
  }
  }
  {
  auto t6_c = this->dividends().items();
  for (auto&& t6_ : t6_c) {
    x = at<0>(t6_);
    atoms = at<1>(t6_);
    if (((len(at<1>(x)) > Int(1)) && ledger->owners.has(Form(x)))) {
      this->_take_summands(x, atoms);
    }
  }
  }
}

inline Opt<Form> Search::_reduced(Form y, Int d) {
  List<Term> terms{};
  Room<List<Term>> here_terms;
  bool negative{};
  Dict<Term, Int> products{};
  bool opposite{};
  Int a{};
  Int k{};
  List<Tuple<Int, Int, Int>> free{};
  Room<List<Tuple<Int, Int, Int>>> here_free;
  Int at_{};
  Form x{};
  if (truthy([&] { auto t1_c = at<1>(y); for (auto&& t1_ : t1_c) { Int k = at<1>(t1_); if (!((k == Int(1)))) return false; } return !false; }())) {
    return none;
  }
  terms = List<Term>::of({}, here_terms);
  negative = (at<0>(this->engine->range(y)) < Int(0));
  products = this->ledger->products;
  opposite = !truthy(at<0>(y));
  {
  auto t2_c = at<1>(y);
  for (auto&& t2_ : t2_c) {
    a = at<0>(t2_);
    k = at<1>(t2_);
    if ((k == Int(-1))) {
      if ((d == Int(2))) {
        k = Int(1);
      }
    } else {
      if (((k != Int(1)) && (products.at_(Term(mk(a, p_abs(k)))) == Int(1)))) {
        if ((floor_mod(k, d) == Int(1))) {
          k = Int(1);
        } else {
          if (((floor_mod(k, d) == sub(d, Int(1))) && truthy(negative))) {
            k = Int(-1);
          }
        }
      }
    }
    if ((k > Int(0))) {
      opposite = false;
    }
    terms.append(mk(a, k));
  }
  }
  if (truthy(opposite)) {
    free = [&] { auto l_ = List<Tuple<Int, Int, Int>>::make(here_free); auto t3_c = terms; for (auto&& t3_ : t3_c) { Int a = at<0>(t3_); Int k = at<1>(t3_); if (!(((k != Int(-1)) && (d <= mul(Int(-2), k))))) continue; l_.append(mk(k, this->digest(functions::atom(a)), a)); } return l_; }();
    if (truthy(free)) {
      at_ = at<2>(least(free));
      terms = [&] { auto l_ = List<Term>::make(); auto t4_c = terms; for (auto&& t4_ : t4_c) { Int a = at<0>(t4_); Int k = at<1>(t4_); l_.append(mk(a, ((a == at_) ? Int(floor_mod(k, d)) : Int(k)))); } return l_; }();
    }
  }
  x = mk(at<0>(y), terms_of(terms));
  return ((x != y) ? Opt<Form>(x) : Opt<Form>(none));
}

inline Opt<Form> Search::_smaller(Form y, Int d) {
  Int lo{};
  Int hi{};
  List<Term> terms{};
  Room<List<Term>> here_terms;
  Form x{};
  if (!truthy([&] { auto t1_c = at<1>(y); for (auto&& t1_ : t1_c) { Int k = at<1>(t1_); if (((p_abs(k) >= d))) return true; } return !true; }())) {
    return none;
  }
  {
    auto t2_ = this->engine->range(y);
  lo = at<0>(t2_);
  hi = at<1>(t2_);
  }
  if (((lo >= neg(Int(2147483648))) && (hi < Int(2147483648)))) {
    return none;
  }
  terms = [&] { auto l_ = List<Term>::make(here_terms); auto t3_c = at<1>(y); for (auto&& t3_ : t3_c) { Int a = at<0>(t3_); Int k = at<1>(t3_); l_.append(mk(a, ((k > Int(0)) ? Int(floor_mod(k, d)) : Int(neg(floor_mod(neg(k), d)))))); } return l_; }();
  x = mk(at<0>(y), terms_of([&](auto&& r_) { auto l_ = List<Term>::make(r_); auto t4_c = terms; for (auto&& t4_ : t4_c) { Term t = t4_; if (!(truthy(at<1>(t)))) continue; l_.append(t); } return l_; }(Room<List<Term>>())));
  return (((lo < Int(0)) || (at<0>(this->engine->range(x)) >= Int(0))) ? Opt<Form>(x) : Opt<Form>(none));
}

inline void Search::_take_summands(Form y, List<Int> atoms) {
  Ledger* ledger{};
  Engine* engine{};
  List<Int> kind{};
  List<Int> divisor{};
  Dict<Term, Unit> found{};
  Room<Dict<Term, Unit>> here_found;
  Set<Int> inside{};
  Room<Set<Int>> here_inside;
  Int a{};
  Form f{};
  Int v{};
  Int b{};
  Int w{};
  Int s{};
  List<Term> candidates{};
  Room<List<Term>> here_candidates;
  List<Tuple<Int, Form, Any>> choices{};
  Room<List<Tuple<Int, Form, Any>>> here_choices;
  Int d{};
  {
    auto t1_ = this->ledger;
    auto t2_ = this->engine;
  ledger = t1_;
  engine = t2_;
  }
  {
    auto t3_ = engine->kind;
    auto t4_ = engine->divisor;
  kind = t3_;
  divisor = t4_;
  }
  found = Dict<Term, Unit>::make(here_found);
  inside = [&] { auto l_ = Set<Int>::make(here_inside); auto t5_c = at<1>(y); for (auto&& t5_ : t5_c) { Term t = t5_; l_.add(at<0>(t)); } return l_; }();
  {
  auto t6_c = atoms;
  for (auto&& t6_ : t6_c) {
    a = t6_;
    if (((kind[a] == Int(1)) && (lookup(ledger->written, Int(a)) == y))) {
      {
      auto t7_c = ledger->users.at_(Int(a)).values();
      for (auto&& t7_ : t7_c) {
        f = t7_;
        v = engine->coefficient(f, a);
        {
        auto t8_c = at<1>(f);
        for (auto&& t8_ : t8_c) {
          b = at<0>(t8_);
          w = at<1>(t8_);
          if ((inside.has(Int(b)) && !truthy(floor_mod(w, v)))) {
            s = mul(floor_div(w, v), divisor[a]);
            if (!truthy([&] { auto t9_c = atoms; for (auto&& t9_ : t9_c) { Int u = t9_; if ((truthy(floor_mod(s, divisor[u])))) return true; } return !true; }())) {
              {
                auto t10_ = none;
              found.set(mk(b, s), t10_);
              }
            }
          }
        }
        }
      }
      }
    }
  }
  }
  candidates = List<Term>::from(found, here_candidates);
  if ((len(candidates) > Int(1))) {
    candidates.sort([&](const auto& t) { return mk(p_abs(at<1>(t)), at<1>(t), this->digest(functions::atom(at<0>(t)))); });
  }
  {
  auto t11_c = candidates;
  for (auto&& t11_ : t11_c) {
    b = at<0>(t11_);
    s = at<1>(t11_);
    if (!truthy(this->_harmless(y, b, s))) {
      continue;
    }
    choices = List<Tuple<Int, Form, Any>>::of({}, here_choices);
    {
    auto t12_c = atoms;
    for (auto&& t12_ : t12_c) {
      a = t12_;
      d = divisor[a];
      if ((!ledger->users.has(Int(a)) || (ledger->written.at_(Int(a)) != y))) {
        continue;
      }
      if ((kind[a] == Int(1))) {
        choices.extend(this->instead(a, strategy::summand{}, mk(Int(0), terms_of(std::initializer_list<Term>{mk(b, floor_div(s, d))}))));
      } else {
        choices.extend(this->instead(a, strategy::congruent{}, functions::minus(y, functions::atom(b), neg(s))));
      }
    }
    }
    if (truthy(ledger->attempt(choices))) {
      return;
    }
  }
  }
}

inline bool Search::_harmless(Form x, Int b, Int s) {
  Engine* engine{};
  Int lo{};
  Int hi{};
  Int low{};
  Int high{};
  Int k{};
  Int a{};
  Int c{};
  engine = this->engine;
  {
    auto t1_ = engine->range(x);
  lo = at<0>(t1_);
  hi = at<1>(t1_);
  }
  {
    auto t2_ = engine->range(functions::minus(x, functions::atom(b), neg(s)));
  low = at<0>(t2_);
  high = at<1>(t2_);
  }
  if (((low < Int(0)) && (Int(0) <= lo))) {
    return false;
  }
  k = engine->coefficient(x, b);
  if ((p_abs(add(k, s)) > p_abs(k))) {
    {
      auto t3_ = engine->range(mk(Int(0), terms_of(std::initializer_list<Term>{mk(b, add(k, s))})));
    a = at<0>(t3_);
    c = at<1>(t3_);
    }
    if (((smaller(low, a) < smaller(lo, neg(Int(1073741824)))) || (larger(high, c) > larger(hi, Int(1073741824))))) {
      return false;
    }
  }
  return true;
}

inline List<Expr> Simplifier::each(List<Expr> es) {
  List<Expr> results{};
  bool larger_{};
  results = [&] { auto l_ = List<Expr>::make(); auto t1_c = es; for (auto&& t1_ : t1_c) { Expr e = t1_; l_.append(this->normal(e)); } return l_; }();
  larger_ = (!isnone(this->engine()) && truthy(this->_larger(results, List<Expr>::from(es, here(Room<List<Expr>>())))));
  return (truthy(larger_) ? List<Expr>(List<Expr>::from(es)) : List<Expr>(results));
}

inline List<Expr> Simplifier::_extracted(List<Expr> es) {
  Engine* engine{};
  List<List<Expr>> seen{};
  Room<List<List<Expr>>> here_seen;
  List<Form> forms{};
  Search* search{};
  Int spent{};
  List<Form> now{};
  List<Expr> results{};
  Int first{};
  Int best{};
  engine = this->engine();
  seen = List<List<Expr>>::of({es}, here_seen);
  forms = List<Form>::of({});
  search = none;
  spent = Int(0);
  while ((len(seen) < Int(32))) {
    try {
      now = this->_read(seen[Int(-1)]);
    } catch (Excess&) {
      return seen[Int(-1)];
    }
    if (truthy(this->_deep())) {
      return this->_less_deep(seen[Int(-1)]);
    }
    if ((len(seen) == Int(1))) {
      spent = this->_spent(es);
    }
    if ((isnone(search) || (now != forms))) {
      forms = now;
      search = make<Search>(make<Ledger>(engine, this->division_weight, forms));
      search->improve();
    } else {
      if (((search->ledger->spent() <= spent) && !truthy(functions::takes_sums_apart(search->ledger, seen[Int(-1)])))) {
        return seen[Int(-1)];
      }
    }
    {
      auto t1_ = this->_once(seen[Int(-1)], search, spent);
    results = at<0>(t1_);
    spent = at<1>(t1_);
    }
    if (in(results, seen)) {
      first = seen.index(results);
      best = least(numbers(first, len(seen)), [&](const auto& n) { return [&] { auto l_ = List<Int>::make(); auto t2_c = seen[n]; for (auto&& t2_ : t2_c) { Expr e = t2_; l_.append(e->key); } return l_; }(); });
      return seen[best];
    }
    seen.append(results);
  }
  return seen[Int(-1)];
}

inline List<Form> Simplifier::_read(List<Expr> es) {
  Engine* engine{};
  List<Form> forms{};
  engine = this->engine();
  {
    auto t1_ = Int(0);
  engine->spent = t1_;
  engine->volume = t1_;
  }
  {
    auto t2_ = true;
  engine->limited = t2_;
  }
  engine->bodies.clear();
  forms = [&] { auto l_ = List<Form>::make(); auto t3_c = es; for (auto&& t3_ : t3_c) { Expr e = t3_; l_.append(engine->read(e)); } return l_; }();
  {
    auto t4_ = false;
  engine->limited = t4_;
  }
  return forms;
}

inline List<Expr> Simplifier::_less_deep(List<Expr> es) {
  Engine* engine{};
  List<Expr> results{};
  engine = this->engine();
  results = this->_plain(es);
  if ((results == es)) {
    return es;
  }
  engine->forget_read();
  try {
    this->_read(results);
  } catch (Excess&) {
    return results;
  }
  return (truthy(this->_deep()) ? List<Expr>(results) : List<Expr>(this->_extracted(results)));
}

inline bool Simplifier::_deep() {
  Engine* engine{};
  engine = this->engine();
  return (engine->deepest >= Int(200));
}

inline Int Simplifier::_spent(List<Expr> es) {
  Engine* engine{};
  Int weight{};
  {
    auto t1_ = this->engine();
    auto t2_ = this->division_weight;
  engine = t1_;
  weight = t2_;
  }
  return ((weight == Int(3)) ? Int(engine->spent) : Int(functions::cost(es).weighed(weight)));
}

inline Tuple<List<Expr>, Int> Simplifier::_once(List<Expr> es, Search* search, Int spent) {
  Engine* engine{};
  Int weight{};
  Search* other{};
  Ledger* ledger{};
  List<Expr> results{};
  {
    auto t1_ = this->engine();
    auto t2_ = this->division_weight;
  engine = t1_;
  weight = t2_;
  }
  if (truthy(this->_are_normal(es, search->ledger->forms))) {
    if (!truthy(search->ledger->log)) {
      return mk(es, spent);
    }
  } else {
    if (((search->ledger->spent() > spent) || truthy(functions::takes_sums_apart(search->ledger, es)))) {
      other = make<Search>(make<Ledger>(engine, weight, functions::as_given(engine, es)));
      other->normal_forms();
      if ((other->ledger->spent() <= add(search->ledger->spent(), Int(3)))) {
        other->improve();
        if ((other->ledger->cost < search->ledger->cost)) {
          search = other;
        }
      }
    }
  }
  ledger = search->ledger;
  results = ledger->expressions();
  if (((results == es) || ((ledger->spent() > spent) && truthy(this->_larger(results, es))))) {
    return mk(es, spent);
  }
  this->_tell(ledger);
  return mk(results, ledger->spent());
}

inline bool Simplifier::_are_normal(List<Expr> es, List<Form> forms) {
  Engine* engine{};
  engine = this->engine();
  return (!truthy(engine->parts) && truthy([&] { auto t1_0 = forms; auto t1_1 = es; for (Int t1_ = 0; t1_ < t1_0.size(); t1_++) { Form f = t1_0[t1_]; Expr e = t1_1[t1_]; if (!((engine->write(f) == e))) return false; } return !false; }()));
}

inline List<Expr> Simplifier::_plain(List<Expr> es) {
  List<List<Expr>> seen{};
  Room<List<List<Expr>>> here_seen;
  List<Expr> results{};
  bool settled{};
  seen = List<List<Expr>>::of({es}, here_seen);
  while ((len(seen) < Int(32))) {
    {
      auto t1_ = this->_plain_once(seen[Int(-1)]);
    results = at<0>(t1_);
    settled = at<1>(t1_);
    }
    if (in(results, seen)) {
      return results;
    }
    if (truthy(settled)) {
      return results;
    }
    seen.append(results);
  }
  return seen[Int(-1)];
}

inline Tuple<List<Expr>, bool> Simplifier::_plain_once(List<Expr> es) {
  Engine* engine{};
  Int weight{};
  List<Form> forms{};
  Int spent{};
  List<Expr> results{};
  Search* search{};
  {
    auto t1_ = this->engine();
    auto t2_ = this->division_weight;
  engine = t1_;
  weight = t2_;
  }
  try {
    forms = this->_read(es);
  } catch (Excess&) {
    return mk(es, true);
  }
  spent = engine->spent;
  results = [&] { auto l_ = List<Expr>::make(); auto t3_c = forms; for (auto&& t3_ : t3_c) { Form f = t3_; l_.append(engine->write(f)); } return l_; }();
  if ((((weight == Int(3)) && (engine->written <= spent)) || !truthy(this->_larger(results, es)))) {
    return mk(results, true);
  }
  if (truthy(this->_deep())) {
    return mk(es, true);
  }
  search = make<Search>(make<Ledger>(engine, weight, functions::as_given(engine, es)));
  search->normal_forms();
  results = search->ledger->expressions();
  if (truthy(this->_larger(results, es))) {
    return mk(es, true);
  }
  this->_tell(search->ledger);
  return mk(results, false);
}

inline Constraints::Constraints(IndexingMap* m, Trace* trace, bool keep_points, Int division_weight, bool quick) {
  {
    auto t1_ = m;
  this->map = t1_;
  }
  {
    auto t2_ = trace;
  this->trace = t2_;
  }
  {
    auto t3_ = keep_points;
  this->keep_points = t3_;
  }
  {
    auto t4_ = division_weight;
  this->division_weight = t4_;
  }
  {
    auto t5_ = quick;
  this->quick = t5_;
  }
  {
    auto t6_ = functions::_boxes(m);
  this->boxes = t6_;
  }
  {
    auto t7_ = false;
  this->narrowed = t7_;
  }
  {
    auto t8_ = List<Tuple<Expr, Int, Int>>::of({});
  this->kept = t8_;
  }
  {
    auto t9_ = Dict<Expr, Int>::make();
  this->place = t9_;
  }
  {
    auto t10_ = List<Tuple<Expr, Int, Int>>::of({});
  this->todo = t10_;
  }
  {
    auto t11_ = false;
  this->stale = t11_;
  this->outdated = t11_;
  }
  {
    auto t12_ = none;
  this->_simplifier = t12_;
  }
  {
    auto t13_ = none;
  this->_ends = t13_;
  }
}

inline void Constraints::run() {
  Tup<Constraint*> given{};
  Int lo{};
  Int hi{};
  Dict<Expr, Term> boxes{};
  List<Tuple<Expr, Int, Int>> kept{};
  bool narrowed{};
  Int rounds{};
  Int mark{};
  given = this->map->constraints;
  {
  auto t1_c = this->boxes.values();
  for (auto&& t1_ : t1_c) {
    lo = at<0>(t1_);
    hi = at<1>(t1_);
    if ((lo > hi)) {
      {
        auto t2_ = [&] { auto l_ = List<Tuple<Expr, Int, Int>>::make(); auto t3_c = reversed<Constraint*>(given); for (auto&& t3_ : t3_c) { Constraint* c = t3_; l_.append(mk(c->expr, c->lo, c->hi)); } return l_; }();
      this->todo = t2_;
      }
      throw Contradiction{};
    }
  }
  }
  if (!truthy(given)) {
    return;
  }
  {
    auto t4_ = [&] { auto l_ = List<Tuple<Expr, Int, Int>>::make(); auto t5_c = reversed<Constraint*>(given); for (auto&& t5_ : t5_c) { Constraint* c = t5_; l_.append(mk(c->expr, c->lo, c->hi)); } return l_; }();
  this->todo = t4_;
  }
  this->settle();
  {
    auto t6_ = this->boxes;
    auto t7_ = this->kept;
    auto t8_ = this->narrowed;
    auto t9_ = Int(0);
  boxes = t6_;
  kept = t7_;
  narrowed = t8_;
  rounds = t9_;
  }
  mark = functions::length(this->trace);
  while (truthy(this->kept)) {
    if (truthy(this->stale)) {
      this->again();
    } else {
      if (!truthy(this->merge())) {
        if (!truthy(rounds)) {
          {
            auto t10_ = Dict<Expr, Term>::from(this->boxes);
            auto t11_ = List<Tuple<Expr, Int, Int>>::from(this->kept);
            auto t12_ = this->narrowed;
          boxes = t10_;
          kept = t11_;
          narrowed = t12_;
          }
          mark = functions::length(this->trace);
        }
        { Int v_ = Int(1); auto& r_ = rounds; r_ = add(r_, v_); }
        if ((rounds > Int(24))) {
          {
            auto t13_ = boxes;
            auto t14_ = kept;
            auto t15_ = narrowed;
          this->boxes = t13_;
          this->kept = t14_;
          this->narrowed = t15_;
          }
          functions::take_back(this->trace, mark);
          {
            auto t16_ = true;
          this->outdated = t16_;
          }
          this->renew();
          return;
        }
        if (!truthy(this->tighten())) {
          return;
        }
      }
    }
  }
}

inline bool Constraints::free(Expr v) {
  RuntimeVariable* r{};
  {
  auto t1_c = this->map->rts;
  for (auto&& t1_ : t1_c) {
    r = t1_;
    if ((r->expr() == v)) {
      return false;
    }
  }
  }
  return this->boxes.has(Expr(v));
}

inline Simplifier* Constraints::simplifier() {
  if (isnone(this->_simplifier)) {
    {
      auto t1_ = this->made(List<Tuple<Expr, Int, Int>>::of({}, here(Room<List<Tuple<Expr, Int, Int>>>())));
    this->_simplifier = t1_;
    }
  }
  return this->_simplifier;
}

inline void Constraints::renew() {
  if (truthy(this->outdated)) {
    {
      auto t1_ = none;
    this->_simplifier = t1_;
    this->_ends = t1_;
    }
    {
      auto t2_ = false;
    this->outdated = t2_;
    }
  }
}

inline Tup<Variable*> Constraints::boxed(Tup<Variable*> variables) {
  Dict<Expr, Term> boxes{};
  boxes = this->boxes;
  return Tup<Variable*>::from([&](auto&& r_) { auto l_ = List<Variable*>::make(r_); auto t1_c = variables; for (auto&& t1_ : t1_c) { Variable* v = t1_; l_.append(v->boxed(at<0>(boxes.at_(Expr(v->expr()))), at<1>(boxes.at_(Expr(v->expr()))))); } return l_; }(Room<List<Variable*>>()));
}

inline Opt<Tup<Tuple<Expr, Int, Int>>> Constraints::applied(CompiledConstraintRule* rule, List<Tuple<Expr, Int, Int>> before) {
  Opt<Tup<Tuple<Expr, Int, Int>>> found{};
  found = rule->after(before, this->ends());
  if (isnone(found)) {
    return none;
  }
  return this->recorded(rule, before, some(found));
}

inline void Constraints::settle() {
  List<Tuple<Expr, Int, Int>> todo{};
  Opt<Tuple<Expr, Int, Int>> c{};
  Expr e{};
  Int lo{};
  Int hi{};
  Opt<Tuple<Expr, Int, Int>> box{};
  Opt<Int> at_{};
  Opt<Tuple<Expr, Int, Int>> both{};
  todo = this->todo;
  while (truthy(todo)) {
    c = this->normal(todo.pop());
    if (isnone(c)) {
      continue;
    }
    e = at<0>(some(c));
    if (((e->tag == tag::Var) && truthy(this->free(e)))) {
      {
        auto t1_ = this->boxes.at_(Expr(e));
      lo = at<0>(t1_);
      hi = at<1>(t1_);
      }
      box = this->twin(some(c), mk(e, lo, hi));
      if (!isnone(box)) {
        this->shrink(e, at<1>(some(box)), at<2>(some(box)));
        continue;
      }
    }
    at_ = lookup(this->place, Expr(e));
    both = (!isnone(at_) ? Opt<Tuple<Expr, Int, Int>>(this->twin(this->kept[some(at_)], some(c))) : Opt<Tuple<Expr, Int, Int>>(none));
    if ((!isnone(at_) && !isnone(both))) {
      c = some(both);
      {
        auto t2_ = some(c);
      this->kept[some(at_)] = t2_;
      }
      if ((at<1>(some(c)) > at<2>(some(c)))) {
        throw Contradiction{};
      }
    } else {
      {
        auto t3_ = len(this->kept);
      this->place.set(e, t3_);
      }
      this->kept.append(some(c));
    }
    if (((e->tag == tag::Var) && !truthy(this->free(e)))) {
      this->shrink(e, at<1>(some(c)), at<2>(some(c)));
    }
  }
}

inline Opt<Tuple<Expr, Int, Int>> Constraints::twin(Tuple<Expr, Int, Int> c, Tuple<Expr, Int, Int> d) {
  CompiledConstraintRule* rule{};
  Opt<Tup<Tuple<Expr, Int, Int>>> after{};
  {
  auto t1_c = this->compiled()->twins;
  for (auto&& t1_ : t1_c) {
    rule = t1_;
    after = this->applied(rule, List<Tuple<Expr, Int, Int>>::of({c, d}));
    if (!isnone(after)) {
      return some(after)[Int(0)];
    }
  }
  }
  return none;
}

inline void Constraints::again() {
  {
    auto t1_ = false;
  this->stale = t1_;
  }
  this->renew();
  this->restart(this->kept);
}

inline void Constraints::restart(List<Tuple<Expr, Int, Int>> todo) {
  {
    auto t1_ = [&] { auto l_ = List<Tuple<Expr, Int, Int>>::make(); auto t2_c = todo; for (auto&& t2_ : t2_c) { Tuple<Expr, Int, Int> c = t2_; if (!((at<0>(c)->tag == tag::Var))) continue; l_.append(c); } return l_; }();
  this->kept = t1_;
  }
  {
    auto t3_ = [&] { auto l_ = List<Tuple<Expr, Int, Int>>::make(); auto t4_c = reversed<Tuple<Expr, Int, Int>>(todo); for (auto&& t4_ : t4_c) { Tuple<Expr, Int, Int> c = t4_; if (!((at<0>(c)->tag != tag::Var))) continue; l_.append(c); } return l_; }();
  this->todo = t3_;
  }
  {
    auto t5_ = [&] { auto l_ = Dict<Expr, Int>::make(); Int t6_i = Int(0); auto t6_c = this->kept; for (auto&& t6_ : t6_c) { Int n = t6_i; Tuple<Expr, Int, Int> c = t6_; t6_i++; l_.set(at<0>(c), n); } return l_; }();
  this->place = t5_;
  }
  this->settle();
}

inline Opt<Tuple<Expr, Int, Int>> Constraints::normal(Tuple<Expr, Int, Int> c) {
  ConstraintRules* rules{};
  Expr e{};
  Int lo{};
  Int hi{};
  CompiledConstraintRule* rule{};
  Opt<Tup<Tuple<Expr, Int, Int>>> after{};
  rules = this->compiled();
  while (true) {
    {
      auto t1_ = c;
    e = at<0>(t1_);
    lo = at<1>(t1_);
    hi = at<2>(t1_);
    }
    if (((e->tag == tag::Int) && !((lo <= e->value) && (e->value <= hi)))) {
      this->todo.append(c);
      throw Contradiction{};
    }
    {
    auto t2_c = rules->final;
    for (auto&& t2_ : t2_c) {
      rule = t2_;
      after = this->applied(rule, List<Tuple<Expr, Int, Int>>::of({c}));
      if (!isnone(after)) {
        this->todo.extend(reversed<Tuple<Expr, Int, Int>>(some(after)));
        return none;
      }
    }
    }
    e = this->simplifier()->normal(e);
    if ((e != at<0>(c))) {
      this->rewritten(c, e);
      c = mk(e, lo, hi);
    }
    if (((e->tag == tag::Var) && truthy(this->free(e)))) {
      return c;
    }
    for (auto&& t3_ : rules->single.get(e->tag)) {
      rule = t3_;
      after = this->applied(rule, List<Tuple<Expr, Int, Int>>::of({c}));
      if (!isnone(after)) {
        c = some(after)[Int(0)];
        this->todo.extend(reversed<Tuple<Expr, Int, Int>>(slice(some(after), Int(1), TO_END)));
        goto broken_4;
      }
    }
    {
      return c;
    }
    broken_4:;
  }
}

inline void Constraints::shrink(Expr v, Int lo, Int hi) {
  if ((mk(lo, hi) != this->boxes.at_(Expr(v)))) {
    {
      auto t1_ = mk(lo, hi);
    this->boxes.set(v, t1_);
    }
    {
      auto t2_ = true;
    this->stale = t2_;
    this->outdated = t2_;
    }
    if (truthy(this->free(v))) {
      {
        auto t3_ = true;
      this->narrowed = t3_;
      }
    }
  }
  if ((lo > hi)) {
    throw Contradiction{};
  }
}

inline bool Constraints::merge() {
  Dict<Expr, List<Tuple<Expr, Int, Int>>> by_subject{};
  Room<Dict<Expr, List<Tuple<Expr, Int, Int>>>> here_by_subject;
  Tuple<Expr, Int, Int> c{};
  List<Tuple<Expr, Int, Int>> group{};
  Tuple<Expr, Int, Int> d{};
  if (!truthy(this->compiled()->pairs)) {
    return false;
  }
  by_subject = Dict<Expr, List<Tuple<Expr, Int, Int>>>::make(here_by_subject);
  {
  auto t1_c = this->kept;
  for (auto&& t1_ : t1_c) {
    c = t1_;
    by_subject.setdefault(Expr(((at<0>(c)->tag == tag::Mod) ? Expr(at<0>(c)->a) : Expr(at<0>(c)))), List<Tuple<Expr, Int, Int>>::of({})).append(c);
  }
  }
  {
  auto t2_c = by_subject.values();
  for (auto&& t2_ : t2_c) {
    group = t2_;
    {
    auto t3_c = group;
    for (auto&& t3_ : t3_c) {
      c = t3_;
      {
      auto t4_c = group;
      for (auto&& t4_ : t4_c) {
        d = t4_;
        if (((c != d) && truthy(this->merged(c, d)))) {
          return true;
        }
      }
      }
    }
    }
  }
  }
  return false;
}

inline bool Constraints::merged(Tuple<Expr, Int, Int> c, Tuple<Expr, Int, Int> d) {
  CompiledConstraintRule* rule{};
  Opt<Tup<Tuple<Expr, Int, Int>>> after{};
  Int first{};
  List<Tuple<Expr, Int, Int>> rest{};
  Room<List<Tuple<Expr, Int, Int>>> here_rest;
  {
  auto t1_c = this->compiled()->pairs;
  for (auto&& t1_ : t1_c) {
    rule = t1_;
    after = this->applied(rule, List<Tuple<Expr, Int, Int>>::of({c, d}));
    if (!isnone(after)) {
      first = smaller(this->kept.index(c), this->kept.index(d));
      rest = [&] { auto l_ = List<Tuple<Expr, Int, Int>>::make(here_rest); auto t2_c = this->kept; for (auto&& t2_ : t2_c) { Tuple<Expr, Int, Int> b = t2_; if (!(!(b == c || b == d))) continue; l_.append(b); } return l_; }();
      this->restart([&](auto&& r_) { auto l_ = List<Tuple<Expr, Int, Int>>::make(r_); l_.extend(slice(rest, 0, first)); l_.extend(some(after)); l_.extend(slice(rest, first, TO_END)); return l_; }(Room<List<Tuple<Expr, Int, Int>>>()));
      return true;
    }
  }
  }
  return false;
}

inline bool Constraints::tighten() {
  Tuple<Expr, Int, Int> c{};
  Tup<CompiledConstraintRule*> rules{};
  Expr x{};
  Opt<Tuple<Expr, Int, Int>> at_{};
  Expr v{};
  Int sign{};
  Int shift{};
  CompiledConstraintRule* rule{};
  Int lo{};
  Int hi{};
  Opt<Tup<Tuple<Expr, Int, Int>>> after{};
  {
  Room<List<Tuple<Expr, Int, Int>>> t1_r;
  auto t1_c = List<Tuple<Expr, Int, Int>>::from(this->kept, t1_r);
  for (auto&& t1_ : t1_c) {
    c = t1_;
    rules = this->compiled()->narrowing.get(at<0>(c)->tag);
    if (!truthy(rules)) {
      continue;
    }
    this->renew();
    {
    auto t2_c = this->subjects(c);
    for (auto&& t2_ : t2_c) {
      x = t2_;
      at_ = functions::shifted_variable(x);
      if ((isnone(at_) || !truthy(this->free(at<0>(some(at_)))))) {
        continue;
      }
      {
        auto t3_ = some(at_);
      v = at<0>(t3_);
      sign = at<1>(t3_);
      shift = at<2>(t3_);
      }
      {
      auto t4_c = rules;
      for (auto&& t4_ : t4_c) {
        rule = t4_;
        {
          auto t5_ = functions::_moved(this->boxes.at_(Expr(v)), sign, shift);
        lo = at<0>(t5_);
        hi = at<1>(t5_);
        }
        after = this->applied(rule, List<Tuple<Expr, Int, Int>>::of({c, mk(x, lo, hi)}));
        if (!isnone(after)) {
          {
            auto t6_ = functions::_moved_back(some(after)[Int(1)], sign, shift);
          lo = at<0>(t6_);
          hi = at<1>(t6_);
          }
          this->shrink(v, lo, hi);
        }
      }
      }
    }
    }
  }
  }
  return this->stale;
}

inline List<Expr> Constraints::subjects(Tuple<Expr, Int, Int> c) {
  Expr e{};
  Int lo{};
  Int hi{};
  List<Tuple<Expr, Int, Int>> terms{};
  Room<List<Tuple<Expr, Int, Int>>> here_terms;
  Int low{};
  Int high{};
  Expr t{};
  Int k{};
  Int a{};
  Int b{};
  Int p{};
  Int q{};
  List<Expr> found{};
  Room<List<Expr>> here_found;
  {
    auto t1_ = c;
  e = at<0>(t1_);
  lo = at<1>(t1_);
  hi = at<2>(t1_);
  }
  if ((e->tag == tag::Mod)) {
    return List<Expr>::of({e->a});
  }
  if ((e->tag != tag::Sum)) {
    return List<Expr>::of({});
  }
  terms = List<Tuple<Expr, Int, Int>>::of({}, here_terms);
  low = e->const_;
  high = e->const_;
  {
  auto t2_c = e->terms;
  for (auto&& t2_ : t2_c) {
    t = at<0>(t2_);
    k = at<1>(t2_);
    {
      auto t3_ = this->ends()->ends(t);
    a = at<0>(t3_);
    b = at<1>(t3_);
    }
    {
      auto t4_ = ((k > Int(0)) ? Term(mk(mul(k, a), mul(k, b))) : Term(mk(mul(k, b), mul(k, a))));
    p = at<0>(t4_);
    q = at<1>(t4_);
    }
    { Int v_ = p; auto& r_ = low; r_ = add(r_, v_); }
    { Int v_ = q; auto& r_ = high; r_ = add(r_, v_); }
    terms.append(mk(t, p, q));
  }
  }
  found = [&] { auto l_ = List<Expr>::make(here_found); auto t5_c = terms; for (auto&& t5_ : t5_c) { Expr t = at<0>(t5_); Int p = at<1>(t5_); Int q = at<2>(t5_); if (!(!((sub(lo, sub(high, q)) <= p) && (q <= sub(hi, sub(low, p)))))) continue; l_.append(t); } return l_; }();
  return [&] { auto l_ = List<Expr>::make(); auto t6_c = found; for (auto&& t6_ : t6_c) { Expr t = t6_; l_.append(((t->tag == tag::FloorDiv) ? Expr(t->a) : Expr(t))); } return l_; }();
}

inline Simplifier* Constraints::simplifier_of_results() {
  return this->made([&](auto&& r_) { auto l_ = List<Tuple<Expr, Int, Int>>::make(r_); auto t1_c = this->kept; for (auto&& t1_ : t1_c) { Expr e = at<0>(t1_); Int lo = at<1>(t1_); Int hi = at<2>(t1_); if (!((e->tag != tag::Var))) continue; l_.append(mk(e, lo, hi)); } return l_; }(Room<List<Tuple<Expr, Int, Int>>>()));
}

inline Tup<Constraint*> Constraints::finished(List<Expr> results) {
  Dict<Expr, Constraint*> given{};
  Room<Dict<Expr, Constraint*>> here_given;
  Dict<Tuple<Expr, Int>, Expr> quotients{};
  Dict<Expr, Constraint*> out{};
  Room<Dict<Expr, Constraint*>> here_out;
  Tuple<Expr, Int, Int> b{};
  Expr e{};
  Int lo{};
  Int hi{};
  Constraint* c{};
  if (!truthy(this->kept)) {
    return Tup<Constraint*>{};
  }
  given = [&] { auto l_ = Dict<Expr, Constraint*>::make(here_given); auto t1_c = this->map->constraints; for (auto&& t1_ : t1_c) { Constraint* c = t1_; l_.set(c->expr, c); } return l_; }();
  quotients = none;
  out = Dict<Expr, Constraint*>::make(here_out);
  {
  auto t2_c = this->kept;
  for (auto&& t2_ : t2_c) {
    b = t2_;
    if (((at<0>(b)->tag == tag::Mod) && (at<1>(b) == at<2>(b)))) {
      if (isnone(quotients)) {
        quotients = functions::_quotients(results);
      }
      b = this->spelled(b, quotients);
    }
    {
      auto t3_ = b;
    e = at<0>(t3_);
    lo = at<1>(t3_);
    hi = at<2>(t3_);
    }
    c = lookup(given, Expr(e));
    if (out.has(Expr(e))) {
      {
        auto t4_ = larger(lo, out.at_(Expr(e))->lo);
        auto t5_ = smaller(hi, out.at_(Expr(e))->hi);
      lo = t4_;
      hi = t5_;
      }
    }
    {
      auto t6_ = ((!isnone(c) && (mk(c->lo, c->hi) == mk(lo, hi))) ? static_cast<Constraint*>(c) : static_cast<Constraint*>(Constraint::trusted(e, lo, hi)));
    out.set(e, t6_);
    }
  }
  }
  return Tup<Constraint*>::from(out.values());
}

inline Tuple<Expr, Int, Int> Constraints::spelled(Tuple<Expr, Int, Int> c, Dict<Tuple<Expr, Int>, Expr> quotients) {
  Expr x{};
  Expr y{};
  CompiledConstraintRule* rule{};
  Opt<Tup<Tuple<Expr, Int, Int>>> found{};
  x = functions::_dividend(c);
  y = quotients.get(Tuple<Expr, Int>(mk(functions::_without_constant(x), functions::_modulus(c))), x);
  if ((y != x)) {
    {
    auto t1_c = this->compiled()->remainders;
    for (auto&& t1_ : t1_c) {
      rule = t1_;
      found = rule->check(List<Tuple<Expr, Int, Int>>::of({c}), this->ends(), functions::shifted_remainder(c, y));
      if (!isnone(found)) {
        return this->recorded(rule, List<Tuple<Expr, Int, Int>>::of({c}), some(found))[Int(0)];
      }
    }
    }
  }
  return c;
}

namespace constraint_rules {
inline CompiledConstraintRule summand_moves_into_bounds{"summand_moves_into_bounds", &functions::summand_moves_into_bounds, nullptr};
inline CompiledConstraintRule positive_factor_divides_bounds{"positive_factor_divides_bounds", &functions::positive_factor_divides_bounds, &functions::content};
inline CompiledConstraintRule negative_factor_exchanges_bounds{"negative_factor_exchanges_bounds", &functions::negative_factor_exchanges_bounds, &functions::negative_content};
inline CompiledConstraintRule positive_divisor_scales_bounds{"positive_divisor_scales_bounds", &functions::positive_divisor_scales_bounds, nullptr};
inline CompiledConstraintRule minimum_from_below{"minimum_from_below", &functions::minimum_from_below, &functions::both_ranges};
inline CompiledConstraintRule maximum_from_above{"maximum_from_above", &functions::maximum_from_above, &functions::both_ranges};
inline CompiledConstraintRule residue_is_rescaled{"residue_is_rescaled", &functions::residue_is_rescaled, &functions::residue};
inline CompiledConstraintRule bounds_meet_range{"bounds_meet_range", &functions::bounds_meet_range, &functions::whole_range};
inline CompiledConstraintRule satisfied_constraint_vanishes{"satisfied_constraint_vanishes", &functions::satisfied_constraint_vanishes, nullptr};
inline CompiledConstraintRule impossible_constraint_is_false{"impossible_constraint_is_false", &functions::impossible_constraint_is_false, &functions::whole_range};
inline CompiledConstraintRule multiple_and_rest_separate{"multiple_and_rest_separate", &functions::multiple_and_rest_separate, &functions::multiple_and_rest};
inline CompiledConstraintRule multiple_and_rest_contradict{"multiple_and_rest_contradict", &functions::multiple_and_rest_contradict, &functions::multiple_and_rest};
inline CompiledConstraintRule same_expression_intersects{"same_expression_intersects", &functions::same_expression_intersects, nullptr};
inline CompiledConstraintRule remainders_merge{"remainders_merge", &functions::remainders_merge, &functions::common_multiple};
inline CompiledConstraintRule remainders_contradict{"remainders_contradict", &functions::remainders_contradict, &functions::greatest_common_divisor};
inline CompiledConstraintRule remainder_tightens_bounds{"remainder_tightens_bounds", &functions::remainder_tightens_bounds, &functions::window};
inline CompiledConstraintRule sum_bounds_summand{"sum_bounds_summand", &functions::sum_bounds_summand, &functions::summand};
inline CompiledConstraintRule sum_bounds_dividend{"sum_bounds_dividend", &functions::sum_bounds_dividend, &functions::dividend};
}
inline ConstraintRules* Constraints::compiled() {
  using namespace constraint_rules;
  if (made_rules) return made_rules;
  auto* r = make<ConstraintRules>();
  r->final = Rules::from(List<CompiledConstraintRule*>::of({&satisfied_constraint_vanishes, &impossible_constraint_is_false, &multiple_and_rest_contradict}));
  r->twins = Rules::from(List<CompiledConstraintRule*>::of({&same_expression_intersects}));
  r->pairs = Rules::from(List<CompiledConstraintRule*>::of({&remainders_merge, &remainders_contradict}));
  r->remainders = Rules::from(List<CompiledConstraintRule*>::of({&residue_is_rescaled}));
  r->single.by[tag::Int] = Rules::from(List<CompiledConstraintRule*>::of({&bounds_meet_range}));
  r->single.by[tag::Var] = Rules::from(List<CompiledConstraintRule*>::of({&bounds_meet_range}));
  r->single.by[tag::Sum] = Rules::from(List<CompiledConstraintRule*>::of({&summand_moves_into_bounds, &positive_factor_divides_bounds, &negative_factor_exchanges_bounds, &bounds_meet_range, &multiple_and_rest_separate}));
  r->single.by[tag::Mul] = Rules::from(List<CompiledConstraintRule*>::of({&bounds_meet_range}));
  r->single.by[tag::FloorDiv] = Rules::from(List<CompiledConstraintRule*>::of({&positive_divisor_scales_bounds, &bounds_meet_range}));
  r->single.by[tag::Mod] = Rules::from(List<CompiledConstraintRule*>::of({&residue_is_rescaled, &bounds_meet_range}));
  r->single.by[tag::CeilDiv] = Rules::from(List<CompiledConstraintRule*>::of({&bounds_meet_range}));
  r->single.by[tag::Min] = Rules::from(List<CompiledConstraintRule*>::of({&minimum_from_below, &bounds_meet_range}));
  r->single.by[tag::Max] = Rules::from(List<CompiledConstraintRule*>::of({&maximum_from_above, &bounds_meet_range}));
  r->narrowing.by[tag::Sum] = Rules::from(List<CompiledConstraintRule*>::of({&sum_bounds_summand, &sum_bounds_dividend}));
  r->narrowing.by[tag::Mod] = Rules::from(List<CompiledConstraintRule*>::of({&remainder_tightens_bounds}));
  return made_rules = r;
}
