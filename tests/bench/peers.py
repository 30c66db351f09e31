"""The simplifiers that are compared, each behind the same four methods.

``convert(m)`` builds the peer's own expressions (timed, but apart); ``simplify(native)`` is measured, and it
includes passing the boxes of the variables and the constraints; ``back(result, m)`` reads the result as
a :class:`~programs.Program`.  ``refuses(m)`` returns the reason why the peer is not asked about a map.

A peer whose package is not installed is reported as missing; see :func:`available`.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import importlib.metadata
import math
import operator
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from corpora import Map
from programs import Builder, Program


class GivesUp(Exception):
    """Raised where the peer stops at its own limit or fails; its result is then the input."""


class Peer:
    name = ""
    package = ""
    note = ""
    #: limit on the seconds of processor time for one map; 0 where the peer cannot be interrupted
    limit = 0.0
    #: limit on the size of a map as a tree
    tree: float = math.inf
    #: whether the peer is left out of timing on corpora where one map takes seconds
    slow = False

    def __init__(self) -> None:
        self.version = importlib.metadata.version(self.package) if self.package else ""
        self.load()

    @classmethod
    def python(cls) -> str:
        """Return the path of the Python interpreter that has the peer's package."""
        return sys.executable

    def load(self) -> None:
        """Import the peer's package."""

    def refuses(self, m: Map) -> str:
        size = m.program.tree_size()
        return f"{size:.2g} nodes as a tree" if size > self.tree else ""

    def fresh(self) -> None:
        """Clear everything that is cached between maps."""

    def convert(self, m: Map) -> Any:
        raise NotImplementedError

    def simplify(self, native: Any) -> Any:
        raise NotImplementedError

    def back(self, result: Any, m: Map) -> Program:
        b = Builder()
        return b.program([self.read(e, b) for e in result])

    def read(self, e: Any, b: Builder) -> int:
        """Convert one expression of the peer to a node."""
        raise NotImplementedError

    def timed(self, m: Map) -> tuple[tuple[float, float, float], Any]:
        """Return the seconds of one conversion, one cold and one warm simplification, and the result.

        These are seconds of processor time, so that other load does not count, and of this thread, since the clock of a
        process ticks in milliseconds while a limit on its time is set.
        """
        clock = time.thread_time
        a = clock()
        native = self.convert(m)
        b = clock()
        result = self.simplify(native)
        c = clock()
        self.simplify(native)
        d = clock()
        return (b - a, c - b, d - c), result


def built(
    m: Map, integer: Callable[[int], Any], variable: Callable[[str], Any], operations: dict[str, Any]
) -> list[Any]:
    """Build the nodes of a map's program with the given constructors of integers, variables and operations."""
    done: list[Any] = []
    for node in m.program.nodes:
        if isinstance(node, int):
            done.append(integer(node))
        elif isinstance(node, str):
            done.append(variable(node))
        else:
            done.append(operations[node[0]](done[node[1]], done[node[2]]))
    return done


def folded(b: Builder, op: str, args: Iterable[int]) -> int:
    """Build an associative operation with any number of arguments."""
    return functools.reduce(lambda a, c: b.op(op, a, c), args)


# -------------------------------------------------------------------------------------------------------------- ours
#: The weight of a division in runs that minimise operations, and in runs that minimise divisions.
WEIGHTS = {"operations": 1, "divisions": 12}


class Ours(Peer):
    name = "indexproof"
    note = "`simplify_map(m, RULES)`, pure Python"
    quick = False

    def load(self) -> None:
        import indexproof
        from indexproof.core import expr, indexing_map, simplify_map
        from indexproof.core.codegen.program import Program as Steps
        from indexproof.rules.catalog import RULES

        self.version = indexproof.__version__
        self.e, self.maps, self.run, self.rules = expr, indexing_map, simplify_map.simplify_map, RULES
        self.steps = Steps

    def fresh(self) -> None:
        # the table of nodes would still hold earlier results
        self.e.sweep()

    def convert(self, m: Map) -> Any:
        e = self.e
        named = {"fdiv": "floordiv", "cdiv": "ceildiv", "min": "minimum", "max": "maximum"}
        make = {op: getattr(e, named.get(op, op)) for op in ("add", "mul", "mod", *named)}
        done = built(m, e.integer, e.var, make)
        boxes = [self.maps.Variable(*v) for v in m.vars]
        return self.maps.IndexingMap(
            tuple(v for v in boxes if not v.name.startswith("s")),
            tuple(v for v in boxes if v.name.startswith("s")),
            (),
            tuple(done[r] for r in m.program.roots),
            tuple(self.maps.Constraint(done[c], lo, hi) for c, lo, hi in m.constraints),
        )

    def simplify(self, native: Any) -> Any:
        return self.run(native, self.rules, quick=self.quick)

    def for_least(self, measure: str, m: Map) -> Program:
        """Return the result that minimises one measure (:data:`WEIGHTS`)."""
        return self.back(self.run(self.convert(m), self.rules, division_weight=WEIGHTS[measure]), m)

    def back(self, result: Any, m: Map) -> Program:
        return self.program(result, result.results)

    def program(self, m: Any, roots: Any) -> Program:
        """Return the program that the code generator writes for expressions over the variables of a map."""
        variables = [v.expr for v in m.variables]
        found = self.steps.of(roots, variables).shortened(roots, variables)
        return from_steps(found.steps, found.outputs)


class Quick(Ours):
    name = "indexproof-quick"
    note = "the same with `quick=True`: normal forms as they are"
    quick = True


class Native(Ours):
    name = "indexproof-native"
    note = "the same call with the native core (`make native-profiled`)"

    @classmethod
    def python(cls) -> str:
        root = Path(__file__).resolve().parents[2]
        return os.environ.get("INDEXPROOF_NATIVE", str(root / ".venv" / "native" / "bin" / "python"))

    def load(self) -> None:
        super().load()
        from indexproof.core.native import NATIVE

        if not NATIVE:
            raise ImportError("there is no native core here; make native builds it")


class QuickNative(Native):
    name = "indexproof-quick-native"
    note = "as indexproof-quick with the native core"
    quick = True


#: The operators of flat buffers (``core/native/indexproof.h``).
LIBRARY_OPERATORS = ("", "", "add", "mul", "fdiv", "mod", "cdiv", "min", "max")


class LibraryOptions(ctypes.Structure):
    _fields_ = [
        ("division_weight", ctypes.c_int64),
        ("quick", ctypes.c_int),
        ("keep_points", ctypes.c_int),
        ("division", ctypes.c_char_p),
        ("multiline", ctypes.c_int),
        ("derivation", ctypes.c_int),
    ]


class LibraryOutput(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("message", ctypes.c_char_p),
        ("line", ctypes.c_size_t),
        ("column", ctypes.c_size_t),
    ]


class Library(Peer):
    name = "indexproof-library"
    package = "indexproof"
    note = "the C library (`make library-profiled`), flat buffers in and out, called and timed by C"
    quick = False

    def load(self) -> None:
        built = Path(__file__).resolve().parents[2] / ".venv" / "library"
        if not (built / "libindexproof.so").exists():
            raise ImportError("not built; make library builds it")
        library = ctypes.CDLL(str(built / "libindexproof.so"))
        library.indexproof_new.restype = ctypes.c_void_p
        self.call, self.context = library.indexproof_simplify, ctypes.c_void_p(library.indexproof_new())
        self.options, self.output = LibraryOptions(quick=self.quick), LibraryOutput()
        self.seconds = ctypes.c_double()
        with tempfile.TemporaryDirectory() as directory:
            clock = Path(directory) / "timed_call.so"
            source = Path(__file__).with_name("timed_call.c")
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{built}", source, "-o", clock], check=True)
            self.clock = ctypes.CDLL(str(clock)).timed_call

    @staticmethod
    def _names(m: Map) -> list[str]:
        """Return the variables in buffer order: dimensions, then ranges."""
        return sorted((name for name, _, _ in m.vars), key=lambda name: name.startswith("s"))

    def convert(self, m: Map) -> Any:
        names = self._names(m)
        ranges = sum(name.startswith("s") for name in names)
        words = [len(names) - ranges, ranges, 0, len(m.program.nodes), len(m.program.roots), len(m.constraints)]
        boxes = {name: box for name, *box in m.vars}
        words += [end for name in names for end in boxes[name]]
        for node in m.program.nodes:
            if isinstance(node, int):
                words += 0, node, 0
            elif isinstance(node, str):
                words += 1, names.index(node), 0
            else:
                words += LIBRARY_OPERATORS.index(node[0]), node[1], node[2]
        words += m.program.roots
        words += [word for c in m.constraints for word in c]
        return (ctypes.c_int64 * len(words))(*words)

    def simplify(self, native: Any) -> Any:
        out, by = self.output, ctypes.byref
        size = ctypes.c_size_t(ctypes.sizeof(native))
        status = self.clock(self.call, self.context, native, size, by(self.options), by(out), by(self.seconds))
        if status:
            raise GivesUp(f"status {status}: {out.message.decode()}")
        return out

    def timed(self, m: Map) -> tuple[tuple[float, float, float], Any]:
        start = time.thread_time()
        native = self.convert(m)
        converting = time.thread_time() - start
        self.simplify(native)
        cold = self.seconds.value
        result = self.simplify(native)
        return (converting, cold, self.seconds.value), result

    def back(self, result: Any, m: Map) -> Program:
        words = (ctypes.c_int64 * (result.size // 8)).from_address(result.data)
        names = self._names(m)
        first = 6 + 2 * len(names)
        b = Builder()
        done: list[int] = []
        for at in range(first, first + 3 * words[3], 3):
            op, x, y = words[at : at + 3]
            if op < 2:
                done.append(b.var(names[x]) if op else b.lit(x))
            else:
                done.append(b.op(LIBRARY_OPERATORS[op], done[x], done[y]))
        last = first + 3 * words[3]
        return b.program([done[r] for r in words[last : last + words[4]]])


class QuickLibrary(Library):
    name = "indexproof-quick-library"
    note = "as indexproof-quick with the C library"
    quick = True


#: This project's own variants, which are not compared with each other; first those called from Python.
IN_PYTHON = (Ours.name, Native.name, Quick.name, QuickNative.name)
OWN = (*IN_PYTHON, Library.name, QuickLibrary.name)


def how(name: str) -> str:
    """Return the suffix for figures of one of :data:`OWN`: empty, or for example ``", quick, native"``."""
    return name.removeprefix(Ours.name).replace("-", ", ")


def from_steps(steps: Any, outputs: Any) -> Program:
    """Convert the straight-line program of this project's code generator (``core/codegen/program.py``)."""
    names = {"plus": "add", "times": "mul", "floordiv": "fdiv", "mod": "mod", "ceildiv": "cdiv"}
    names |= {"minimum": "min", "maximum": "max"}
    b = Builder()
    done: list[int] = []
    for op, args, leaf in steps:
        kids = [done[a] for a in args]
        if op == "variable":
            at = b.var(leaf.name)
        elif op == "integer":
            at = b.lit(leaf)
        elif op == "negate":
            at = b.mul(kids[0], -1)
        elif op == "minus":
            at = b.op("add", kids[0], b.mul(kids[1], -1))
        else:
            at = b.op(names[op], *kids)
        done.append(at)
    return b.program(done[k] for k in outputs)


# --------------------------------------------------------------------------------------------------------------- XLA
class Xla(Peer):
    """Results that XLA's simplifier printed, without times; available only where the corpus contains them."""

    name = "xla"
    note = "results stored with the corpus, XLA of jaxlib 0.10.2; not run, so it has no time"

    def refuses(self, m: Map) -> str:
        return "" if m.after is not None else "not in the corpus"

    def convert(self, m: Map) -> Any:
        return m.after

    def simplify(self, native: Any) -> Any:
        return native

    def back(self, result: Any, m: Map) -> Program:
        return result


# --------------------------------------------------------------------------------------------------------------- TVM
class Tvm(Peer):
    name = "tvm"
    package = "apache-tvm"
    note = "sym.Analyzer.simplify with the default number of steps; boxes bound, constraints entered as scopes"
    tree = 40_000
    steps = 2

    def load(self) -> None:
        from tvm import ir, sym, tirx

        self.ir, self.sym, self.t = ir, sym, tirx
        self.made = {"add": operator.add, "mul": operator.mul, "fdiv": tirx.floordiv, "mod": tirx.floormod}
        self.made |= {"min": tirx.min, "max": tirx.max, "cdiv": lambda a, b: -tirx.floordiv(-a, b)}

    def convert(self, m: Map) -> Any:
        t = self.t
        variables = {n: t.Var(n, "int64") for n in m.program.nodes if isinstance(n, str)}
        done = built(m, lambda n: t.const(n, "int64"), variables.__getitem__, self.made)
        boxes = [
            (variables[n], self.ir.Range.from_min_extent(t.const(lo, "int64"), t.const(hi - lo + 1, "int64")))
            for n, lo, hi in m.vars
            if n in variables
        ]
        where = []
        for c, lo, hi in m.constraints:
            e = done[c]
            where += [e == lo] if lo == hi else [e >= lo, e <= hi]
        return {"boxes": boxes, "where": where, "roots": [done[r] for r in m.program.roots]}

    def analyzer(self, native: Any) -> Any:
        """Return the map's analyzer, bound to its boxes; it is created once per map."""
        analyzer = native.get("analyzer")
        if analyzer is None:
            analyzer = native["analyzer"] = self.sym.Analyzer()
            for v, box in native["boxes"]:
                analyzer.bind(v, box)
        return analyzer

    def simplify(self, native: Any) -> Any:
        analyzer = self.analyzer(native)
        scopes = [analyzer.constraint_scope(w) for w in native["where"]]
        for s in scopes:
            s.__enter__()
        try:
            return [analyzer.simplify(e, self.steps) for e in native["roots"]]
        finally:
            for s in reversed(scopes):
                s.__exit__(None, None, None)

    def back(self, result: Any, m: Map) -> Program:
        self.done: dict[Any, int] = {}
        return super().back(result, m)

    def read(self, e: Any, b: Builder) -> int:
        if (key := e.__hash__()) not in self.done:
            self.done[key] = self._read(e, b)
        return self.done[key]

    def _read(self, e: Any, b: Builder) -> int:
        kind = type(e).__name__
        if kind == "IntImm":
            return b.lit(int(e.value))
        if kind == "Var":
            return b.var(str(e.name))
        if kind == "Select":
            return b.op("select", *(self.read(k, b) for k in (e.condition, e.true_value, e.false_value)))
        if kind not in (*_TVM, "Sub", "GE", "LT", "GT"):
            raise ValueError(f"no reading of {kind}")
        x, y = self.read(e.a, b), self.read(e.b, b)
        match kind:
            case "Sub":
                return b.sub(x, y)
            case "GE":
                return b.op("le", y, x)
            case "LT":
                return b.op("le", b.add(x, n=1), y)
            case "GT":
                return b.op("le", b.add(y, n=1), x)
        return b.op(_TVM[kind], x, y)


_TVM = {"Add": "add", "Mul": "mul", "FloorDiv": "fdiv", "FloorMod": "mod", "Div": "tdiv", "Mod": "tmod"}
_TVM |= {"Min": "min", "Max": "max", "LE": "le", "EQ": "eq", "And": "and", "Or": "or"}


class TvmSteps(Tvm):
    name = "tvm-steps"
    note = "sym.Analyzer.simplify with 6 steps instead of 2"
    steps = 6


class TvmIterMap(Tvm):
    name = "tvm-itermap"
    note = (
        "sym.iter_map_simplify (no check of bijectivity; constraints as the predicate, where it takes them), "
        "then Analyzer.simplify"
    )

    def simplify(self, native: Any) -> Any:
        from tvm.sym.iter_affine_map import IterMapLevel

        analyzer = self.analyzer(native)
        predicate: Any = True
        for w in native["where"]:
            predicate = w if predicate is True else self.t.all(predicate, w)
        boxes, roots = dict(native["boxes"]), native["roots"]
        try:
            out = self.sym.iter_map_simplify(roots, boxes, predicate, IterMapLevel.NoCheck, analyzer=analyzer)
            if predicate is not True and all(a.same_as(b) for a, b in zip(out, roots, strict=True)):
                # it gives up on a predicate that it cannot handle
                out = self.sym.iter_map_simplify(roots, boxes, True, IterMapLevel.NoCheck, analyzer=analyzer)
        except Exception as error:
            raise GivesUp(str(error)[:200]) from error
        return [analyzer.simplify(e) for e in out]


# ----------------------------------------------------------------------------------------------------------- tinygrad
_PYTHON = {"add": operator.add, "mul": operator.mul, "fdiv": operator.floordiv, "mod": operator.mod}
_PYTHON |= {"cdiv": lambda a, b: -(-a // b), "min": lambda a, b: a.minimum(b), "max": lambda a, b: a.maximum(b)}


class Tinygrad(Peer):
    name = "tinygrad"
    package = "tinygrad"
    note = "UOp.simplify; constraints through uop_given_valid; all results in one graph"
    limit = 20.0
    slow = True

    def load(self) -> None:
        from tinygrad.uop.ops import Ops, UOp
        from tinygrad.uop.symbolic import uop_given_valid

        self.Ops, self.UOp, self.given = Ops, UOp, uop_given_valid

    def convert(self, m: Map) -> Any:
        boxes = {n: (lo, hi) for n, lo, hi in m.vars}
        done = built(m, self.UOp.const, lambda n: self.UOp.variable(n, *boxes[n]), _PYTHON)
        valid = None
        for c, lo, hi in m.constraints:
            for part in (done[c] >= lo, done[c] < hi + 1):
                valid = part if valid is None else valid & part
        return {"roots": [done[r] for r in m.program.roots], "valid": valid}

    def simplify(self, native: Any) -> Any:
        if native["valid"] is None:
            # one graph, so that shared parts of the results are simplified once
            return list(self.UOp.sink(*native["roots"]).simplify().src)
        valid = native["valid"].simplify()
        roots = self.UOp.sink(*native["roots"]).simplify().src
        return [self.given(valid, r).simplify() for r in roots]

    def back(self, result: Any, m: Map) -> Program:
        b, ops = Builder(), self.Ops
        done: dict[Any, int] = {}
        for root in result:
            for u in root.toposort():
                if u in done:
                    continue
                at: int
                if u.op is ops.CONST:
                    at = b.lit(int(u.arg))
                elif u.op in (ops.BUFFER, ops.PARAM):
                    at = b.var(u.arg.name)
                elif u.op is ops.CAST:
                    at = done[u.src[0]]
                elif u.op is ops.STACK:
                    continue
                elif u.op is ops.XOR and u.src[1].op is ops.CONST and u.src[1].arg == -1:
                    inner = u.src[0]
                    if inner.op is ops.MAX and all(_flipped(s, ops) for s in inner.src):
                        at = b.op("min", *(self._unflip(s, done, b) for s in inner.src))
                    else:
                        at = b.add(b.mul(done[inner], -1), n=-1)
                else:
                    at = self._operation(u, [done[s] for s in u.src], b)
                done[u] = at
        return b.program(done[r] for r in result)

    def _unflip(self, u: Any, done: dict[Any, int], b: Builder) -> int:
        return b.lit(-1 - int(u.arg)) if u.op is self.Ops.CONST else done[u.src[0]]

    def _operation(self, u: Any, args: list[int], b: Builder) -> int:
        ops, op = self.Ops, u.op
        plain = {ops.ADD: "add", ops.MUL: "mul", ops.FLOORDIV: "fdiv", ops.FLOORMOD: "mod", ops.CDIV: "tdiv"}
        plain |= {ops.CMOD: "tmod", ops.MAX: "max", ops.CMPEQ: "eq", ops.WHERE: "select", ops.OR: "or"}
        plain |= {ops.XOR: "xor"}
        if op in plain:
            return b.op(plain[op], *args)
        second = u.src[1].arg if len(u.src) > 1 and u.src[1].op is ops.CONST else None
        if op is ops.SHR and second is not None:
            return b.fdiv(args[0], 1 << int(second))
        if op is ops.SHL and second is not None:
            return b.mul(args[0], 1 << int(second))
        if op is ops.AND:
            low = second is not None and int(second) > 0 and (int(second) & (int(second) + 1)) == 0
            return b.mod(args[0], int(second) + 1) if low else b.op("and", *args)
        if op is ops.SUB:
            return b.sub(*args)
        if op is ops.NEG:
            return b.mul(args[0], -1)
        if op is ops.CMPLT:
            return b.op("le", b.add(args[0], n=1), args[1])
        if op is ops.CMPNE:
            return b.op("xor", b.op("eq", *args), b.lit(1))
        raise ValueError(f"no reading of {op}")


def _flipped(u: Any, ops: Any) -> bool:
    return u.op is ops.CONST or (u.op is ops.XOR and u.src[1].op is ops.CONST and u.src[1].arg == -1)


# --------------------------------------------------------------------------------------------------------------- isl
class Isl(Peer):
    name = "isl"
    package = "islpy"
    note = "per result a pw_aff over box and constraints: coalesce, gist, then the AST expression of an AstBuild"
    slow = True
    #: limit on isl's own operation count, which is deterministic; lower for maps with heavily shared nodes
    operations = 2_000_000
    operations_shared = 20_000

    def load(self) -> None:
        import islpy

        self.isl = islpy

    def refuses(self, m: Map) -> str:
        if len(m.vars) > 200:
            return f"{len(m.vars)} dimensions"
        return super().refuses(m)

    def convert(self, m: Map) -> Any:
        isl = self.isl
        ctx = isl.Context()
        ctx.set_ast_build_detect_min_max(1)
        ctx.set_max_operations(self.operations if m.program.tree_size() < 40_000 else self.operations_shared)
        try:
            return self._convert(ctx, m)
        except isl.Error as error:
            raise GivesUp("limit of operations") from error

    def _convert(self, ctx: Any, m: Map) -> Any:
        isl = self.isl
        space = isl.Space.create_from_names(ctx, set=[n for n, _, _ in m.vars])
        local = isl.LocalSpace.from_space(space)
        index = {n: i for i, (n, _, _) in enumerate(m.vars)}

        def constant(n: int) -> Any:
            return isl.PwAff.from_aff(isl.Aff.val_on_domain_space(space, isl.Val(n, ctx)))

        domain = isl.Set.universe(space)
        for i, (_, lo, hi) in enumerate(m.vars):
            domain = domain.lower_bound_val(isl.dim_type.set, i, isl.Val(lo, ctx))
            domain = domain.upper_bound_val(isl.dim_type.set, i, isl.Val(hi, ctx))

        def lifted(x: Any) -> Any:
            return constant(x) if isinstance(x, int) else x

        def variable(name: str) -> Any:
            return isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, index[name]))

        operations: dict[str, Any] = {
            op: lambda a, b, op=op: getattr(lifted(a), op)(lifted(b)) for op in ("add", "min", "max")
        }
        operations["fdiv"] = lambda a, b: a.scale_down_val(isl.Val(b, ctx)).floor()
        operations["cdiv"] = lambda a, b: a.scale_down_val(isl.Val(b, ctx)).ceil()
        operations["mod"] = lambda a, b: a.mod_val(isl.Val(b, ctx))
        operations["mul"] = lambda a, b: a.scale_val(isl.Val(b, ctx)) if isinstance(b, int) else lifted(a).mul(b)
        done = built(m, int, variable, operations)
        for c, lo, hi in m.constraints:
            e = done[c]
            domain = domain & e.ge_set(constant(lo)) & e.le_set(constant(hi))
        return {"ctx": ctx, "domain": domain, "roots": [lifted(done[r]) for r in m.program.roots]}

    def simplify(self, native: Any) -> Any:
        isl = self.isl
        native["ctx"].reset_operations()
        try:
            domain = native["domain"].coalesce()
            build = isl.AstBuild.from_context(domain)
            out = []
            for e in native["roots"]:
                small = e.intersect_domain(domain).coalesce().gist(domain)
                out.append(build.expr_from_pw_aff(small))
        except isl.Error as error:
            raise GivesUp("limit of operations") from error
        return out

    def read(self, e: Any, b: Builder) -> int:
        isl = self.isl
        kind = e.get_type()
        if kind == isl.ast_expr_type.int:
            return b.lit(e.get_val().to_python())
        if kind == isl.ast_expr_type.id:
            return b.var(e.get_id().get_name())
        args = [self.read(e.get_op_arg(i), b) for i in range(e.get_op_n_arg())]
        t, op = isl.ast_expr_op_type, e.get_op_type()
        if op in (t.min, t.max):
            return folded(b, "min" if op == t.min else "max", args)
        if op == t.minus:
            return b.mul(args[0], -1)
        if op == t.sub:
            return b.sub(*args)
        if op == t.lt:
            return b.op("le", b.add(args[0], n=1), args[1])
        if op == t.gt:
            return b.op("le", b.add(args[1], n=1), args[0])
        if op == t.ge:
            return b.op("le", args[1], args[0])
        plain = {t.add: "add", t.mul: "mul", t.div: "fdiv", t.fdiv_q: "fdiv", t.pdiv_q: "fdiv", t.pdiv_r: "mod"}
        plain |= {t.zdiv_r: "mod", t.le: "le", t.eq: "eq", t.and_: "and", t.and_then: "and"}
        plain |= {t.or_: "or", t.or_else: "or", t.cond: "select", t.select: "select"}
        return b.op(plain[op], *args)


# ------------------------------------------------------------------------------------------------------------- sympy
class Sympy(Peer):
    name = "sympy"
    package = "sympy"
    note = (
        "integer symbols (nonnegative where the box says so), floor and Mod, then sympy.simplify; part of the work is "
        "done by its constructors. It knows no boxes and no constraints"
    )
    limit = 3.0
    slow = True
    tree = 3_000

    def load(self) -> None:
        import sympy

        self.s = sympy

    def fresh(self) -> None:
        self.s.core.cache.clear_cache()

    def convert(self, m: Map) -> Any:
        s = self.s
        boxes = {n: lo for n, lo, _ in m.vars}
        operations = {"add": s.Add, "mul": s.Mul, "mod": s.Mod, "min": s.Min, "max": s.Max}
        operations["fdiv"] = lambda a, b: s.floor(s.Mul(a, s.Rational(1, b)))
        operations["cdiv"] = lambda a, b: s.ceiling(s.Mul(a, s.Rational(1, b)))

        def variable(name: str) -> Any:
            return s.Symbol(name, integer=True, nonnegative=True if boxes[name] >= 0 else None)

        done = built(m, s.Integer, variable, operations)
        return [done[r] for r in m.program.roots]

    def simplify(self, native: Any) -> Any:
        return [self.s.simplify(e) for e in native]

    def read(self, e: Any, b: Builder) -> int:
        s = self.s
        if e.is_Integer:
            return b.lit(int(e))
        if e.is_Symbol:
            return b.var(e.name)
        if isinstance(e, (s.floor, s.ceiling)):
            numerator, denominator = e.args[0].as_numer_denom()
            if denominator == 1:  # in a sum the denominators are in the terms
                denominator = s.Integer(math.lcm(*(int(q.q) for q in e.args[0].atoms(s.Rational))))
                numerator = s.expand(e.args[0] * denominator)
            return b.op("fdiv" if isinstance(e, s.floor) else "cdiv", self.read(numerator, b), b.lit(int(denominator)))
        if isinstance(e, s.Mod):
            return b.op("mod", self.read(e.args[0], b), b.lit(int(e.args[1])))
        if e.is_Mul and len(e.args) == 2 and e.args[0].is_Integer and isinstance(e.args[1], s.Mod):
            k, remainder = e.args
            if not remainder.args[1].is_Integer:  # k * (a mod p/q) = (k * a) mod (k * p/q)
                return self.read(s.Mod(s.expand(k * remainder.args[0]), k * remainder.args[1], evaluate=False), b)
        fractions = [q for q in (t.as_coeff_Mul()[0] for t in s.Add.make_args(e)) if q.is_Rational and q.q != 1]
        if fractions:  # a sum of fractions with an integer value: an exact division
            common = math.lcm(*(int(q.q) for q in fractions))
            return b.op("fdiv", self.read(s.expand(e * common), b), b.lit(common))
        op = {s.Add: "add", s.Mul: "mul", s.Min: "min", s.Max: "max"}.get(type(e))
        if op is None:
            raise ValueError(f"no reading of {type(e).__name__}")
        args = list(e.args)
        if op == "mul":
            args.sort(key=lambda a: bool(a.is_Integer))
        return folded(b, op, [self.read(a, b) for a in args])


# ---------------------------------------------------------------------------------------------------------- Inductor
class Inductor(Peer):
    name = "inductor"
    package = "torch"
    note = (
        "torch._inductor.sizevars: simplify_with_ranges, then combine_modular_indexing_pairs, then simplify_with_ranges; "
        "variables shifted to start at 0. It knows no constraints"
    )
    limit = 5.0
    slow = True
    tree = 3_000

    def load(self) -> None:
        import sympy
        from torch._inductor.sizevars import SizeVarAllocator
        from torch._inductor.utils import sympy_index_symbol
        from torch.utils._sympy.functions import CeilDiv, FloorDiv, Max, Min, ModularIndexing

        self.s, self.Alloc, self.symbol = sympy, SizeVarAllocator, sympy_index_symbol
        self.made = {"add": operator.add, "mul": operator.mul, "fdiv": FloorDiv, "cdiv": CeilDiv}
        self.made |= {"min": Min, "max": Max, "mod": lambda a, b: ModularIndexing(a, sympy.Integer(1), b)}

    def fresh(self) -> None:
        self.s.core.cache.clear_cache()

    def convert(self, m: Map) -> Any:
        s = self.s
        lows = {n: lo for n, lo, _ in m.vars}
        names = {n: self.symbol(f"i{k}") for k, (n, _, _) in enumerate(m.vars)}
        done = built(m, s.Integer, lambda n: names[n] + lows[n], self.made)
        ranges = {names[n]: s.Integer(hi - lo + 1) for n, lo, hi in m.vars}
        return {"ranges": ranges, "roots": [done[r] for r in m.program.roots]}

    def simplify(self, native: Any) -> Any:
        sizes = native.get("sizes")
        if sizes is None:
            sizes = native["sizes"] = self.Alloc()
        ranges = native["ranges"]
        out = []
        for e in native["roots"]:
            e = sizes.simplify_with_ranges(e, ranges)
            e = sizes.combine_modular_indexing_pairs(e)
            out.append(sizes.simplify_with_ranges(e, ranges))
        return out

    def back(self, result: Any, m: Map) -> Program:
        self.lows = {f"i{k}": (n, lo) for k, (n, lo, _) in enumerate(m.vars)}
        return super().back(result, m)

    def read(self, e: Any, b: Builder) -> int:
        if e.is_Integer:
            return b.lit(int(e))
        if e.is_Symbol:
            name, lo = self.lows[e.name]
            return b.add(b.var(name), n=-lo)
        name = type(e).__name__
        kids = [self.read(a, b) for a in e.args]
        if name == "ModularIndexing":
            return b.op("mod", b.op("fdiv", kids[0], kids[1]), kids[2])
        if name in ("FloorDiv", "CleanDiv", "IntTrueDiv"):
            return b.op("fdiv", *kids)
        if name in ("Mod", "PythonMod"):
            return b.op("mod", *kids)
        if name == "CeilDiv":
            return b.op("cdiv", *kids)
        op = {"Add": "add", "Mul": "mul", "Min": "min", "Max": "max"}.get(name)
        if op is None or e.is_Rational:
            raise ValueError(f"no reading of {name}")
        if op == "mul":  # integers last
            kids = [k for _, k in sorted(zip(e.args, kids, strict=True), key=lambda of: bool(of[0].is_Integer))]
        return folded(b, op, kids)


PEERS: list[type[Peer]] = [
    *(Ours, Native, Quick, QuickNative, Library, QuickLibrary, Xla, Tvm, TvmSteps, TvmIterMap, Tinygrad, Isl),
    *(Sympy, Inductor),
]

#: The peers for maps made with other seeds: all but the two slowest ones, and XLA, which is not run.
COMPARED = ("indexproof", "tvm", "tvm-steps", "tvm-itermap", "tinygrad", "isl")


def available(names: list[str] | None = None) -> tuple[list[Peer], dict[str, str]]:
    """Return the peers that can be loaded, and the reasons why the others cannot."""
    loaded, missing = [], {}
    for kind in PEERS:
        if names is not None and kind.name not in names:
            continue
        try:
            loaded.append(kind())
        except (ImportError, importlib.metadata.PackageNotFoundError) as error:
            missing[kind.name] = str(error)
    return loaded, missing
