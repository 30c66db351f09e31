"""Proves every map of every computation of a module, with the sizes that the program has.

The questions are those of reports/hlo.md, "What is proved of a module": about each operation, each step of the
analysis, and the maps between roots and parameters.  If a size is ``?``, the obligations of an op are proved for all
sizes (:mod:`.unknown_sizes`).  Repeated questions are asked once per module.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..core.analysis import (
    AnalysisStep,
    CompositionStep,
    ComputationMaps,
    EvaluationStep,
    FollowStep,
    MaskStep,
    MergeStep,
    OperandStep,
    Options,
    UnrollingStep,
)
from ..core.analysis.dataflow import flattened, performed
from ..core.analysis.runtime import known_element
from ..core.bounded import constrained, constraints_of
from ..core.condition import Condition, all_of, parts_of
from ..core.errors import InputError, TooLargeError
from ..core.expr import Expr, Int, Var, lift, maximum, minimum, substitute_all, var
from ..core.hlo import Computation, Instruction, Module, Shape, leaves
from ..core.hlo.shape import UNBOUNDED, unsized
from ..core.indexing_map import Constraint, IndexingMap, RuntimeSource, RuntimeVariable, Variable
from ..core.interval import Interval
from ..core.op import DIRECTIONS, MapClaim, Op, concrete, coverage_claim, lifted, map_claim, source_name
from ..core.parametric import ParametricMap
from .analysed import AnalysedModule, CheckedQuestion, ComputationReport
from .concrete import Answer, equal_maps, holds, in_bounds, inverse, is_empty, same_relation
from .masks import mask_answer
from .parametric import decide_for_all_sizes
from .unknown_sizes import answers_for_all_sizes, expect_sizes
from .values import constant_values, evaluation_answer, operand_answer, unrolling_answer
from .verdict import Status

Asked = tuple[Status, str]

# Operations that compute no elements: each output element is an element that is read.
_MOVERS = ("bitcast", "broadcast", "concatenate", "copy", "reshape", "reverse", "slice", "transpose")

# Limit on the ways of matching the runtime values of two maps that are tried.
_NAMINGS = 24


class ModuleVerifier(AnalysedModule):
    """Proves the maps of one module; ``check`` takes a computation."""

    def __init__(self, module: Module) -> None:
        self._ops: dict[tuple[Op, tuple[tuple[int, ...], ...]], list[tuple[str, Asked]]] = {}
        self._steps: dict[tuple[tuple[IndexingMap, ...], IndexingMap], Asked] = {}
        self._seen: list[AnalysisStep] = []
        super().__init__(module)

    def options(self) -> Options:
        """Return the options of the analysis, with every step recorded."""
        return replace(super().options(), observe=self._seen.append)

    def check(
        self,
        computation: Computation,
        tell: Callable[[CheckedQuestion], None] | None = None,
        ends: tuple[Sequence[Instruction], Sequence[Instruction]] | None = None,
    ) -> ComputationReport:
        """Prove the maps of one computation, or those between producers and consumers in it.

        ``tell`` is called with each answer.
        """
        start = time.perf_counter()
        report = ComputationReport(computation.name)

        def note(c: CheckedQuestion) -> None:
            report.checked.append(c)
            if tell is not None:
                tell(c)

        if ends is None:
            checked: Sequence[Instruction] = computation.instructions
            found = [self.maps.computation(computation, direction) for direction in DIRECTIONS]
            roots, operands = [computation.root], {p.parameter_number: p for p in computation.parameters}
        else:
            checked, roots = self.maps.path(*ends, computation), [*ends[1]]
            found = [self.maps.between(*ends, computation, direction) for direction in DIRECTIONS]
            operands = dict(enumerate(ends[0]))
        for instruction in checked:
            for kind, (status, detail) in self._instruction(instruction):
                note(CheckedQuestion(kind, instruction.name, status, detail))
        # steps of earlier questions about the maps, also in computations that this one calls, are checked here
        steps = tuple(self._seen)
        self._seen.clear()
        for step in steps:
            kind, (status, detail) = self._taken(step)
            note(CheckedQuestion(kind, computation.name, status, detail))
        for c in self._whole(roots, operands, *found):
            note(c)
        if ends is None:
            for c in self._whole_for_all_sizes(computation):
                note(c)
        report.seconds = time.perf_counter() - start
        return report

    # -- single operations
    def _instruction(self, instruction: Instruction) -> Iterator[tuple[str, Asked]]:
        made = performed(instruction)
        made = None if made is None else flattened(made)
        if made is None or not all(isinstance(o.shape, Shape) for o in made.operands):
            return
        try:
            op = self.read(made)
        except InputError:
            return  # reported as an instruction without maps
        if op is None or op.virtual:
            return
        sizes = tuple(a.dims for a in made.operand_arrays)
        for_all = unsized(made.shape) or any(UNBOUNDED in x for x in sizes)
        try:
            if for_all:
                expect_sizes(op, made, sizes)
            else:
                self.catalogue.maps(made, DIRECTIONS[0])
        except InputError as error:
            # the op rejects these operands, or makes another shape
            yield "shape", (Status.REFUTED, str(error))
            return
        for part in dict.fromkeys(op.part(r) for r in range(op.results)):
            for shapes in ((x,) for x in sizes) if op.parallel else (sizes,):
                found = self._ops.get((part, shapes))
                if found is None:
                    answers = answers_for_all_sizes if for_all else _op_answers
                    found = self._ops[part, shapes] = list(answers(part, shapes))
                yield from found

    # -- steps of the analysis
    def _taken(self, step: AnalysisStep) -> tuple[str, Asked]:
        if isinstance(step, EvaluationStep):
            return "evaluated", evaluation_answer(self._computations, step)
        if isinstance(step, FollowStep):
            return "followed", self._follow(step)
        if isinstance(step, MergeStep):
            return "joined", _asked(partial(_join_answer, step))
        if isinstance(step, UnrollingStep):
            return "unrolled", unrolling_answer(self._computations, step)
        if isinstance(step, OperandStep):
            return "given", operand_answer(self._computations, step)
        if isinstance(step, MaskStep):
            return "masked", mask_answer(self._computations, step)
        return "composed" if step.known is None else "folded", self._step(step)

    def _follow(self, step: FollowStep) -> Asked:
        """Check that an instruction that only moves elements takes this one from the stated place."""
        i, index = step.computation.instruction(step.before.hlo), step.before.results
        if i.opcode == "get-tuple-element":
            made = step.computation.instruction(i.operands[0].name)
            part = made.operands[i.integer("index")].name if made.opcode == "tuple" else ""
            same = (part, index) == (step.after.hlo, step.after.results)
            return (Status.PROVED if same else Status.REFUTED), f"{i.name} is an element of {made.name}"
        types = {a.element_type for _, a in leaves(i.shape)} if i.shape is not None else set()
        op, operands = self.read(i), i.operand_arrays
        if op is None or i.opcode not in _MOVERS or types != {a.element_type for a in operands}:
            return Status.REFUTED, f"{i.name} makes other elements"
        box = {v.expr: Interval(v.lo, v.hi) for v in step.map.variables}
        given = [c.expr.within(c.lo, c.hi) for c in step.map.constraints]
        sizes = lifted(a.dims for a in operands)
        goals = [
            all_of(op.reads(k, index, step.after.results, (), *sizes))
            for k, o in enumerate(i.operands)
            if o.name == step.after.hlo
        ]
        if not goals:
            return Status.REFUTED, f"{step.after.hlo} is no operand of {i.name}"
        return _asked(lambda: _first_proved(holds(goal, box, given) for goal in goals))

    def _step(self, step: CompositionStep) -> Asked:
        key = (step.parts, step.result)
        found = self._steps.get(key)
        if found is None:
            found = self._steps[key] = _asked(partial(_step_answer, step))
        return found

    # -- between roots and parameters
    def _whole(
        self,
        made: Sequence[Instruction],
        given: Mapping[int, Instruction],
        backwards: ComputationMaps,
        forwards: ComputationMaps,
    ) -> Iterator[CheckedQuestion]:
        roots = dict(enumerate(a for i in made for a in _arrays(i)))
        parameters = {number: dict(enumerate(_arrays(i))) for number, i in given.items()}
        for key in {**backwards.leaves, **forwards.leaves}:
            root, parameter, leaf = key
            there, back = (m.leaves.get(key) for m in (backwards, forwards))
            output, operand = roots.get(root), parameters[parameter].get(leaf)
            if output is None or operand is None:
                continue  # nothing is known of an array of unknown shape
            where = _place(*key)
            for found, source, target in ((there, output, operand), (back, operand, output)):
                for m in found.maps if found is not None else ():
                    yield CheckedQuestion("in bounds", where, *_asked(partial(in_bounds, m, target.dims)))
                    outside = m.with_(results=m.dim_vars)
                    yield CheckedQuestion("in bounds", where, *_asked(partial(in_bounds, outside, source.dims)))
            if any(r is not None and (r.unknown or r.at_most) for r in (there, back)):
                continue  # unknown reads and upper bounds are no relations to compare
            one = there.maps if there is not None else []
            other = back.maps if back is not None else []
            yield CheckedQuestion("pair", where, *_asked(partial(same_relation, one, other, back=True)))

    def _whole_for_all_sizes(self, computation: Computation) -> Iterator[CheckedQuestion]:
        there, back = (self.for_all_sizes(computation, direction) for direction in DIRECTIONS)
        for key, one in there.items():
            where, other = f"{_place(*key)}, for all sizes", back[key]
            for reads, target in ((one, one.operand), (other, other.output)):
                for m in reads.maps:
                    ask = partial(decide_for_all_sizes, "in_bounds", [_of_sizes(m, target)], shape=target)
                    yield CheckedQuestion("in bounds", where, *_asked(ask))
            if one.unknown or other.unknown:
                continue  # unknown reads are no relation to compare
            if len(one.maps) != len(other.maps):
                reason = f"{len(one.maps)} maps in one direction, and {len(other.maps)} in the other"
                yield CheckedQuestion("pair", where, Status.UNDECIDED, reason)
                continue
            for m, n in zip(one.maps, other.maps, strict=True):
                asked = _asked(partial(decide_for_all_sizes, "inverse", [_of_sizes(m), _of_sizes(n)]))
                if asked[0] is Status.REFUTED and len(one.maps) > 1:
                    # several maps form one relation together, and which pairs are inverse is unknown
                    asked = Status.UNDECIDED, asked[1]
                yield CheckedQuestion("pair", where, *asked)


def _of_sizes(m: ParametricMap, shape: Sequence[Expr] = ()) -> ParametricMap:
    """Return the map with the parameters of a shape too, and with the condition that parameters are not negative."""
    more = (v.name for e in shape for v in e.variables())
    parameters = tuple(dict.fromkeys((*m.parameters, *more)))
    return replace(m, parameters=parameters, conditions=(*m.conditions, *(var(p) >= 0 for p in parameters)))


def _place(root: int, parameter: int, leaf: int) -> str:
    return f"root {root}, parameter {parameter}" + (f", array {leaf}" if leaf else "")


def _arrays(instruction: Instruction) -> list[Shape | None]:
    """Return the arrays that an instruction makes; None for unknown shapes."""
    return [None] if instruction.shape is None else [a for _, a in leaves(instruction.shape)]


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
                yield kind, _asked(partial(_kept, claim, kind, goal))
            m = concrete(op, k, direction, shapes)
            produced.append(m)
            yield "as produced", _asked(partial(equal_maps, _stated(claim), m))
        yield "pair", _asked(partial(inverse, *produced))
    coverage = coverage_claim(op, shapes)
    if coverage is not None:
        claim = map_claim(op, op.sharing()[0], "output_to_input", shapes)
        yield "coverage", _asked(partial(holds, coverage[1], _variables(claim, "sound")))


def _kept(claim: MapClaim, kind: str, goal: Condition) -> Answer | None:
    """Check a goal part by part, so that disjunctions in several parts are not multiplied out.

    Hypotheses about runtime values that do not occur in a part are rarely needed, so they are first left out.
    """
    box, given = _variables(claim, kind), claim.reads if kind == "complete" else claim.where
    values = {r.variable for r in claim.runtime}
    answer = None
    for part in parts_of(goal):
        about = [h for h in given if values.intersection(h.variables()).issubset(part.variables())]
        answer = holds(part, box, about)
        if not answer.proved and len(about) < len(given):
            answer = holds(part, box, given)
        if not answer.proved:
            break
    return answer


def _number(e: Expr) -> int:
    assert isinstance(e, Int), f"{e} is no number"
    return e.value


def _variables(claim: MapClaim, kind: str) -> dict[Var, Interval]:
    """Return the variables of an obligation with their boxes."""
    box = {v: Interval(0, _number(n) - 1) for v, n in zip(claim.source, claim.source_sizes, strict=True)}
    if kind == "complete":
        box |= {v: Interval(0, _number(n) - 1) for v, n in zip(claim.target, claim.target_sizes, strict=True)}
    else:
        box |= {r.variable: Interval(0, _number(r.size) - 1) for r in claim.ranges}
    return {**box, **{r.variable: Interval(_number(r.lo), _number(r.hi)) for r in claim.runtime}}


def _stated(claim: MapClaim) -> IndexingMap:
    """Return the map of a claim without simplification: sizes become boxes, and conditions become constraints."""
    boxes = _variables(claim, "sound")
    fixed = {r.variable: boxes.pop(r.variable) for r in claim.runtime}
    left = constrained([c for w in claim.where for c in constraints_of(w)], {**boxes, **fixed})
    operands = [f"operand {k}" for k in range(claim.op.arity)]
    sources = {r.variable: RuntimeSource(source_name(r.operand, operands), r.index) for r in claim.runtime}
    return IndexingMap(
        tuple(_boxed(v, boxes) for v in claim.source),
        tuple(_boxed(r.variable, boxes) for r in claim.ranges),
        tuple(RuntimeVariable(v.name, int(i.lo), int(i.hi), sources[v]) for v, i in fixed.items()),
        claim.results,
        tuple(left),
    )


def _boxed(v: Var, boxes: Mapping[Var, Interval]) -> Variable:
    return Variable(v.name, int(boxes[v].lo), int(boxes[v].hi))


# ----------------------------------------------------------------------------------------------------------- steps
def composition(first: IndexingMap, second: IndexingMap) -> IndexingMap:
    """Return the composition of two relations by its definition.

    It contains (a, c) if there is an element b such that the first map relates a to b and the second relates b to c.  b
    is a result of the first map, so the boxes of all dimensions of the second map and its constraints become
    constraints on the results of the first.
    """
    taken = {v.name for v in first.variables}
    names: dict[str, str] = {}
    for v in (*second.ranges, *second.rts):
        name = v.name
        while name in taken:
            name += "'"
        names[v.name] = name.replace("'", "_of_second")
        taken.add(names[v.name])
    mapping: dict[Expr, Expr] = {var(a): var(b) for a, b in names.items()}
    mapping.update(zip(second.dim_vars, first.results, strict=True))
    moved = dict(zip(second.roots, substitute_all(second.roots, mapping), strict=True))
    boxes = [Constraint(e, v.lo, v.hi) for e, v in zip(first.results, second.dims, strict=True)]
    return IndexingMap(
        first.dims,
        (*first.ranges, *(v.named(names[v.name]) for v in second.ranges)),
        (*first.rts, *(v.named(names[v.name]).moved(moved) for v in second.rts)),
        tuple(moved[e] for e in second.results),
        (*first.constraints, *boxes, *(Constraint(moved[c.expr], c.lo, c.hi) for c in second.constraints)),
    )


def _step_answer(step: CompositionStep) -> Answer | None:
    if step.known is not None:
        return equal_maps(_with_values(step.parts[0], step.known), step.result)
    whole = step.parts[0] if len(step.parts) == 1 else composition(*step.parts)
    if whole == step.result:
        return None
    if step.result.is_trivially_empty:
        return is_empty(whole)
    return equal_maps(whole, step.result)


def _join_answer(join: MergeStep) -> Answer | None:
    """Check that joined maps have the relation of their parts.

    Maps in both lists need no proof if the others have equal relations without them.  Otherwise, for instance if one of
    them covers a part, all are compared.
    """
    parts = [m for m in join.parts if m not in join.result]
    result = [m for m in join.result if m not in join.parts]
    if not parts and not result:
        return None
    answer = same_relation(parts, result)
    if answer.proved:
        return answer
    return same_relation(join.parts, join.result)


def _first_proved(answers: Iterable[Answer]) -> Answer:
    """Return the first answer that is a proof, or else the first one."""
    first = None
    for answer in answers:
        if answer.proved:
            return answer
        first = first or answer
    assert first is not None, "there is one way at least"
    return first


def _with_values(m: IndexingMap, known: Mapping[str, Instruction]) -> IndexingMap:
    """Substitute elements of constants and iotas for the runtime values that read them."""
    while True:
        for v in m.rts:
            if v.source is not None and v.source.hlo in known:
                element = _element(known[v.source.hlo], v.source.results)
                if element is not None:
                    value = minimum(maximum(lift(element), v.lo), v.hi)
                    m = m.substitute({v.name: value})
                    break
        else:
            return m


def _element(instruction: Instruction, index: Sequence[Expr]) -> Expr | None:
    """Return the element of a constant or iota at an index; None if no expression is exact at all its values."""
    assert isinstance(instruction.shape, Shape)
    dims = instruction.shape.dims
    places = tuple(e if isinstance(e, Int) else var(f"p{d}") for d, e in enumerate(index))
    element = known_element(instruction, places)
    if element is None:
        return None
    if instruction.opcode == "constant":
        free = [d for d, p in enumerate(places) if not isinstance(p, Int)]
        m = IndexingMap(tuple(Variable(f"p{d}", 0, dims[d] - 1) for d in free), results=(element,))
        elements = np.array(constant_values(instruction), object).reshape(dims)
        # if all elements are equal, the index does not matter
        if len(set(elements.flat)) > 1:
            elements = elements[(*(p.value if isinstance(p, Int) else slice(None) for p in places), ...)]
            _, (found,) = m.evaluate_many(list(np.indices(elements.shape)), [])
        else:
            found = np.full(elements.shape, _number(element))
        if not np.array_equal(found, elements):
            return None
    moved: dict[Expr, Expr] = {p: e for p, e in zip(places, index, strict=True) if not isinstance(p, Int)}
    return substitute_all([element], moved)[0]
