"""Translate the typed Python of the simplifier to C++: its rules, strategies and search.

mypy infers the type of every expression; each statement becomes one of C++ with the containers of `runtime.h`.  Any
other construct is refused, so the translation has the same meaning.  Generators become functions that take a *sink*,
which is called with every proposal and returns whether to stop.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mypy import nodes as n
from mypy import types as t
from mypy.build import BuildSource, build
from mypy.options import Options

from dev.escape import Kept, assigned, is_fresh, mentions
from indexproof.core.constraint_matcher import compiled_constraint_rule
from indexproof.core.constraint_normal import _rules as by_shape
from indexproof.rules.catalog import RULES

__all__ = ["translation"]

ROOT: Final = Path(__file__).parents[2]

#: Modules with the classes that are merged into one, the base first; and modules with functions.
ENGINE: Final = (
    ("core.kernel.atoms", "Atoms"),
    ("core.kernel.measure", "Measured"),
    ("core.kernel.ranges", "Ranges"),
    ("core.kernel.kernel", "Kernel"),
    ("core.strategies.divisions", "Divisions"),
    ("core.strategies.sums", "Sums"),
    ("rules.compiled", "CatalogueEngine"),
)
LEDGER: Final = (("core.extraction.ledger", "Ledger"),)
SEARCH: Final = (
    ("core.extraction.choices", "Choices"),
    ("core.extraction.proposals", "Proposals"),
    ("core.extraction.differences", "Differences"),
    ("core.extraction.search", "Search"),
)
SIMPLIFIER: Final = (("core.simplify", "Simplifier"),)
CONSTRAINTS: Final = (("core.constraint_normal", "Constraints"),)
CLASSES: Final = {
    "Engine": ENGINE,
    "Ledger": LEDGER,
    "Search": SEARCH,
    "Simplifier": SIMPLIFIER,
    "Constraints": CONSTRAINTS,
}
FUNCTIONS: Final = (
    ("core.kernel.form", ("atom", "times", "minus", "exactly", "lone", "contains")),
    ("core.cost", ("cost",)),
    ("core.extraction.given", ("as_given", "takes_sums_apart")),
    ("core.strategies.divisions", ("magnitude",)),
    ("core.cost", ("map_cost",)),
    (
        "core.constraint_order",
        ("upright", "summands", "_minus", "_outline", "_below", "descends", "_measures", "_sizes"),
    ),
    (
        "core.constraint_choose",
        (
            "_scaled", "content", "negative_content", "whole_range", "both_ranges", "residue_of", "residue",
            "shifted_remainder", "_remainders", "_least_common_multiple", "common_multiple", "greatest_common_divisor",
            "window", "summand", "_others", "multiple_and_rest", "dividend",
        ),
    ),
    ("core.constraint_matcher", ("inside",)),
    ("rules.compiled_constraints", ()),
    (
        "core.constraint_normal",
        ("_moved", "_moved_back", "_without_constant", "_dividend", "_modulus", "_quotients", "shifted_variable"),
    ),
    ("core.simplify_map", ("_simplified", "_no_dearer", "_sourced")),
)  # fmt: skip
#: The classes of maps and their parts.
MAPS: Final = {"IndexingMap", "Variable", "RuntimeVariable", "RuntimeSource", "Constraint", "CompiledConstraintRule"}
#: Names of code that is written by hand, or left to Python.
LEFT_OUT: Final = {"record", "rules", "room", "_compiled"}
RAISED: Final = {"Excess", "Contradiction"}
#: Exceptions that cannot occur, since division by zero and overflow are left to Python.
LEFT_TO_PYTHON: Final = {"ZeroDivisionError", "OverflowError"}
#: Other modules that define types.
KNOWN: Final = (
    "core.derivation", "core.engine", "core.expr", "core.extraction", "core.facts", "core.indexing_map", "core.interval",
    "core.native", "core.rewrite", "core.steps", "core.variables",
)  # fmt: skip
#: Written by hand in `kernel.h`: calls of rules by tables, unbounded integers, and expressions that are no forms.
BY_HAND: Final = {
    "Engine": {
        "_new", "_refuse_large", "_size", "added", "_divided", "recombine", "_in_pairs", "_applied", "_known",
        "ceildiv", "_opaque", "_as_written", "read", "_below", "ends",
    },
    "Search": {"_applied"},
    "Ledger": set[str](),
    "Simplifier": {
        "_known", "engine", "normal", "within", "_narrow",
        "_record", "_note", "_rule", "_tell", "_larger", "__init__", "all",
    },
    "Constraints": {"compiled", "made", "ends", "state", "recorded", "rewritten", "contradicted"},
}  # fmt: skip
#: The classes of expressions.
NODES: Final = {"Int", "Var", "Sum", "FloorDiv", "Mod", "CeilDiv", "Min", "Max", "Mul"}
KEYWORDS: Final = {
    "new", "this", "union", "long", "short", "signed", "auto", "char", "double", "float", "and", "or", "not",
    "xor", "register", "template", "operator", "default", "case", "switch", "const", "int", "bool", "void",
    "at", "in", "len", "least", "most", "total", "slice", "sorted", "reversed", "mk", "some", "add", "mul",
    "sub", "neg", "smaller", "larger", "none", "export",
}  # fmt: skip


#: Room for a container that lives only as long as the enclosing expression.
TEMPORARY: Final = "temporary"


class Refused(Exception):
    """Raised for code that cannot be translated."""


def _analysed() -> tuple[dict[str, n.MypyFile], Mapping[n.Expression, t.Type]]:
    """Return the syntax trees of all modules, and the types of expressions."""
    options = Options()
    options.export_types = options.preserve_asts = True
    options.ignore_missing_imports = options.namespace_packages = True
    # other modules are not translated and need no types
    options.follow_imports = "skip"
    options.python_executable = None
    options.incremental = False
    options.python_version = (3, 11)
    names = sorted({m for of in CLASSES.values() for m, _ in of} | {m for m, _ in FUNCTIONS} | set(KNOWN))
    link = ROOT / ".venv" / "types"
    link.mkdir(exist_ok=True, parents=True)
    if not (link / "indexproof").exists():
        (link / "indexproof").symlink_to(ROOT)
    options.mypy_path = [str(link)]
    path = link / "indexproof"
    sources = []
    for m in names:
        file = path / f"{m.replace('.', '/')}.py"
        sources.append(
            BuildSource(str(file if file.exists() else file.with_suffix("") / "__init__.py"), f"indexproof.{m}")
        )
    result = build(sources, options)
    if result.errors:
        raise Refused("\n".join(result.errors))
    return {m: result.files[f"indexproof.{m}"] for m in names}, result.types


def plain(x: t.Type | None) -> t.ProperType:
    assert x is not None
    return t.get_proper_type(x)


def cpp(x: t.Type | None) -> str:
    """Return the C++ type for a type."""
    p = plain(x)
    if isinstance(p, t.NoneType):
        return "Unit"
    if isinstance(p, t.AnyType):
        return "Any"
    if isinstance(p, t.LiteralType):
        return cpp(p.fallback)
    if isinstance(p, t.UnionType):
        items = [i for i in map(plain, p.items) if not isinstance(i, t.NoneType)]
        kinds = list(dict.fromkeys(map(cpp, items)))
        if kinds == ["Int", "Float"]:
            kinds = ["Int"]
        if len(kinds) != 1:
            raise Refused(f"union {p}")
        optional = len(items) < len(p.items)
        return f"Opt<{kinds[0]}>" if optional and not is_handle(kinds[0]) else kinds[0]
    if isinstance(p, t.TupleType) and p.partial_fallback.type.name == "Cost":
        return "Cost"
    if is_applied(p):
        return cpp(p.items[0])  # type: ignore[attr-defined]
    if isinstance(p, t.TupleType):
        items_ = [cpp(i) for i in p.items]
        if items_ in (["Int", "Terms"], ["Int", "Tuple<>"]):
            return "Form"
        if items_ == ["Int", "Int"]:
            return "Term"
        return f"Tuple<{', '.join(items_)}>"
    if isinstance(p, t.TypeType) or (isinstance(p, t.Instance) and p.type.fullname == "builtins.type"):
        return "Int"
    if isinstance(p, t.CallableType):
        # a function that bounds expressions becomes an engine
        return "Engine*" if p.arg_types else "Way"
    if isinstance(p, t.Instance):
        name = p.type.fullname
        args = p.args
        if name == "builtins.int":
            return "Int"
        if name == "builtins.bool":
            return "bool"
        if name == "builtins.float":
            return "Float"
        if name == "builtins.list" and "steps.Step" in str(args[0]):
            return "Trace*"
        if name == "builtins.list":
            return f"List<{cpp(args[0])}>"
        if name == "builtins.set":
            return f"Set<{cpp(args[0])}>"
        if name == "builtins.dict":
            return f"Dict<{cpp(args[0])}, {cpp(args[1])}>"
        if name == "builtins.tuple":
            inner = cpp(args[0])
            return "Terms" if inner == "Term" else f"Tup<{inner}>"
        short = p.type.name
        if name.startswith("indexproof.core.expr."):
            return "Expr"
        if short == "Cost":
            return "Cost"
        if short in MAPS:
            return f"{short}*"
        if short == "_Rules":
            return "ConstraintRules*"
        if short == "Mapping":
            return "Proposal" if cpp_is(args[0], "builtins.str") else "ByHead"
        for of, parts in CLASSES.items():
            if short in {c for _, c in parts} | {of}:
                return f"{of}*"
        if short in ("Sequence", "Iterable"):
            return f"List<{cpp(args[0])}>"
    raise Refused(f"type {p} ({type(p).__name__})")


def cpp_is(x: t.Type, name: str) -> bool:
    p = plain(x)
    return isinstance(p, t.Instance) and p.type.fullname == name


def is_applied(p: t.ProperType | None) -> bool:
    """Return whether a type is that of new constraints with the values of variables, which only derivations need."""
    return (
        isinstance(p, t.TupleType)
        and len(p.items) == 2
        and isinstance(second := plain(p.items[1]), t.Instance)
        and second.type.name in ("Mapping", "dict")
        and cpp_is(second.args[0], "builtins.str")
    )


def is_handle(kind: str) -> bool:
    return kind.startswith(("List<", "Dict<", "Set<")) or kind.endswith("*") or kind == "Expr"


def named(name: str) -> str:
    return f"{name}_" if name in KEYWORDS else name


class Function:
    """The translation of one function."""

    def __init__(self, whole: Translation, d: n.FuncDef, owner: str | None) -> None:
        self.whole = whole
        self.types = whole.types
        self.d = d
        self.owner = owner
        self.out: list[str] = []
        self.depth = 1
        self.labels = 0
        self.breaks: list[str | None] = []
        self.arguments = {a.variable for a in d.arguments}
        kind = plain(d.type)
        assert isinstance(kind, t.CallableType)
        self.returns = plain(kind.ret_type)
        self.generator = d.is_generator
        self.variadic: n.Var | None = None
        #: local variables whose containers may be in the frame, and the room for the next container: a variable, or
        #: a temporary of the enclosing expression
        self.in_frame = self.framed()
        self.room = ""

    # ------------------------------------------------------------ the whole
    def signature(self) -> tuple[str, str]:
        """Return the template head, and return type, name and parameters with their defaults."""
        d = self.d
        templates, params = [], []
        for a in d.arguments:
            v = a.variable
            if v.is_self or v.name == "self" or v.name in LEFT_OUT:
                continue
            kind = plain(v.type)
            if a.kind == n.ARG_STAR:
                templates.append("class... V")
                params.append(f"V... {named(v.name)}")
                self.variadic = v
            elif isinstance(kind, t.Instance) and kind.type.fullname == "builtins.str":
                templates.append("class S")
                params.append(f"S {named(v.name)}")
            else:
                default = f" = {self.expr(a.initializer)}" if a.initializer is not None else ""
                params.append(f"{cpp(v.type)} {named(v.name)}{default}")
        if self.generator:
            templates.append("class Sink")
            params.append("Sink&& sink")
        head = f"template <{', '.join(templates)}> " if templates else ""
        if self.generator:
            returns = "bool"
        elif isinstance(self.returns, t.NoneType):
            returns = "void"
        else:
            returns = cpp(self.returns)
        return head, f"{returns} {named(d.name)}({', '.join(params)})"

    def translated(self) -> str:
        """Return the definition."""
        head, signature = self.signature()
        self.block(self.d.body)
        body = self.out
        self.out = []
        for v, kind in self.locals(self.d.body).items():
            self.say(f"{kind} {named(v)}{{}};")
            if any(f"here_{v})" in line or f"here_{v};" in line for line in body):
                self.say(f"Room<{kind}> here_{v};")
        tail = ["  return false;"] if self.generator else []
        return "\n".join([f"{head}{signature} {{", *self.out, *body, *tail, "}"])

    def locals(self, block: n.Block) -> dict[str, str]:
        """Return the local variables with their types, without those of comprehensions."""
        found: dict[str, str] = {}

        def target(x: n.Node) -> None:
            if isinstance(x, n.NameExpr) and isinstance(x.node, n.Var) and x.node not in self.arguments:
                if x.name != "_":
                    found.setdefault(x.name, cpp(x.node.type))
            elif isinstance(x, n.TupleExpr):
                for i in x.items:
                    target(i)

        def visit(s: n.Statement) -> None:
            if isinstance(s, n.AssignmentStmt):
                if not self.dropped(s.rvalue):
                    for lv in s.lvalues:
                        target(lv)
            elif isinstance(s, n.ForStmt):
                target(s.index)
                for b in (s.body, s.else_body):
                    visit_all(b)
            elif isinstance(s, n.WhileStmt):
                visit_all(s.body)
                visit_all(s.else_body)
            elif isinstance(s, n.IfStmt):
                for c, b in zip(s.expr, s.body, strict=True):
                    if not self.never(c):
                        visit_all(b)
                visit_all(s.else_body)
            elif isinstance(s, n.TryStmt):
                visit_all(s.body)
                for b in s.handlers:
                    visit_all(b)

        def visit_all(b: n.Block | None) -> None:
            for s in b.body if b else ():
                visit(s)

        visit_all(block)
        return found

    def framed(self) -> set[n.SymbolNode | None]:
        """Return the local variables that hold only containers that are created in the function and do not escape."""
        made: set[n.SymbolNode | None] = set()
        other: set[n.SymbolNode | None] = set(self.arguments)
        for v, value in assigned(self.d.body):
            (made if value is not None and is_fresh(value) else other).add(v)
        return made - other - self.whole.kept(self.d) if made else made

    def made(self, kind: str, lines: Sequence[str], var: str) -> str:
        """Return the code of a container that is filled by statements, in the current room."""
        room, self.room = self.room, ""
        where = "r_" if room == TEMPORARY else room
        body = f"auto {var} = {kind}::make({where}); {' '.join(lines)} return {var};"
        return f"[&](auto&& r_) {{ {body} }}(Room<{kind}>())" if room == TEMPORARY else f"[&] {{ {body} }}()"

    def roomy(self, kind: str, text: str) -> str:
        """Return the arguments of a call that makes a container, with the current room."""
        room, self.room = self.room, ""
        return ", ".join(filter(None, [text, f"here(Room<{kind}>())" if room == TEMPORARY else room]))

    def briefly(self, e: n.Expression, expected: t.ProperType | None = None) -> str:
        """Translate an expression whose container is not used after the enclosing expression."""
        if is_fresh(e):
            self.room = TEMPORARY
        text = self.expr(e, expected)
        self.room = ""
        return text

    def say(self, line: str) -> None:
        self.out.append("  " * self.depth + line)

    # ------------------------------------------------------------ what is left to Python
    def dropped(self, e: n.Expression) -> bool:
        """Return whether an expression is an option that C++ does not have."""
        return isinstance(e, n.MemberExpr | n.NameExpr) and e.name in LEFT_OUT

    def never(self, e: n.Expression) -> bool:
        """Return whether a condition tests for such an option."""
        if isinstance(e, n.OpExpr) and e.op == "and":
            return self.never(e.left)
        return isinstance(e, n.ComparisonExpr) and e.operators == ["is not"] and self.dropped(e.operands[0])

    # ------------------------------------------------------------ what is recorded
    def recording(self, e: n.Expression) -> n.CallExpr | None:
        """Return the call if the expression records the application of a rule."""
        of = isinstance(e, n.CallExpr) and isinstance(e.callee, n.MemberExpr) and e.callee.name == "record"
        return e if of else None  # type: ignore[return-value]

    def told(self, call: n.CallExpr) -> None:
        """Translate the recording of the application of a rule."""
        name, values = call.args
        assert isinstance(name, n.StrExpr)
        assert isinstance(values, n.TupleExpr)
        sharing = str(RULES[name.value].sharing).lower()  # type: ignore[union-attr]
        said = ", ".join([f'"{name.value}"', sharing, *map(self.expr, values.items)])
        self.say(f"if (record) [[unlikely]] tell({said});")

    def bound(self, e: n.Expression) -> None:
        """Record the values of variables under which a rule rewrites constraints, where derivations need them."""
        if isinstance(e, n.TupleExpr) and len(e.items) == 2 and isinstance(e.items[1], n.DictExpr):
            values = ", ".join(self.expr(v) for _, v in e.items[1].items)
            self.say(f"if (_ends->record) _ends->keep({values});")

    # ------------------------------------------------------------ statements
    def block(self, b: n.Block) -> None:
        for s in b.body:
            try:
                self.statement(s)
            except Refused as e:
                raise Refused(f"{self.d.fullname}:{s.line}: {e}") from None

    def statement(self, s: n.Statement) -> None:
        if isinstance(s, n.ExpressionStmt):
            self.expression_statement(s.expr)
        elif isinstance(s, n.AssignmentStmt):
            self.assignment(s)
        elif isinstance(s, n.OperatorAssignmentStmt):
            self.augmented(s)
        elif isinstance(s, n.ReturnStmt):
            self.returned(s)
        elif isinstance(s, n.IfStmt):
            self.conditional(s)
        elif isinstance(s, n.WhileStmt):
            self.loop(f"while ({self.truth(s.expr)}) {{", lambda: self.block(s.body), s.else_body)
        elif isinstance(s, n.ForStmt):
            self.for_loop(s)
        elif isinstance(s, n.BreakStmt):
            label = self.breaks[-1]
            self.say(f"goto {label};" if label else "break;")
        elif isinstance(s, n.ContinueStmt):
            self.say("continue;")
        elif isinstance(s, n.RaiseStmt):
            name = s.expr.name if isinstance(s.expr, n.NameExpr) else None
            self.say(f"throw {name}{{}};" if name in RAISED else "give_up();")
        elif isinstance(s, n.TryStmt):
            self.attempt(s)
        elif isinstance(s, n.DelStmt):
            x = s.expr
            if not isinstance(x, n.IndexExpr):
                raise Refused("del")
            self.say(f"{self.expr(x.base)}.erase({self.expr(x.index)});")
        elif isinstance(s, (n.PassStmt, n.AssertStmt)):
            pass
        else:
            raise Refused(type(s).__name__)

    def expression_statement(self, e: n.Expression) -> None:
        if isinstance(e, n.StrExpr) or self.dropped(e):
            return
        if isinstance(e, n.YieldExpr):
            self.say(f"if (sink({self.proposal(e.expr)})) return true;")
            return
        if isinstance(e, n.YieldFromExpr):
            self.say(f"if ({self.expr(e.expr, sink=True)}) return true;")
            return
        self.say(f"{self.expr(e)};")

    def proposal(self, e: n.Expression | None) -> str:
        """Return a strategy and its values as the arguments of a sink."""
        if isinstance(e, n.NameExpr) and e.name == "MATCHED":
            return "strategy::matched{}"
        if not isinstance(e, n.TupleExpr) or not isinstance(e.items[0], n.StrExpr):
            raise Refused("yield")
        tag, values = self.strategy(e.items[0]), e.items[1]
        if isinstance(values, n.TupleExpr):
            parts = [self.expr(v) for v in values.items]
        else:
            kind = plain(self.types[values])
            assert isinstance(kind, t.TupleType)
            parts = [f"at<{i}>({self.expr(values)})" for i in range(len(kind.items))]
        return ", ".join([tag, *parts])

    def strategy(self, e: n.StrExpr) -> str:
        name = e.value or "matched"
        self.whole.strategies.setdefault(name, None)
        return f"strategy::{name}{{}}"

    def assignment(self, s: n.AssignmentStmt) -> None:
        if isinstance(s.rvalue, n.TempNode) or self.dropped(s.rvalue):
            return
        lvalues = s.lvalues
        if all(isinstance(lv, n.MemberExpr) and self.dropped(lv) for lv in lvalues):
            return
        if len(lvalues) == 1 and isinstance(lvalues[0], n.NameExpr):
            v = lvalues[0].node
            if v in self.in_frame and not mentions(s.rvalue, v):
                self.room = f"here_{lvalues[0].name}"
            self.say(f"{self.variable(lvalues[0])} = {self.expr(s.rvalue, self.declared(lvalues[0]))};")
            self.room = ""
            return
        if len(lvalues) == 1 and isinstance(lvalues[0], n.TupleExpr) and isinstance(s.rvalue, n.TupleExpr):
            values = [self.expr(v, self.declared(x)) for x, v in zip(lvalues[0].items, s.rvalue.items, strict=True)]
            tmp = [self.temporary() for _ in values]
            self.say("{")
            for x, v in zip(tmp, values, strict=True):
                self.say(f"  auto {x} = {v};")
            for lv, x in zip(lvalues[0].items, tmp, strict=True):
                self.store(lv, x)
            self.say("}")
            return
        tmp1 = self.temporary()
        self.say("{")
        self.say(f"  auto {tmp1} = {self.expr(s.rvalue, self.declared(lvalues[-1]))};")
        for lv in lvalues:
            self.store(lv, tmp1)
        self.say("}")

    def declared(self, lv: n.Expression) -> t.ProperType | None:
        if isinstance(lv, n.NameExpr) and isinstance(lv.node, n.Var) and lv.node.type is not None:
            return plain(lv.node.type)
        if isinstance(lv, n.MemberExpr):
            v = self.field(lv)
            return plain(v.type) if v is not None and v.type is not None else None
        if isinstance(lv, n.IndexExpr):
            base = plain(self.types[lv.base])
            if isinstance(base, t.Instance) and base.type.name in ("dict", "list"):
                return plain(base.args[-1])
        return None

    def field(self, e: n.MemberExpr) -> n.Var | None:
        base = plain(self.types.get(e.expr))
        if isinstance(base, t.Instance):
            s = base.type.get(e.name)
            if s is not None and isinstance(s.node, n.Var):
                return s.node
        return None

    def store(self, lv: n.Expression, value: str) -> None:
        """Assign a C++ expression to a target."""
        if isinstance(lv, n.NameExpr):
            if lv.name != "_":
                self.say(f"{self.variable(lv)} = {value};")
        elif isinstance(lv, n.MemberExpr):
            self.say(f"{self.member(lv)} = {value};")
        elif isinstance(lv, n.TupleExpr):
            for i, x in enumerate(lv.items):
                self.store(x, f"at<{i}>({value})")
        elif isinstance(lv, n.IndexExpr):
            base = self.expr(lv.base)
            if isinstance(lv.index, n.SliceExpr):
                self.say(f"{base}.assign({value});")
            elif self.kind(lv.base).startswith("Dict<"):
                self.say(f"{base}.set({self.expr(lv.index)}, {value});")
            else:
                self.say(f"{base}[{self.expr(lv.index)}] = {value};")
        else:
            raise Refused(f"assignment to {type(lv).__name__}")

    def augmented(self, s: n.OperatorAssignmentStmt) -> None:
        lv = s.lvalue
        kind = self.kind(lv)
        value = self.briefly(s.rvalue, plain(self.types[lv]))
        if kind.startswith("List<"):
            self.say(f"{self.expr(lv)}.extend({value});")
            return
        if kind == "bool":
            kind = "Int"
        if kind != "Int":
            raise Refused(f"{s.op}= on {kind}")
        if isinstance(lv, n.IndexExpr):
            base, index = self.expr(lv.base), self.expr(lv.index)
            place = f"{base}.at_({index})" if self.kind(lv.base).startswith("Dict<") else f"{base}[{index}]"
        else:
            place = self.place(lv)
        self.say(f"{{ Int v_ = {value}; auto& r_ = {place}; r_ = {self.arithmetic(s.op, 'r_', 'v_')}; }}")

    def place(self, lv: n.Expression) -> str:
        if isinstance(lv, n.NameExpr):
            return self.variable(lv)
        assert isinstance(lv, n.MemberExpr)
        return self.member(lv)

    def returned(self, s: n.ReturnStmt) -> None:
        if self.generator:
            self.say("return false;")
        elif s.expr is None or (isinstance(self.returns, t.NoneType)):
            self.say("return;")
        elif isinstance(s.expr, n.NameExpr) and s.expr.name == "None":
            self.say("return none;")
        else:
            self.bound(s.expr)
            self.say(f"return {self.expr(s.expr, self.returns)};")

    def conditional(self, s: n.IfStmt) -> None:
        word = "if"
        said = False
        for c, b in zip(s.expr, s.body, strict=True):
            first = b.body[0]
            if isinstance(first, n.ExpressionStmt) and (call := self.recording(first.expr)):
                self.told(call)
                continue
            if self.never(c):
                continue
            self.say(f"{word} ({self.truth(c)}) {{")
            self.depth += 1
            self.block(b)
            self.depth -= 1
            word = "} else if"
            said = True
        if s.else_body is not None:
            self.say("} else {" if said else "{")
            self.depth += 1
            self.block(s.else_body)
            self.depth -= 1
            said = True
        if said:
            self.say("}")

    def attempt(self, s: n.TryStmt) -> None:
        kind = s.types[0]
        if len(s.types) != 1 or not isinstance(kind, n.NameExpr):
            raise Refused("try")
        if kind.name in LEFT_TO_PYTHON:
            self.block(s.body)
            return
        if kind.name not in RAISED:
            raise Refused("try")
        self.say("try {")
        self.depth += 1
        self.block(s.body)
        self.depth -= 1
        self.say(f"}} catch ({kind.name}&) {{")
        self.depth += 1
        self.block(s.handlers[0])
        self.depth -= 1
        self.say("}")

    def loop(self, head: str, body: Any, otherwise: n.Block | None) -> None:
        label = None
        if otherwise is not None:
            self.labels += 1
            label = f"broken_{self.labels}"
        self.breaks.append(label)
        self.say(head)
        self.depth += 1
        body()
        self.depth -= 1
        self.say("}")
        self.breaks.pop()
        if otherwise is not None:
            self.say("{")
            self.depth += 1
            self.block(otherwise)
            self.depth -= 1
            self.say("}")
            self.say(f"{label}:;")

    def for_loop(self, s: n.ForStmt) -> None:
        def body(prefix: Sequence[str]) -> Any:
            def emit() -> None:
                for line in prefix:
                    self.say(line)
                self.block(s.body)

            return emit

        heads, lines = self.iteration(s.index, s.expr)
        if len(heads) > 1:
            self.say("{")
            for h in heads[:-1]:
                self.say(h)
        self.loop(heads[-1], body(lines), s.else_body)
        if len(heads) > 1:
            self.say("}")

    def iteration(self, index: n.Expression, over: n.Expression, local: bool = False) -> tuple[list[str], list[str]]:
        """Return the head of a loop, after its setup, and the assignments of its variables; ``local`` ones are declared."""
        name = self.temporary()
        lines: list[str] = []

        def bind(lv: n.Expression, value: str) -> None:
            if isinstance(lv, n.TupleExpr):
                for i, x in enumerate(lv.items):
                    bind(x, f"at<{i}>({value})")
            elif isinstance(lv, n.NameExpr):
                if lv.name == "_":
                    return
                if local:
                    assert isinstance(lv.node, n.Var)
                    lines.append(f"{cpp(lv.node.type)} {named(lv.name)} = {value};")
                else:
                    lines.append(f"{named(lv.name)} = {value};")
            else:
                raise Refused("loop variable")

        if isinstance(over, n.CallExpr) and isinstance(over.callee, n.NameExpr):
            f, args = over.callee.name, over.args
            if f == "range":
                lo, hi = ("Int(0)", self.expr(args[0])) if len(args) == 1 else map(self.expr, args)
                bind(index, name)
                return [f"for (Int {name} = {lo}, {name}e = {hi}; {name} < {name}e; {name}++) {{"], lines
            if f == "enumerate":
                start = self.expr(args[1]) if len(args) > 1 else "Int(0)"
                assert isinstance(index, n.TupleExpr)
                bind(index.items[0], f"{name}i")
                bind(index.items[1], name)
                lines.append(f"{name}i++;")
                heads = [f"Int {name}i = {start};", f"auto {name}c = {self.expr(args[0])};"]
                return [*heads, f"for (auto&& {name} : {name}c) {{"], lines
            if f == "zip":
                assert isinstance(index, n.TupleExpr)
                heads = [f"auto {name}{i} = {self.expr(a)};" for i, a in enumerate(args[: len(index.items)])]
                for i, x in enumerate(index.items):
                    bind(x, f"{name}{i}[{name}]")
                return [*heads, f"for (Int {name} = 0; {name} < {name}0.size(); {name}++) {{"], lines
        if isinstance(over, n.TupleExpr):
            bind(index, name)
            first = plain(self.types[over.items[0]])
            items = ", ".join([self.expr(x, first) for x in over.items])
            kind = cpp(first)
            return [f"for (auto&& {name} : List<{kind}>::of({{{items}}})) {{"], lines
        if (
            isinstance(over, n.CallExpr)
            and isinstance(over.callee, n.MemberExpr)
            and over.callee.name == "get"
            and len(over.args) == 2
        ):
            # ``for x in d.get(k, ())``
            bind(index, name)
            base = over.callee.expr
            if self.kind(base) == "ByHead":
                return [f"for (auto&& {name} : {self.expr(over)}) {{"], lines
            return [
                f"auto {name}c = lookup({self.expr(base)}, {self.key(base, over.args[0])});",
                f"if (!isnone({name}c)) for (auto&& {name} : {name}c) {{",
            ], lines
        bind(index, name)
        if not is_fresh(over):
            return [f"auto {name}c = {self.expr(over)};", f"for (auto&& {name} : {name}c) {{"], lines
        self.room = f"{name}r"
        text = self.expr(over)
        return [
            f"Room<{self.kind(over)}> {name}r;",
            f"auto {name}c = {text};",
            f"for (auto&& {name} : {name}c) {{",
        ], lines

    def key(self, base: n.Expression, index: n.Expression) -> str:
        """Translate a key of a dictionary to its type."""
        kind = plain(self.types[base])
        assert isinstance(kind, t.Instance)
        of = cpp(kind.args[0])
        return self.expr(index) if of == "Any" else f"{of}({self.expr(index)})"

    def temporary(self) -> str:
        self.labels += 1
        return f"t{self.labels}_"

    # ------------------------------------------------------------ expressions
    def kind(self, e: n.Expression) -> str:
        return cpp(self.types[e])

    def variable(self, e: n.NameExpr) -> str:
        return named(e.name)

    def truth(self, e: n.Expression) -> str:
        """Translate a condition."""
        if isinstance(e, n.OpExpr) and e.op in ("and", "or"):
            op = "&&" if e.op == "and" else "||"
            if self.never(e.left):
                return "false"
            return f"({self.truth(e.left)} {op} {self.truth(e.right)})"
        if isinstance(e, n.UnaryExpr) and e.op == "not":
            return f"!{self.truth(e.expr)}"
        if isinstance(e, n.ComparisonExpr) or (isinstance(e, n.NameExpr) and e.name == "True"):
            return self.expr(e)
        return f"truthy({self.expr(e)})"

    def arithmetic(self, op: str, a: str, b: str) -> str:
        names = {"+": "add", "-": "sub", "*": "mul", "//": "floor_div", "%": "floor_mod"}
        if op in names:
            return f"{names[op]}({a}, {b})"
        if op == "<<":
            return f"(Int(1) << {b})" if a == "Int(1)" else f"mul({a}, Int(1) << {b})"
        if op in ("&", "|", ">>"):
            return f"({a} {op} {b})"
        raise Refused(f"operator {op}")

    def expr(self, e: n.Expression | None, expected: t.ProperType | None = None, *, sink: bool = False) -> str:
        assert e is not None
        method = getattr(self, f"on_{type(e).__name__}", None)
        if method is None:
            raise Refused(type(e).__name__)
        text: str = method(e, expected) if not sink else self.on_CallExpr(e, expected, sink=True)  # type: ignore[arg-type]
        return text

    def on_IntExpr(self, e: n.IntExpr, _: Any) -> str:
        return f"Int({e.value})"

    def on_NameExpr(self, e: n.NameExpr, _: Any) -> str:
        if e.name in ("True", "False"):
            return e.name.lower()
        if e.name == "None":
            return "none"
        if e.name == "self":
            return "this"
        node = e.node.func if isinstance(e.node, n.Decorator) else e.node
        if isinstance(node, n.TypeInfo):
            if node.name in NODES:
                return f"tag::{node.name}"
            raise Refused(f"class {node.name}")
        if (
            isinstance(node, n.Var)
            and node.fullname
            and "." in node.fullname
            and node not in self.arguments
            and e.kind == n.GDEF
        ):
            if (
                isinstance(node.final_value, int)
                and not isinstance(node.final_value, bool)
                and abs(node.final_value) < 1 << 62
            ):
                return f"Int({node.final_value})"
            return f"constants::{node.name}"
        if isinstance(node, n.FuncDef):
            return f"functions::{named(node.name)}"
        text = self.variable(e)
        return self.narrowed(e, node.type if isinstance(node, n.Var) else None, text)

    def narrowed(self, e: n.Expression, declared: t.Type | None, text: str) -> str:
        """Unwrap an expression that cannot be ``None`` here."""
        if declared is not None:
            whole = plain(declared)
            if isinstance(whole, t.UnionType):
                now = plain(self.types.get(e, declared))
                if cpp(whole).startswith("Opt<") and not isinstance(now, (t.UnionType, t.NoneType)):
                    return f"some({text})"
        return text

    def member(self, e: n.MemberExpr) -> str:
        name = named(e.name)
        if isinstance(e.expr, n.NameExpr) and e.expr.name == "self":
            return f"this->{name}"
        return f"{self.expr(e.expr)}{'.' if self.kind(e.expr) == 'Cost' else '->'}{name}"

    def on_MemberExpr(self, e: n.MemberExpr, _: Any) -> str:
        v = self.field(e)
        base = plain(self.types.get(e.expr))
        if isinstance(base, t.Instance) and base.type.fullname.startswith("indexproof.core.expr."):
            if e.name == "children":
                return f"functions::children({self.expr(e.expr)})"
            return f"{self.expr(e.expr)}->{'const_' if e.name == 'const' else e.name}"
        if v is None and isinstance(base, t.Instance):
            s = base.type.get(e.name)
            if s is not None and isinstance(s.node, n.FuncDef):
                kind = plain(s.node.type)
                if isinstance(kind, t.CallableType) and isinstance(plain(kind.ret_type), t.NoneType):
                    return f"&{cpp(base)[:-1]}::{named(e.name)}"
                return f"[&](const auto& x_) {{ return {self.member(e)}(x_); }}"
            if s is not None and isinstance(s.node, n.Decorator):  # a property
                return f"{self.member(e)}()"
        return self.narrowed(e, v.type if v is not None else None, self.member(e))

    def on_OpExpr(self, e: n.OpExpr, expected: Any) -> str:
        if e.op in ("and", "or"):
            if cpp(self.types[e]) == "bool":
                return self.truth(e)
            if e.op == "or":
                right = self.expr(e.right)
                return f"or_({self.expr(e.left)}, [&] {{ return {self.kind(e)}({right}); }})"
            raise Refused("and")
        left, right = self.expr(e.left), self.expr(e.right)
        kind = self.kind(e.left)
        if kind in ("Int", "bool"):
            return self.arithmetic(e.op, left, right)
        if e.op == "+" and kind.startswith(("List<", "Terms", "Tup<", "Tuple<")):
            return f"concat({left}, {right})"
        raise Refused(f"{kind} {e.op}")

    def on_UnaryExpr(self, e: n.UnaryExpr, _: Any) -> str:
        if e.op == "not":
            return self.truth(e)
        if e.op == "-":
            if isinstance(e.expr, n.IntExpr):
                return f"Int(-{e.expr.value})"
            return f"neg({self.expr(e.expr)})"
        raise Refused(e.op)

    def on_ComparisonExpr(self, e: n.ComparisonExpr, _: Any) -> str:
        parts = []
        for i, op in enumerate(e.operators):
            a, b = e.operands[i], e.operands[i + 1]
            parts.append(self.compared(op, a, b))
        return parts[0] if len(parts) == 1 else f"({' && '.join(parts)})"

    def compared(self, op: str, a: n.Expression, b: n.Expression) -> str:
        if op in ("is", "is not"):
            sign = "" if op == "is" else "!"
            if isinstance(b, n.NameExpr) and b.fullname == "builtins.int":
                return f"{sign}true"
            if isinstance(b, n.NameExpr) and b.name == "None":
                return f"{sign}isnone({self.unnarrowed(a)})"
            if self.kind(a).startswith("List<"):
                return f"{sign}same({self.expr(a)}, {self.expr(b)})"
            return f"({self.expr(a)} {'==' if op == 'is' else '!='} {self.expr(b)})"
        if op in ("in", "not in"):
            sign = "" if op == "in" else "!"
            if isinstance(b, n.TupleExpr):
                x = self.expr(a)
                return f"{sign}({' || '.join([f'{x} == {self.expr(y)}' for y in b.items])})"
            kind = self.kind(b)
            if kind.startswith(("Dict<", "Set<")):
                base = plain(self.types[b])
                assert isinstance(base, t.Instance)
                return f"{sign}{self.expr(b)}.has({cpp(base.args[0])}({self.expr(a)}))"
            return f"{sign}in({self.expr(a)}, {self.expr(b)})"
        return f"({self.expr(a)} {op} {self.expr(b)})"

    def unnarrowed(self, e: n.Expression) -> str:
        if isinstance(e, n.NameExpr):
            return self.variable(e)
        if isinstance(e, n.MemberExpr) and self.field(e) is not None:
            return self.member(e)
        return self.expr(e)

    def on_ConditionalExpr(self, e: n.ConditionalExpr, expected: Any) -> str:
        kind = cpp(expected) if expected is not None and not isinstance(expected, t.NoneType) else self.kind(e)
        if kind == "Unit":
            raise Refused("conditional")
        expected = expected or plain(self.types[e])
        a, b = self.expr(e.if_expr, expected), self.expr(e.else_expr, expected)
        cast = f"static_cast<{kind}>" if kind.endswith("*") else kind
        return f"({self.truth(e.cond)} ? {cast}({a}) : {cast}({b}))"

    def on_IndexExpr(self, e: n.IndexExpr, _: Any) -> str:
        base = plain(self.types[e.base])
        text = self.expr(e.base)
        i = e.index
        if isinstance(i, n.SliceExpr):
            if i.stride is not None:
                raise Refused("stride")
            lo = self.expr(i.begin_index) if i.begin_index is not None else "0"
            hi = self.expr(i.end_index) if i.end_index is not None else "TO_END"
            return f"slice({text}, {lo}, {hi})"
        if is_applied(base):
            return text
        if isinstance(base, t.TupleType):
            if not isinstance(i, n.IntExpr):
                raise Refused("index of a tuple")
            return f"at<{i.value}>({text})"
        if cpp(base).startswith("Dict<"):
            return f"{text}.at_({self.key(e.base, i)})"
        return f"{text}[{self.expr(i)}]"

    def on_TupleExpr(self, e: n.TupleExpr, expected: t.ProperType | None) -> str:
        if not e.items:
            return f"{cpp(expected)}{{}}" if expected is not None and cpp(expected).startswith("Tup<") else "Terms()"
        if isinstance(expected, t.UnionType):
            left = [x for x in map(plain, expected.items) if not isinstance(x, t.NoneType)]
            expected = left[0] if len(left) == 1 else None
        if expected is not None and is_applied(expected):
            assert isinstance(expected, t.TupleType)
            return self.expr(e.items[0], plain(expected.items[0]))
        if isinstance(expected, t.Instance) and expected.type.name == "Sequence":
            inner = plain(expected.args[0])
            return f"List<{cpp(inner)}>::of({{{', '.join(self.expr(x, inner) for x in e.items)}}})"
        items: Sequence[t.Type | None] = [None] * len(e.items)
        if isinstance(expected, t.TupleType) and len(expected.items) == len(e.items):
            items = expected.items
        elif isinstance(expected, t.Instance) and expected.type.fullname == "builtins.tuple":
            inner = plain(expected.args[0])
            parts = [self.expr(x, inner) for x in e.items]
            if cpp(inner) == "Term":
                return f"terms_of(std::initializer_list<Term>{{{', '.join(parts)}}})"
            return f"Tup<{cpp(inner)}>::from(List<{cpp(inner)}>::of({{{', '.join(parts)}}}))"
        kinds = [plain(self.types.get(x)) if self.types.get(x) is not None else None for x in e.items]
        if expected is None and all(isinstance(k, t.TupleType) and cpp(k) == "Term" for k in kinds):
            # a sum
            return f"terms_of(std::initializer_list<Term>{{{', '.join(map(self.expr, e.items))}}})"
        parts = [self.expr(x, plain(k) if k is not None else None) for x, k in zip(e.items, items, strict=True)]
        return f"mk({', '.join(parts)})"

    def on_ListExpr(self, e: n.ListExpr, expected: t.ProperType | None) -> str:
        inner = self.element(e, expected)
        kind = cpp(inner)
        if not any(isinstance(x, n.StarExpr) for x in e.items):
            roomy = self.roomy(f"List<{kind}>", "")
            return f"List<{kind}>::of({{{', '.join(self.expr(x, inner) for x in e.items)}}}{roomy and f', {roomy}'})"
        room, self.room = self.room, ""
        lines = []
        for x in e.items:
            if isinstance(x, n.StarExpr):
                lines.append(f"l_.extend({self.briefly(x.expr)});")
            else:
                lines.append(f"l_.append({self.expr(x, inner)});")
        self.room = room
        return self.made(f"List<{kind}>", lines, "l_")

    def element(self, e: n.Expression, expected: t.ProperType | None) -> t.ProperType:
        """Return the type of the elements of a list, the expected one if there is any."""
        if isinstance(expected, t.UnionType):
            left = [x for x in map(plain, expected.items) if not isinstance(x, t.NoneType)]
            expected = left[0]
        if isinstance(expected, t.Instance) and expected.type.name in ("list", "set", "Sequence", "Iterable"):
            return plain(expected.args[0])
        own = plain(self.types[e])
        assert isinstance(own, t.Instance)
        found = plain(own.args[0])
        loose = isinstance(found, t.AnyType) or (isinstance(found, t.Instance) and found.type.name == "object")
        if loose and isinstance(e, n.ListComprehension):
            return plain(self.types[e.generator.left_expr])
        return found

    def on_SetExpr(self, e: n.SetExpr, expected: t.ProperType | None) -> str:
        inner = self.element(e, expected)
        roomy = self.roomy(f"Set<{cpp(inner)}>", "")
        return f"Set<{cpp(inner)}>::of({{{', '.join(self.expr(x, inner) for x in e.items)}}}{roomy and f', {roomy}'})"

    def on_DictExpr(self, e: n.DictExpr, expected: t.ProperType | None) -> str:
        if isinstance(expected, t.UnionType):
            expected = next(x for x in map(plain, expected.items) if not isinstance(x, t.NoneType))
        kind = cpp(expected) if isinstance(expected, t.Instance) else self.kind(e)
        if kind == "Proposal":
            parts = []
            for k, v in e.items:
                assert isinstance(k, n.StrExpr)
                field = self.whole.proposed(k.value, self.kind(v) == "Int")
                parts.append(f"p_.{field} = {self.expr(v)};")
            return f"[&] {{ Proposal p_; {' '.join(parts)} return p_; }}()"
        if not e.items:
            return f"{kind}::make({self.roomy(kind, '')})"
        room, self.room = self.room, ""
        own = plain(expected if isinstance(expected, t.Instance) else self.types[e])
        assert isinstance(own, t.Instance)
        lines = []
        for k, v in e.items:
            value = "Unit{}" if cpp(own.args[1]) == "Unit" else self.expr(v, plain(own.args[1]))
            lines.append(f"d_.set({self.expr(k)}, {value});")
        self.room = room
        return self.made(kind, lines, "d_")

    # ------------------------------------------------------------ comprehensions
    def comprehension(self, g: n.GeneratorExpr, each: Any) -> list[str]:
        """Translate a comprehension to a loop over its items."""
        heads: list[str] = []
        depth = 0
        inner = Nested(self)
        for index, over, conditions in zip(g.indices, g.sequences, g.condlists, strict=True):
            before, lines = inner.iteration(index, over, local=True)
            heads += before[:-1]
            heads.append(before[-1])
            depth += 1
            heads += lines
            for c in conditions:
                heads.append(f"if (!({inner.truth(c)})) continue;")
        return [*heads, each(inner), "}" * depth]

    def on_ListComprehension(self, e: n.ListComprehension, expected: t.ProperType | None) -> str:
        return self.collected("List", "append", e, expected)

    def on_SetComprehension(self, e: n.SetComprehension, expected: t.ProperType | None) -> str:
        return self.collected("Set", "add", e, expected)

    def collected(
        self, of: str, put: str, e: n.ListComprehension | n.SetComprehension, expected: t.ProperType | None
    ) -> str:
        inner = self.element(e, expected)
        room, self.room = self.room, ""
        lines = self.comprehension(e.generator, lambda f: f"l_.{put}({f.expr(e.generator.left_expr, inner)});")
        self.room = room
        return self.made(f"{of}<{cpp(inner)}>", lines, "l_")

    def on_DictionaryComprehension(self, e: n.DictionaryComprehension, expected: t.ProperType | None) -> str:
        kind = plain(expected) if isinstance(expected, t.Instance) else plain(self.types[e])
        assert isinstance(kind, t.Instance)
        assert e.key is not None
        g = n.GeneratorExpr(e.key, e.indices, e.sequences, e.condlists, e.is_async)
        room, self.room = self.room, ""
        lines = self.comprehension(g, lambda f: f"l_.set({f.expr(e.key)}, {f.expr(e.value)});")
        self.room = room
        return self.made(cpp(kind), lines, "l_")

    def on_LambdaExpr(self, e: n.LambdaExpr, _: Any) -> str:
        s = e.body.body[0]
        assert isinstance(s, n.ReturnStmt)
        inner = Nested(self)
        params = ", ".join(f"const auto& {named(a.variable.name)}" for a in e.arguments)
        return f"[&]({params}) {{ return {inner.expr(s.expr)}; }}"

    # ------------------------------------------------------------ calls
    def on_CallExpr(self, e: n.CallExpr, expected: t.ProperType | None, *, sink: bool = False) -> str:
        f = e.callee
        if isinstance(f, n.NameExpr):
            node = f.node.func if isinstance(f.node, n.Decorator) else f.node
            if f.fullname.startswith("builtins.") or f.name == "gcd":
                return self.builtin(f.name, e, expected)
            if f.name in ("number", "expression"):
                assert isinstance(e.args[1], n.StrExpr)
                return f"{self.expr(e.args[0])}.{self.whole.proposed(e.args[1].value, f.name == 'number')}"
            if isinstance(node, n.Var) and cpp(node.type) == "Engine*":
                return f"{named(f.name)}->ends({self.expr(e.args[0])})"
            if isinstance(node, n.FuncDef):
                return f"functions::{named(f.name)}({', '.join(self.passed(node, e))})"
            if isinstance(node, n.TypeInfo) and node.name in CLASSES:
                init = node.get_method("__init__")
                args = self.passed(init, e) if isinstance(init, n.FuncDef) else [self.expr(a) for a in e.args]
                return f"make<{node.name}>({', '.join(args)})"
            if isinstance(node, n.TypeInfo) and node.name == "Cost":
                return f"Cost{{{', '.join(map(self.expr, e.args))}}}"
            if isinstance(node, n.Var):  # a method in a variable
                return f"(this->*{named(f.name)})()"
            raise Refused(f"call of {f.fullname}")
        if isinstance(f, n.MemberExpr):
            return self.method(f, e, expected, sink)
        raise Refused("call")

    def passed(self, d: n.FuncDef, e: n.CallExpr) -> list[str]:
        """Return the arguments of a call in the order of the parameters."""
        params = [a for a in d.arguments if a.variable.name != "self" and a.variable.name not in LEFT_OUT]
        out: list[str | None] = [None] * len(params)
        at = 0
        rest: list[str] = []
        for x, kind, name in zip(e.args, e.arg_kinds, e.arg_names, strict=True):
            if self.dropped(x):
                continue
            if kind == n.ARG_NAMED:
                i = next(i for i, a in enumerate(params) if a.variable.name == name)
                out[i] = self.expr(x, plain(params[i].variable.type))
            elif kind == n.ARG_STAR and d.name in ("minimum", "maximum", "postorder"):
                rest.append(self.expr(x))
            elif kind == n.ARG_STAR:
                if not isinstance(x, n.NameExpr) or x.node is not self.variadic:
                    raise Refused("star argument")
                rest.append(f"{named(x.name)}...")
            elif at < len(params) and params[at].kind != n.ARG_STAR:
                p = params[at]
                if isinstance(x, n.StrExpr) and d.fullname.startswith("indexproof.core.steps."):
                    out[at] = f'"{x.value}"'
                elif isinstance(x, n.StrExpr):
                    out[at] = self.strategy(x)
                else:
                    if is_fresh(x) and p.variable not in self.whole.kept(d):
                        self.room = TEMPORARY
                    out[at] = self.listed(x, plain(p.variable.type) if p.variable.type else None)
                    self.room = ""
                at += 1
            else:
                rest.append(self.expr(x))
        for i, a in enumerate(params):
            if out[i] is None and a.kind != n.ARG_STAR:
                later = any(o is not None for o in out[i + 1 :])
                if later:
                    out[i] = self.expr(a.initializer)
        if d.name in ("minimum", "maximum", "postorder") and n.ARG_STAR not in e.arg_kinds:
            rest = [f"List<Expr>::of({{{', '.join(rest)}}})"]
        return [o for o in out if o is not None] + rest

    def listed(self, x: n.Expression, expected: t.ProperType | None) -> str:
        """Translate an argument; a tuple becomes a list where any sequence is accepted."""
        text = self.expr(x, expected)
        if isinstance(expected, t.Instance) and expected.type.name in ("Sequence", "Iterable"):
            own = self.kind(x)
            if own.startswith("Tup<"):
                return f"List<{own[4:-1]}>::from({text})"
        return text

    def method(self, f: n.MemberExpr, e: n.CallExpr, expected: t.ProperType | None, sink: bool) -> str:
        name = f.name
        args = e.args
        if name == "gcd":
            return self.builtin(name, e, expected)
        if isinstance(f.expr, n.NameExpr) and isinstance(f.expr.node, n.TypeInfo):
            return f"{f.expr.name}::{name}({', '.join(map(self.expr, args))})"
        base = plain(self.types.get(f.expr))
        kind = cpp(base)
        text = self.expr(f.expr)
        if kind == "ByHead":
            return f"{text}.{name}({self.expr(args[0])})"
        if kind.startswith("Dict<"):
            assert isinstance(base, t.Instance)
            if name == "get":
                k = self.key(f.expr, args[0])
                if len(args) == 1:
                    return f"lookup({text}, {k})"
                of = cpp(base.args[1])
                empty = isinstance(args[1], n.TupleExpr) and not args[1].items and of.startswith(("Dict<", "List<"))
                value = f"{of}::make()" if empty else self.expr(args[1], plain(base.args[1]))
                return f"{text}.get({k}, {value})"
            if name in ("pop", "setdefault"):
                rest = [self.expr(a, plain(base.args[1])) for a in args[1:]]
                if rest == ["none"]:
                    return f"{text}.discard({self.key(f.expr, args[0])})"
                return f"{text}.{name}({', '.join([self.key(f.expr, args[0]), *rest])})"
            if name in ("items", "values", "keys", "clear"):
                return f"{text}.{name}()"
            raise Refused(f"dict.{name}")
        if kind.startswith(("List<", "Set<", "Terms", "Tup<")):
            if name == "sort":
                key = self.expr(args[0]) if args else ""
                return f"{text}.sort({key})"
            inner = plain(base.args[0]) if isinstance(base, t.Instance) else None
            item = inner if name in ("append", "add", "remove", "index") else None
            argument = self.briefly if name in ("extend", "isdisjoint", "issuperset") else self.expr
            return f"{text}.{name}({', '.join(argument(a, item) for a in args)})"
        if kind == "Cost":
            return f"{text}.{name}({', '.join(self.expr(a) for a in args)})"
        assert isinstance(base, t.Instance)
        found = base.type.get(name)
        node = found.node if found is not None else None
        if isinstance(node, n.Decorator) or (isinstance(node, n.Var) and isinstance(plain(node.type), t.CallableType)):
            # the function that bounds expressions, and the check of a rule
            what = plain(node.type)
            if isinstance(what, t.CallableType) and isinstance(node, n.Decorator):
                return f"{text}->{name}()->ends({self.expr(args[0])})"
            assert isinstance(what, t.CallableType)
            return f"{text}->{name}({', '.join(self.expr(a, plain(p)) for a, p in zip(args, what.arg_types, strict=True))})"
        if not isinstance(node, n.FuncDef):
            raise Refused(f"method {name} of {kind}")
        passed = self.passed(node, e)
        if sink:
            passed.append("sink")
        if self.owner == "Engine" and sum("this->" in p and "(" in p for p in passed) > 1:
            # arguments that may apply rules are evaluated from the left, in the order in which Python records the rules
            made = " ".join(f"auto a{i}_ = {p};" for i, p in enumerate(passed))
            given = ", ".join(f"a{i}_" for i in range(len(passed)))
            return f"[&] {{ {made} return {text}->{named(name)}({given}); }}()"
        return f"{text}->{named(name)}({', '.join(passed)})"

    def builtin(self, f: str, e: n.CallExpr, expected: t.ProperType | None) -> str:
        args = e.args
        if f == "len":
            return f"len({self.expr(args[0])})"
        if f == "pow":
            return f"inverse({self.expr(args[0])}, {self.expr(args[2])})"
        if f == "isinstance":
            kinds = args[1].items if isinstance(args[1], n.TupleExpr) else [args[1]]
            return f"({' || '.join([f'{self.expr(args[0])}->tag == {self.expr(k)}' for k in kinds])})"
        if f == "abs":
            return f"p_abs({self.expr(args[0])})"
        if f == "type":
            return f"{self.expr(args[0])}->tag"
        if f == "hash":
            return f"py_hash({self.expr(args[0])})"
        if f == "bool":
            return self.truth(args[0])
        if f == "int":
            return f"Int({self.truth(args[0])})"
        if f in ("min", "max"):
            word = ("smaller", "least") if f == "min" else ("larger", "most")
            if len(args) > 1 and e.arg_names[1] is None:
                text = self.expr(args[0])
                for a in args[1:]:
                    text = f"{word[0]}({text}, {self.expr(a)})"
                return text
            return f"{word[1]}({', '.join(self.briefly(a) for a in args)})"
        if f == "range":
            lo, hi = ("Int(0)", self.expr(args[0])) if len(args) == 1 else map(self.expr, args)
            return f"numbers({lo}, {hi})"
        if f == "sum":
            return f"total({self.briefly(args[0])})"
        if f in ("any", "all"):
            g = args[0]
            if isinstance(g, n.ListComprehension):
                g = g.generator
            if not isinstance(g, n.GeneratorExpr):
                return f"{f}_of({self.expr(g)})"
            left = g.left_expr
            found = str(f == "any").lower()
            negated = "" if f == "any" else "!"
            lines = self.comprehension(g, lambda i: f"if ({negated}({i.truth(left)})) return {found};")
            return f"[&] {{ {' '.join(lines)} return !{found}; }}()"
        if f == "gcd":
            text = "Gcd()"
            for a, how in zip(args, e.arg_kinds, strict=True):
                text += f".all({self.briefly(a)})" if how == n.ARG_STAR else f".one({self.expr(a)})"
            return f"{text}.g"
        if f == "next":
            inner = args[0]
            assert isinstance(inner, n.CallExpr)
            return f"(*{self.expr(inner.args[0])}.begin())"
        if f == "dict":
            kind = cpp(expected) if isinstance(expected, t.Instance) else self.kind(e)
            roomy = self.roomy(kind, "")
            return f"{kind}::from({self.briefly(args[0])}{roomy and f', {roomy}'})"
        if f in ("list", "set"):
            kind = f"{f.title()}<{cpp(self.element(e, expected))}>"
            roomy = self.roomy(kind, "")
            return (
                f"{kind}::from({self.briefly(args[0])}{roomy and f', {roomy}'})" if args else f"{kind}::make({roomy})"
            )
        if f == "sorted":
            kind = cpp(self.element(e, None))
            if isinstance(args[0], n.TupleExpr):
                return f"sorted<{kind}>(List<{kind}>::of({{{', '.join(self.expr(a) for a in args[0].items)}}}))"
            return f"sorted<{kind}>({', '.join(self.briefly(a) for a in args)})"
        if f == "reversed":
            return f"reversed<{cpp(self.element(args[0], None))}>({self.expr(args[0])})"
        if f == "tuple":
            x = args[0]
            if self.kind(e) != "Terms":
                return f"{self.kind(e)}::from({self.briefly(x)})"
            # most sorted containers are terms
            if isinstance(x, n.CallExpr) and isinstance(x.callee, n.NameExpr) and x.callee.name == "sorted":
                return f"sorted_terms({self.briefly(x.args[0])})"
            return f"terms_of({self.briefly(x)})"
        raise Refused(f"builtin {f}")


class Nested(Function):
    """A comprehension or a lambda in a function."""

    def __init__(self, outer: Function) -> None:
        self.__dict__.update(outer.__dict__)
        self.outer = outer

    def temporary(self) -> str:
        return self.outer.temporary()


class Translation:
    """The translation of all modules."""

    def __init__(self) -> None:
        self.files, self.types = _analysed()
        self.strategies: dict[str, None] = {"matched": None}
        self.proposals: dict[str, str] = {}
        self._kept: dict[n.FuncDef, set[n.SymbolNode | None]] = {}

    def kept(self, d: n.FuncDef) -> set[n.SymbolNode | None]:
        """Return the variables of a function, including parameters, whose containers may escape."""
        if d not in self._kept:
            # a recursive call counts as an escape of its arguments
            self._kept[d] = {a.variable for a in d.arguments}
            self._kept[d] = Kept(d.body, self._keeps).found
        return self._kept[d]

    def _keeps(self, e: n.CallExpr, i: int) -> bool:
        """Return whether an argument may escape from the called function."""
        d = self._called(e.callee)
        if d is None or n.ARG_STAR in e.arg_kinds:
            return True
        params = [a for a in d.arguments if a.variable.name != "self"]
        names = [a.variable.name for a in params]
        at = names.index(e.arg_names[i]) if e.arg_names[i] in names else i
        return at >= len(params) or params[at].kind == n.ARG_STAR or params[at].variable in self.kept(d)

    def _called(self, f: n.Expression) -> n.FuncDef | None:
        """Return the called function if it is translated too."""
        found: list[n.SymbolNode | None] = []
        if isinstance(f, n.NameExpr):
            found = [f.node]
        elif isinstance(f, n.MemberExpr) and self.types.get(f.expr) is not None:
            base = plain(self.types[f.expr])
            name = base.type.name if isinstance(base, t.Instance) else ""
            for of, parts in CLASSES.items():
                if name in {of, *(c for _, c in parts)}:
                    # an abstract method of a base is defined in a later class
                    members = [self.class_of(*part).info.names.get(f.name) for part in parts]
                    found = [m.node for m in members if m is not None]
        last = found[-1] if found else None
        return last if isinstance(last, n.FuncDef) and last.fullname.startswith("indexproof.") else None

    def proposed(self, name: str, number: bool) -> str:
        """Return the field of a proposal for a variable of a constraint rule."""
        field = f"{'n' if number else 'e'}_{name}"
        self.proposals[field] = "Opt<Int>" if number else "Expr"
        return field

    def constraint_rules(self) -> str:
        """Return the table of constraint rules by shape, as in :mod:`~indexproof.core.constraint_normal`."""
        shapes = by_shape(RULES.constraints)
        rules = [compiled_constraint_rule(r) for r in RULES.constraints]

        def listed(of: Sequence[Any]) -> str:
            names = ", ".join(f"&{c.rule.name}" for c in of)
            return f"Rules::from(List<CompiledConstraintRule*>::of({{{names}}}))"

        lines = ["namespace constraint_rules {"]
        for c in rules:
            propose = f"&functions::{c.rule.choose}" if c.propose is not None else "nullptr"
            lines.append(
                f'inline CompiledConstraintRule {c.rule.name}{{"{c.rule.name}", &functions::{c.rule.name}, {propose}}};'
            )
        lines += ["}", "inline ConstraintRules* Constraints::compiled() {", "  using namespace constraint_rules;"]
        lines += ["  if (made_rules) return made_rules;", "  auto* r = make<ConstraintRules>();"]
        for name in ("final", "twins", "pairs", "remainders"):
            lines.append(f"  r->{named(name)} = {listed(getattr(shapes, name))};")
        for name in ("single", "narrowing"):
            for kind, of in getattr(shapes, name).items():
                if kind.__name__ in NODES and of:
                    lines.append(f"  r->{name}.by[tag::{kind.__name__}] = {listed(of)};")
        return "\n".join([*lines, "  return made_rules = r;", "}"])

    def class_of(self, module: str, name: str) -> n.ClassDef:
        info = self.files[module].names[name].node
        assert isinstance(info, n.TypeInfo)
        return info.defn

    def methods(self, of: str) -> dict[str, n.FuncDef]:
        """Return the methods of a class, including those of a base that are not overridden."""
        found: dict[str, n.FuncDef] = {}
        for module, name in CLASSES[of]:
            for s in self.class_of(module, name).defs.body:
                d = s.func if isinstance(s, n.Decorator) else s
                if isinstance(d, n.FuncDef):
                    found[d.name] = d
        hand = BY_HAND[of]
        return {k: d for k, d in found.items() if k not in hand and k != "__init__"}

    def fields(self, of: str) -> tuple[list[str], list[str], list[str]]:
        """Return the fields, the parameters of the constructor, and its body."""
        fields: dict[str, str] = {}
        params: list[str] = []
        body: list[str] = []
        for module, name in CLASSES[of]:
            for s in self.class_of(module, name).defs.body:
                if not (isinstance(s, n.FuncDef) and s.name == "__init__"):
                    continue
                f = Function(self, s, of)
                names = []
                for a in s.arguments:
                    v = a.variable
                    if v.name == "self" or v.name in LEFT_OUT:
                        continue
                    kind = "Dict<Expr, Term>" if v.name == "bounds" else cpp(v.type)
                    names.append(f"{kind} {named(v.name)}")
                params = names
                for st in s.body.body:
                    if isinstance(st, n.AssignmentStmt):
                        for lv in st.lvalues:
                            if isinstance(lv, n.MemberExpr) and lv.name not in LEFT_OUT:
                                v2 = f.field(lv)
                                assert v2 is not None
                                fields[lv.name] = "Dict<Expr, Term>" if lv.name == "bounds" else cpp(v2.type)
                        f.statement(st)
                    elif not isinstance(st, n.ExpressionStmt):
                        # the base's constructor was inlined before this body
                        f.statement(st)
                lines = f.out
                for v3, k3 in f.locals(s.body).items():
                    lines.insert(0, f"  {k3} {named(v3)}{{}};")
                body += lines
        return [f"{k} {named(v)};" for v, k in fields.items()], params, body

    def struct(self, of: str) -> tuple[str, list[str]]:
        """Return the declaration of a class and the definitions of its methods."""
        lines = [f"struct {of} {{"]
        definitions = []
        if of != "Simplifier":
            fields, params, body = self.fields(of)
            lines += [f"  {f}" for f in fields]
            lines.append(f"  {of}({', '.join(params)});")
            definitions.append("\n".join([f"inline {of}::{of}({', '.join(params)}) {{", *body, "}"]))
        lines.append(f"  {of.upper()}_BY_HAND")
        for d in self.methods(of).values():
            f = Function(self, d, of)
            head, signature = f.signature()
            lines.append(f"  {head}{signature};")
            text = f.translated()
            plain_signature = Function(self, d, of).signature()[1]
            bare = _without_defaults(plain_signature)
            at = bare.index(f" {named(d.name)}(")
            definition = f"{head}inline {bare[:at]} {of}::{bare[at + 1 :]} {{"
            definitions.append(definition + "\n" + text.split("{\n", 1)[1])
        lines.append("};")
        return "\n".join(lines), definitions

    def tables(self) -> str:
        """Return the rules by the head of their left-hand side and by their strategy."""
        out = []
        for s in self.files["rules.compiled"].defs:
            if not isinstance(s, n.AssignmentStmt) or not isinstance(s.lvalues[0], n.MemberExpr):
                continue
            table = s.lvalues[0].name.lower()
            assert isinstance(s.rvalue, n.DictExpr)
            for about, rules in s.rvalue.items:
                assert isinstance(about, n.NameExpr)
                assert isinstance(rules, n.DictExpr)
                assert isinstance(about.node, n.Var)
                out.append(
                    f"template <class S, class... V> Opt<Form> {table}_{about.node.final_value}(S, const V&... v) {{"
                )
                for strategy, functions in rules.items:
                    assert isinstance(strategy, n.StrExpr)
                    assert isinstance(functions, n.TupleExpr)
                    name = strategy.value or "matched"
                    self.strategies.setdefault(name, None)
                    out.append(f"  if constexpr (std::is_same_v<S, strategy::{name}>) {{")
                    for f in functions.items:
                        assert isinstance(f, n.MemberExpr)
                        out.append(f"    RULE({f.name})")
                    out.append("  }")
                out.append("  return none;\n}")
        return "\n".join(out)

    def text(self) -> str:
        tables = self.tables()
        structs, definitions = [], []
        for of in CLASSES:
            head, body = self.struct(of)
            structs.append(head)
            definitions += body
        functions = []
        declarations = []
        for module, names in FUNCTIONS:
            for name in names or [r.name for r in RULES.constraints]:
                d = self.files[module].names[name].node
                assert isinstance(d, n.FuncDef)
                f = Function(self, d, None)
                head, signature = f.signature()
                declarations.append(f"{head}{signature};")
                text = f.translated()
                functions.append(f"{head}inline {_without_defaults(signature)} {{\n" + text.split("{\n", 1)[1])
        strategies = "\n".join(f"struct {s} {{}};" for s in self.strategies)
        proposal = "\n".join(f"  {kind} {field}{{}};" for field, kind in sorted(self.proposals.items()))
        return (
            "\n\n".join(
                [
                    "// Written by `indexproof dev docs` from the Python sources; do not edit.\n#pragma once",
                    f"namespace strategy {{\n{strategies}\n}}",
                    "".join(f"struct {c};\n" for c in CLASSES) + "using Way = void (Search::*)();",
                    f"struct Proposal {{\n{proposal}\n}};",
                    "namespace functions {\n" + "\n".join(declarations) + "\n}",
                    *[s.replace("ENGINE_BY_HAND", f"ENGINE_BY_HAND\n{tables}") for s in structs],
                    "namespace functions {\n" + "\n\n".join(functions) + "\n}",
                    *definitions,
                    self.constraint_rules(),
                ]
            )
            + "\n"
        )


def _without_defaults(signature: str) -> str:
    """Return the parameters of a definition without default values."""
    out, depth, skipping = "", 0, False
    for i, c in enumerate(signature):
        if c in "(<{":
            depth += 1
        elif c in ")>}":
            depth -= 1
        if signature[i : i + 3] == " = " and depth >= 1:
            skipping = True
        if skipping and ((c == "," and depth == 1) or (c == ")" and depth == 0)):
            skipping = False
        if not skipping:
            out += c
    return out


def translation() -> str:
    """Return the C++ code of the simplifier."""
    return Translation().text()


def main() -> int:
    """Write `core/native/generated.h`, or with ``--check`` report whether it is out of date."""
    place, text = ROOT / "core" / "native" / "generated.h", translation()
    current = place.exists() and place.read_text("utf-8") == text
    if "--check" in sys.argv[1:]:
        if not current:
            print(f"{place.name} is not what the sources say: run `make docs` and commit the result")
        return not current
    place.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
