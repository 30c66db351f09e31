"""Whole modules: every map of every computation proved, with the sizes that the program has.

For one computation (most are the bodies of fusions) this proves

- for every operation in it, of each map: *in bounds*, *sound* and *complete* with respect to what the op reads,
  *as produced* (the map that the analysis works with has the relation of the one just proved), both maps of an
  operand a *pair* (each other's inverse), and *coverage* where operands share the output;
- *composed*: every step of the analysis gave a map with the relation of the composition.  The composition is
  spelled here once more, from its definition: what the second map says of an element holds of the element that
  the first one names.  Maps that were found empty are part of it;
- *folded*: where a constant or an iota stands for a runtime value, it is that value, clamped;
- of the maps between roots and parameters: *in bounds*, and *pair*: those from the outputs and those to the
  outputs are the same relation.

Questions that occur again are asked once for a module.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ..core.analysis import ComputationMaps, ModuleMaps, Options, Step
from ..core.analysis.ops import OpCatalogue
from ..core.analysis.runtime import known_element
from ..core.errors import InputError, TooLargeError
from ..core.expr import Expr, Int, Var, interpret, lift, maximum, minimum, substitute_all, var
from ..core.hlo import Computation, Instruction, Module, Shape, leaves
from ..core.indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable
from ..core.interval import Interval, Ranges
from ..core.op import DIRECTIONS, MapClaim, Op, concrete, coverage_claim, map_claim
from ..core.simplify_map import simplify_map
from ..core.tighten import constraints_of, tighten_around
from ..rules.catalog import RULES
from ..rules.ops import op_reader, why_not
from .claims.relations import same_relation
from .concrete import Answer, equal_maps, holds, in_bounds, inverse, is_empty
from .verdict import Status, worst

__all__ = ["Checked", "ComputationReport", "ModuleVerifier", "composition"]


@dataclass(frozen=True)
class Checked:
    """One question and its answer: ``where`` is an instruction, or a root and a parameter."""

    kind: str
    where: str
    status: Status
    detail: str = ""
    seconds: float = field(default=0.0, compare=False)


@dataclass
class ComputationReport:
    """What was proved of one computation.

    Steps of the analysis are counted where they are taken first: those of a called computation with this one,
    unless it was checked before.
    """

    name: str
    checked: list[Checked] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """Questions by kind."""
        found: dict[str, int] = {}
        for c in self.checked:
            found[c.kind] = found.get(c.kind, 0) + 1
        return found

    @property
    def failed(self) -> list[Checked]:
        """What was not proved."""
        return [c for c in self.checked if c.status is not Status.PROVED]

    @property
    def status(self) -> Status:
        """The verdict on the whole computation: it has nothing false if nothing had to be shown."""
        return worst([c.status for c in self.checked]) if self.checked else Status.PROVED


Asked = tuple[Status, str]


def _alike_in_size(a: IndexingMap, b: IndexingMap) -> bool:
    """Whether two maps without constraints, which intervals describe, may have the same relation."""
    if a.constraints or b.constraints:
        return True
    one, two = (interpret(m.results, Ranges(m.bounds)) for m in (a, b))
    boxes = ([(v.lo, v.hi) for v in m.dims] for m in (a, b))
    return (
        next(boxes) == next(boxes)
        and len(one) == len(two)
        and not any((x.interval & y.interval).empty for x, y in zip(one, two, strict=True))
    )


class ModuleVerifier:
    """Proves the maps of one module; ``check`` takes a computation."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.read = op_reader(module)
        self.catalogue = OpCatalogue(self.read, why_not)
        self._ops: dict[tuple[Op, tuple[tuple[int, ...], ...]], list[tuple[str, Asked]]] = {}
        self._steps: dict[tuple[tuple[IndexingMap, ...], IndexingMap], Asked] = {}
        self._simplified: dict[IndexingMap, IndexingMap] = {}
        self._same: dict[tuple[IndexingMap, IndexingMap], bool] = {}
        self._seen: list[Step] = []
        #: The maps that are proved.
        self.maps = ModuleMaps(module, self.options())

    def options(self) -> Options:
        """How the module is analysed: simplified, maps that are proved equal kept once, every step seen."""
        return Options(self.catalogue, self.simplify, self.same, observe=self._seen.append)

    def same(self, a: IndexingMap, b: IndexingMap) -> bool:
        """Whether two maps are proved to have the same relation."""
        key = (a, b)
        if key not in self._same:
            self._same[key] = _alike_in_size(a, b) and equal_maps(a, b).proved
        return self._same[key]

    def simplify(self, m: IndexingMap) -> IndexingMap:
        """Simplified once for the module."""
        found = self._simplified.get(m)
        if found is None:
            found = self._simplified[m] = simplify_map(m, RULES)
        return found

    def check(
        self, computation: Computation, tell: Callable[[Checked], None] | None = None
    ) -> ComputationReport:
        """Prove everything about one computation; ``tell`` hears of each answer."""
        start = time.perf_counter()
        report = ComputationReport(computation.name)

        def note(c: Checked) -> None:
            report.checked.append(c)
            if tell is not None:
                tell(c)

        for instruction in computation.instructions:
            for kind, (status, detail) in self._instruction(instruction):
                note(Checked(kind, instruction.name, status, detail))
        found: list[ComputationMaps] = []
        found.extend(self.maps.computation(computation, direction) for direction in DIRECTIONS)
        # what was asked of the maps before, steps of computations that this one calls among it, is due now
        steps = tuple(self._seen)
        self._seen.clear()
        for step in steps:
            status, detail = self._step(step)
            kind = "composed" if step.known is None else "folded"
            note(Checked(kind, computation.name, status, detail))
        for c in self._whole(computation, *found):
            note(c)
        report.seconds = time.perf_counter() - start
        return report

    # -- single operations
    def _instruction(self, instruction: Instruction) -> Iterator[tuple[str, Asked]]:
        if not all(isinstance(o.shape, Shape) for o in instruction.operands):
            return
        try:
            op = self.read(instruction)
        except InputError:
            return  # reported as an instruction without maps
        if op is None or op.virtual:
            return
        sizes = tuple(a.dims for a in instruction.operand_arrays)
        for shapes in ((x,) for x in sizes) if op.parallel else (sizes,):
            found = self._ops.get((op, shapes))
            if found is None:
                found = self._ops[op, shapes] = list(_op_answers(op, shapes))
            yield from found

    # -- steps of the analysis
    def _step(self, step: Step) -> Asked:
        key = (step.parts, step.result)
        found = self._steps.get(key)
        if found is None:
            found = self._steps[key] = _asked(partial(_step_answer, step))
        return found

    # -- between roots and parameters
    def _whole(
        self, computation: Computation, backwards: ComputationMaps, forwards: ComputationMaps
    ) -> Iterator[Checked]:
        roots = [a for _, a in leaves(computation.root.shape)] if computation.root.shape is not None else []
        arrays = {
            (p.parameter_number, n): a
            for p in computation.parameters
            if p.shape is not None
            for n, (_, a) in enumerate(leaves(p.shape))
        }
        for key in {**backwards.leaves, **forwards.leaves}:
            root, parameter, leaf = key
            there, back = (m.leaves.get(key) for m in (backwards, forwards))
            output, operand = roots[root], arrays[parameter, leaf]
            where = f"root {root}, parameter {parameter}" + (f", array {leaf}" if leaf else "")
            for found, source, target in ((there, output, operand), (back, operand, output)):
                for m in found.maps if found is not None else ():
                    yield Checked("in bounds", where, *_asked(partial(in_bounds, m, target.dims)))
                    outside = m.with_(results=m.dim_vars)
                    yield Checked("in bounds", where, *_asked(partial(in_bounds, outside, source.dims)))
            if any(r is not None and (r.unknown or r.at_most) for r in (there, back)):
                continue  # what is not known, or said to be too much, is no relation to compare
            one = there.maps if there is not None else []
            other = back.maps if back is not None else []
            yield Checked("pair", where, *_asked(partial(_inverse_families, one, other)))


def _asked(ask: Callable[[], Answer | None]) -> Asked:
    try:
        answer = ask()
    except TooLargeError as error:
        return Status.UNDECIDED, str(error)
    if answer is None:
        return Status.PROVED, "nothing to show"
    if answer.counterexample is not None:
        return answer.verdict, str(answer.counterexample)
    return answer.verdict, answer.engine if answer.proved else "; ".join(answer.tried)


# ------------------------------------------------------------------------------------------------------ operations
def _op_answers(op: Op, shapes: Sequence[tuple[int, ...]]) -> Iterator[tuple[str, Asked]]:
    for k in range(op.arity):
        produced: list[IndexingMap] = []
        for direction in DIRECTIONS:
            claim = map_claim(op, k, direction, shapes)
            for kind, (_, goal) in claim.obligations().items():
                variables = _variables(claim, kind)
                given = claim.reads if kind == "complete" else claim.where
                yield kind, _asked(partial(holds, goal, variables, given))
            m = concrete(op, k, direction, shapes)
            produced.append(m)
            yield "as produced", _asked(partial(equal_maps, _stated(claim), m))
        yield "pair", _asked(partial(inverse, *produced))
    coverage = coverage_claim(op, shapes)
    if coverage is not None:
        claim = map_claim(op, coverage.suppliers[0], "output_to_input", shapes)
        yield "coverage", _asked(partial(holds, coverage.goal, _variables(claim, "sound")))


def _number(e: Expr) -> int:
    assert isinstance(e, Int), f"{e} is no number"
    return e.value


def _variables(claim: MapClaim, kind: str) -> dict[Var, Interval]:
    """The variables of an obligation with their boxes."""
    box = {v: Interval(0, _number(n) - 1) for v, n in zip(claim.source, claim.source_sizes, strict=True)}
    if kind == "complete":
        box |= {v: Interval(0, _number(n) - 1) for v, n in zip(claim.target, claim.target_sizes, strict=True)}
    else:
        box |= {r.variable: Interval(0, _number(r.size) - 1) for r in claim.ranges}
    return {**box, **{r.variable: Interval(_number(r.lo), _number(r.hi)) for r in claim.runtime}}


def _stated(claim: MapClaim) -> IndexingMap:
    """The map of a claim as it stands: boxes are the sizes, conditions are constraints."""
    boxes = _variables(claim, "sound")
    fixed = {r.variable: boxes.pop(r.variable) for r in claim.runtime}
    _, left = tighten_around({}, {**boxes, **fixed}, [c for w in claim.where for c in constraints_of(w)])
    sources = {r.variable: RuntimeSource(_held(r.operand), r.index) for r in claim.runtime}
    return IndexingMap(
        tuple(_boxed(v, boxes) for v in claim.source),
        tuple(_boxed(r.variable, boxes) for r in claim.ranges),
        tuple(RuntimeVariable(v.name, int(i.lo), int(i.hi), sources[v]) for v, i in fixed.items()),
        claim.results,
        tuple(Constraint(e, int(lo), int(hi)) for e, lo, hi in left),
    )


def _held(operand: int) -> str:
    return f"operand {operand}" if operand >= 0 else "replica-position"


def _boxed(v: Var, boxes: Mapping[Var, Interval]) -> Variable:
    return Variable(v.name, int(boxes[v].lo), int(boxes[v].hi))


# ----------------------------------------------------------------------------------------------------------- steps
def composition(first: IndexingMap, second: IndexingMap) -> IndexingMap:
    """The composition of two relations, as its definition says it.

    (a, c) is in it if there is an element b such that the first map names b and the second, of b, names c.  As b
    is what the first map names, everything that the second one says of its dimensions is said of these results:
    their boxes, all of them, and its constraints.
    """
    taken = {v.name for v in first.variables}
    names: dict[str, str] = {}
    for v in (*second.ranges, *second.rts):
        name = v.name
        while name in taken:
            name += "'"
        name = name.replace("'", "_of_second")
        taken.add(name)
        names[v.name] = name
    mapping: dict[Expr, Expr] = {var(a): var(b) for a, b in names.items()}
    mapping.update(zip(second.dim_vars, first.results, strict=True))

    def moved(exprs: Sequence[Expr]) -> tuple[Expr, ...]:
        return tuple(substitute_all(tuple(exprs), mapping))

    boxes = [Constraint(e, v.lo, v.hi) for e, v in zip(first.results, second.dims, strict=True)]
    conditions = [
        Constraint(e, c.lo, c.hi)
        for e, c in zip(moved([c.expr for c in second.constraints]), second.constraints, strict=True)
    ]
    return IndexingMap(
        first.dims,
        (*first.ranges, *(Variable(names[v.name], v.lo, v.hi) for v in second.ranges)),
        (
            *first.rts,
            *(
                RuntimeVariable(
                    names[v.name],
                    v.lo,
                    v.hi,
                    None if v.source is None else RuntimeSource(v.source.hlo, moved(v.source.results)),
                )
                for v in second.rts
            ),
        ),
        moved(second.results),
        (*first.constraints, *boxes, *conditions),
    )


def one_value_each(m: IndexingMap) -> IndexingMap:
    """The map with one runtime variable for each value: the same element of one instruction, clamped alike."""
    first: dict[tuple[int, int, str, tuple[Expr, ...]], RuntimeVariable] = {}
    same: dict[Expr, Expr] = {}
    for v in m.runtime_order():
        if v.source is not None:
            place = tuple(substitute_all(v.source.results, same))
            found = first.setdefault((v.lo, v.hi, v.source.hlo, place), v)
            if found is not v:
                same[v.expr] = found.expr
    return m.substitute(same) if same else m


def _step_answer(step: Step) -> Answer | None:
    if step.known is not None:
        return equal_maps(_with_values(step.parts[0], step.known), step.result)
    whole = one_value_each(step.parts[0] if len(step.parts) == 1 else composition(*step.parts))
    if whole == step.result:
        return None
    if step.result.is_trivially_empty:
        return is_empty(whole)
    return equal_maps(whole, _named_alike(step.result, whole))


def _named_alike(m: IndexingMap, model: IndexingMap) -> IndexingMap:
    """The map with the model's names for runtime values of the same instruction, in order.

    Where a value is read is then compared together with the value: ranges may stand in another order.
    """
    if not m.rts:
        return m
    free = list(model.rts)
    names: dict[str, str] = {}
    for exact in (True, False):
        for y in m.rts:
            x = next((x for x in free if y.name not in names and _alike(x, y, exact)), None)
            if x is not None:
                names[y.name] = x.name
                free.remove(x)
    taken = {v.name for v in (*m.variables, *model.variables)}
    for v in m.variables:
        if v.name not in names and v.name in names.values():
            name = v.name
            while name in taken:
                name += "_"
            taken.add(name)
            names[v.name] = name
    return m.rename(names)


def _alike(x: RuntimeVariable, y: RuntimeVariable, exact: bool = False) -> bool:
    """Whether two runtime values may be the same element: literal indices, at least, do not differ."""
    if x.source is None or y.source is None:
        return x.name == y.name
    if x.source.hlo != y.source.hlo or (x.lo, x.hi) != (y.lo, y.hi):
        return False
    pairs = list(zip(x.source.results, y.source.results, strict=True))
    return all(a == b for a, b in pairs if exact or isinstance(a, Int) or isinstance(b, Int))


def _with_values(m: IndexingMap, known: Mapping[str, Instruction]) -> IndexingMap:
    """The map with the elements of constants and iotas in place of the runtime values that they are."""
    while True:
        for v in m.rts:
            if v.source is not None and v.source.hlo in known:
                element = known_element(known[v.source.hlo], v.source.results)
                if element is not None:
                    value = minimum(maximum(lift(element), v.lo), v.hi)
                    m = m.substitute({v.name: value})
                    break
        else:
            return m


# -------------------------------------------------------------------------------------------------------- inverses
def _inverse_families(there: Sequence[IndexingMap], back: Sequence[IndexingMap]) -> Answer | None:
    """Whether two families of maps, taken together, are each other's inverse."""
    if not there and not back:
        return None
    if len(there) == len(back) == 1:
        return inverse(*_sharing(there[0], back[0]))
    # the usual case, and the stronger statement: map for map
    free, answers = list(range(len(back))), []
    for m in there:
        for k in free:
            answer = inverse(*_sharing(m, back[k])) if _may_be_inverse(m, back[k]) else None
            if answer is not None and answer.proved:
                answers.append(answer)
                free.remove(k)
                break
        else:
            break
    if len(answers) == len(there) == len(back):
        return answers[-1]
    shared = [turned(_sharing(there[0], m)[1]) for m in back] if there else [turned(m) for m in back]
    first = [_sharing(m, m)[0] for m in there]
    return same_relation(first, shared)


def _may_be_inverse(m: IndexingMap, n: IndexingMap) -> bool:
    """Whether a look at the intervals of the results does not speak against it."""
    for a, b in ((m, n), (n, m)):
        reached = interpret(a.results, Ranges(a.bounds))
        for r, v in zip(reached, b.dims, strict=True):
            if r.empty or v.lo > v.hi or r.interval.hi < v.lo or v.hi < r.interval.lo:
                return False
            fixed = isinstance(a.results[0], Int) if a.results else False
            if fixed and r.interval.lo == r.interval.hi and (v.lo, v.hi) != (r.interval.lo, r.interval.hi):
                return False
    return True


def _sharing(there: IndexingMap, back: IndexingMap) -> tuple[IndexingMap, IndexingMap]:
    """A map and one that may be its inverse, with one name for each runtime value that both read.

    Values are the same when they are the same element of one instruction.  The second map speaks of the first
    one's target: where it reads is compared with the first one's results in place of its dimensions, and with
    the first one's dimensions in place of its ranges that are results.
    """
    if not (there.rts or back.rts):
        return there, back
    mapping: dict[Expr, Expr] = dict(zip(back.dim_vars, there.results, strict=False))
    for e, v in zip(back.results, there.dim_vars, strict=False):
        if e in back.range_vars:
            mapping.setdefault(e, v)
    free = list(there.rts)
    names: dict[str, str] = {}

    def take(same: Callable[[RuntimeVariable, RuntimeVariable], bool]) -> None:
        for y in back.rts:
            x = next((x for x in free if y.name not in names and same(x, y)), None)
            if x is not None:
                names[y.name] = x.name
                free.remove(x)

    def element(x: RuntimeVariable, y: RuntimeVariable) -> bool:
        if x.source is None or y.source is None or x.source.hlo != y.source.hlo:
            return False
        return tuple(substitute_all(y.source.results, mapping)) == x.source.results

    take(element)
    take(_alike)
    taken = {v.name for v in (*there.variables, *back.variables)}
    for y in back.rts:
        if y.name not in names:
            name = y.name
            while name in taken:
                name += "_"
            taken.add(name)
            names[y.name] = name
    clash = set(names.values()) & {v.name for v in (*back.dims, *back.ranges)}
    assert not clash, "runtime variables and ranges have names of their own"
    return _unsourced(there), _unsourced(back.rename(names))


def _unsourced(m: IndexingMap) -> IndexingMap:
    return m.with_(rts=tuple(RuntimeVariable(v.name, v.lo, v.hi) for v in m.rts))


def turned(m: IndexingMap) -> IndexingMap:
    """The inverse relation: the targets become dimensions, which equal the results."""
    renamed = m.rename({v.name: f"from_{v.name}" for v in (*m.dims, *m.ranges)})
    found = interpret(renamed.results, Ranges(renamed.bounds))
    dims = [
        Variable(f"d{k}", 0, -1) if r.empty else Variable(f"d{k}", int(r.interval.lo), int(r.interval.hi))
        for k, r in enumerate(found)
    ]
    same = [Constraint(e - d.expr, 0, 0) for e, d in zip(renamed.results, dims, strict=True)]
    return IndexingMap(
        tuple(dims),
        (*renamed.dims, *renamed.ranges),
        renamed.rts,
        renamed.dim_vars,
        (*renamed.constraints, *same),
    )
