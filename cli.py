"""The ``indexproof`` command.

Exit status: 0 all proved, 1 something is false, 2 undecided or not checked, 3 bad input, 4 a bug in
indexproof. Modules that take time to load are imported by the commands that need them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from . import __version__
from .core.errors import IndexproofError, InputError, TooLargeError, quoted
from .core.expr import COMPILED as COMPILED_CORE

if TYPE_CHECKING:
    from .core.indexing_map import IndexingMap
    from .reports.selection import Named, Selected
    from .verify.cache import Cache
    from .verify.claims import ClaimsFile

__all__ = ["app", "main"]

PROVED, FALSE, OPEN, BAD_INPUT, BUG = range(5)

# what a wrong option or a missing argument raises; typer brings its own copy of click, or uses the installed
# one
UsageError: Any = typer.BadParameter.__mro__[1]


# ------------------------------------------------------------------------------------------------ the command
class Commands(TyperGroup):
    """The commands, with one way for errors to reach a person."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command line; raises :class:`SystemExit` with the exit status."""
        words = list(sys.argv[1:] if args is None else args)
        debug = bool(os.environ.get("INDEXPROOF_DEBUG"))
        head = words[: words.index("--")] if "--" in words else words
        if "--debug" in head:
            # accepted anywhere: it is added to a command that has just failed
            debug = True
            words.remove("--debug")
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        status = _guarded(
            lambda: super(Commands, self).main(
                words, prog_name or "indexproof", complete_var, standalone_mode=False, **extra
            ),
            debug,
        )
        sys.exit(status)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _say("interrupted: nothing was checked")
            raise typer.Exit(OPEN) from None


def _guarded(run: Callable[[], Any], debug: bool) -> int:
    """The exit status of ``run``; what it raises is told in a line or two on standard error."""
    try:
        status = run()
        sys.stdout.flush()
        return status if isinstance(status, int) else PROVED
    except UsageError as error:
        context = getattr(error, "ctx", None)
        if type(error).__name__ == "NoArgsIsHelpError":
            _say(error.format_message())
            return BAD_INPUT
        _say(f"error: {error.format_message()}")
        if context is not None:
            _say(f"       `{context.command_path} --help` says what there is")
        return BAD_INPUT
    except InputError as error:
        if debug:
            raise
        place = "".join(f"{note}: " for note in getattr(error, "__notes__", ()))
        _say(f"error: {place}{error.render()}")
        return BAD_INPUT
    except TooLargeError as error:
        if debug:
            raise
        _say(f"not checked: {error}")
        return OPEN
    except BrokenPipeError:
        # the reader has gone (`indexproof list | head`); keep the interpreter from complaining about it at
        # exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OPEN
    except typer.Abort:
        _say("interrupted: nothing was checked")
        return OPEN
    except Exception as error:
        if debug:
            raise
        _say(_bug(error))
        return BUG


def _bug(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = (
        f" ({Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno})" if trace is not None else ""
    )
    kind = "" if isinstance(error, IndexproofError) else f"{type(error).__name__}: "
    return (
        f"internal error: {kind}{error}{where}\n"
        "This is a bug in indexproof, and no verdict was reached. Please report it with the command that "
        "you ran and the text above; with --debug the command prints where it happened."
    )


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Verify tensor indexing maps: prove what is claimed of them, refute what is false, simplify.",
    epilog="Exit status: 0 all proved, 1 something is false, 2 undecided or not checked, 3 bad input, 4 a "
    "bug in indexproof itself.",
)


def main() -> NoReturn:
    """The entry point of the ``indexproof`` script."""
    app()
    raise AssertionError("a command ends with its exit status")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"indexproof {__version__}{' (compiled core)' if COMPILED_CORE else ''}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the Python traceback of an error; accepted anywhere on the line."),
    ] = False,
) -> None:
    """Verify tensor indexing maps: prove what is claimed of them, refute what is false, simplify."""


# ----------------------------------------------------------------------------------------------- shared parts
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document (see reports/docs/json.md) and nothing else.")
]
Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME",
        show_default=False,
        help="Rules, laws, ops, instances of ops ('transpose permutation=(1, 0)'), families (rules, "
        "transfer, transforms, ops), files FILE.py with declarations, or rule files (FILE.rules as text, "
        "FILE.json, - for standard input); everything without names.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, metavar="N", help="Processes to use (default: all cores)."),
]
BudgetFactor = Annotated[
    float, typer.Option("--budget", min=0, metavar="FACTOR", help="Multiply the solver's budget by this.")
]
CachePath = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="PATH|off",
        help="Keep verdicts in this file instead of the default one, or nowhere.",
    ),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Neither read nor keep verdicts; the same as --cache off.")
]
ReadOnly = Annotated[bool, typer.Option("--read-only-cache", help="Use the kept verdicts, but add none.")]
MaxRank = Annotated[
    int | None,
    typer.Option("--max-rank", min=0, metavar="N", help="Ops are proved up to this rank (default: 4)."),
]


def _emit(text: str) -> None:
    from .reports.layout import write

    write(text)


def _emit_json(data: dict[str, Any]) -> None:
    from .reports.machine import text_of

    sys.stdout.write(text_of(data) + "\n")


def default_cache() -> Path:
    """``$INDEXPROOF_CACHE``, or a file in the user's cache folder: verdicts are keyed by content, so that
    checkouts can share them.
    """
    named = os.environ.get("INDEXPROOF_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "indexproof" / "verdicts.sqlite"


@contextmanager
def _opened(path: Path | None, no_cache: bool, read_only: bool) -> Iterator[Cache]:
    """The cache that the options ask for."""
    from .verify.cache import Cache

    if path is not None and str(path) == "off":
        path, no_cache = None, True
    if no_cache and (path is not None or read_only):
        raise InputError("--no-cache contradicts " + ("--cache" if path is not None else "--read-only-cache"))
    place = None if no_cache else path or default_cache()
    if path is not None and place is not None:
        if place.is_dir():
            raise InputError(f"--cache: {quoted(path, 200)} is a folder", expected="the name of a file")
        if read_only and not place.is_file():
            raise InputError(f"--cache: there is no file {quoted(path, 200)} to read")
    if place is not None and not read_only:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            writable = os.access(place if place.exists() else place.parent, os.W_OK)
        except OSError:
            writable = False
        if not writable:
            if path is not None:
                raise InputError(f"--cache: cannot write {quoted(path, 200)}")
            place = None  # a machine without a home folder proves everything anew
    with Cache(place, read_only=read_only) as cache:
        yield cache


def _rank(max_rank: int | None) -> int:
    from .verify.catalogue import MAX_RANK

    return MAX_RANK if max_rank is None else max_rank


def _chosen(names: Sequence[str], max_rank: int) -> tuple[list[Selected], str]:
    """The claims that the command line names, and the command that names them again, up to a claim."""
    from .reports.selection import declared_in, everything, is_file, select
    from .verify.rulefiles import is_rule_file

    if any(n == "-" or is_rule_file(n) for n in names):
        return _stated(names)
    files = [n for n in names if is_file(n)]
    rest = [n for n in names if not is_file(n)]
    if not files:
        return select(rest, everything(max_rank)), "indexproof prove"
    declared: dict[str, Named] = {}
    for path in dict.fromkeys(files):
        for claim in declared_in(path, max_rank):
            if claim.name in declared:
                raise InputError(f"{path}: another of the files also declares {quoted(claim.name)}")
            declared[claim.name] = claim
    return select(rest, list(declared.values()), " or ".join(files)), f"indexproof prove {' '.join(files)}"


def _stated(names: Sequence[str]) -> tuple[list[Selected], str]:
    """The rules of rule files, as :func:`_chosen`."""
    import shlex

    from .reports.selection import is_file, read_text, select, stated_in
    from .verify.rulefiles import is_rule_file

    files = list(dict.fromkeys(n for n in names if n == "-" or is_rule_file(n)))
    for n in names:
        if is_file(n):
            raise InputError(
                f"{quoted(n, 200)} is not a rule file", expected="rule files alone, or Python files"
            )
    stated: dict[str, Named] = {}
    for path in files:
        text = _stdin() if path == "-" else read_text(path)
        for rule in stated_in("standard input" if path == "-" else path, text):
            if rule.name in stated:
                raise InputError(f"{path}: another of the files also states {quoted(rule.name)}")
            stated[rule.name] = rule
    rest = [n for n in names if n not in files]
    chosen = select(rest, list(stated.values()), " or ".join(files))
    return chosen, f"indexproof prove {shlex.join(files)}"


# ------------------------------------------------------------------------------------------------------ prove
@app.command()
def prove(
    names: Names = None,
    json: Json = False,
    jobs: Jobs = None,
    budget: BudgetFactor = 1.0,
    cache: CachePath = None,
    no_cache: NoCache = False,
    read_only_cache: ReadOnly = False,
    at: Annotated[
        str,
        typer.Option("--at", metavar="POINT", help="Evaluate one claim at a point, as in --at 'x=1,g=2'."),
    ] = "",
    confirm: Annotated[
        str,
        typer.Option("--confirm", metavar="cvc5", help="Have every verdict confirmed by a second solver."),
    ] = "",
    recheck: Annotated[
        float,
        typer.Option(
            "--recheck", min=0, max=100, metavar="PERCENT", help="Prove so many of the kept verdicts again."
        ),
    ] = 0.0,
    max_rank: MaxRank = None,
    certificates: Annotated[
        Path | None,
        typer.Option(
            "--certificates", metavar="DIR", help="Write a certificate of every proof to this folder."
        ),
    ] = None,
) -> None:
    """Prove the catalogue, or what is named.

    Reports how many obligations were proved, by which strategies and how fast, and answers a false claim
    with its smallest counterexample. With a file FILE.py, proves what that file declares; further names then
    choose among its claims. Interrupted with Ctrl-C, says what was not checked; the verdicts reached so far
    are in the cache.

    Verdicts are kept in $INDEXPROOF_CACHE, by default ~/.cache/indexproof/verdicts.sqlite (or below
    $XDG_CACHE_HOME). With --confirm, what the second solver could not settle is not a success, and a
    contradiction between two engines stops the run: the question is written to a file, and the exit status
    is 4. reports/trust.md says what all this establishes.
    """
    chosen, command = _chosen(names or (), _rank(max_rank))
    stated = any(s.named.family == "stated rule" for s in chosen)
    if at:
        raise typer.Exit(_rule_at_point(chosen, at, json) if stated else _at_point(chosen, at, json))
    from .reports.machine import run_json
    from .reports.progress import Watcher
    from .reports.summary import summary
    from .verify.run import prove_all
    from .verify.solve import Budget

    if budget <= 0:
        raise InputError(f"--budget {budget:g} leaves the solver nothing", expected="a factor above 0")
    obligations = [o for s in chosen for o in s.obligations()]
    claims = list({s.named.name: s.named for s in chosen}.values())
    with _opened(cache, no_cache, read_only_cache) as kept:
        with _stopped_by_disagreement(), Watcher(len(obligations)) as watcher:
            run = prove_all(
                obligations,
                jobs=jobs,
                budget=Budget().scaled(budget),
                cache=kept,
                progress=watcher,
                confirm=confirm,
                recheck=recheck / 100,
            )
        keeps = kept.path is not None and not kept.read_only
    status = OPEN if run.interrupted and run.exit_status == PROVED else run.exit_status
    if certificates is not None:
        from .reports.certificates import write_certificates

        proved = [r.obligation for r in run.results if r.verdict.proved and r.obligation.gate]
        written, without = write_certificates(proved, certificates)
        _say(f"{written} certificates in {certificates}; {len(without)} proofs have none")
        for name in without:
            _say(f"  none  {name}")
    from .reports.rule_files import rules_json, rules_summary

    if json:
        _emit_json(rules_json(run, claims, command) if stated else run_json(run, claims, command))
    else:
        report = rules_summary if stated else summary
        for n, text in enumerate(report(run, claims, command=command, cached=keeps)):
            _emit(("\n" if n else "") + text)
    raise typer.Exit(status)


@contextmanager
def _stopped_by_disagreement() -> Iterator[None]:
    """Two engines that contradict each other end the command, with the question in a file."""
    from .verify.trust.disagreement import Disagreement

    try:
        yield
    except Disagreement as found:
        from .reports.trust import disagreement_text

        _say(disagreement_text(found, Path.cwd()))
        raise typer.Exit(BUG) from None


def _rule_at_point(chosen: Sequence[Selected], at: str, json: bool) -> int:
    """Evaluate one rule of a rule file at one point, in its own arithmetic."""
    from .reports.rule_files import rule_at_point, rule_at_point_json, stated_rules

    rules = stated_rules([s.named for s in chosen])
    if len(rules) != 1:
        raise InputError(
            f"--at evaluates one rule, but {len(rules):,} are selected", expected="the name of one rule"
        )
    point = _point(at, list(rules[0].variables))
    missing = [v for v in rules[0].variables if v not in point]
    if missing:
        raise InputError(f"--at: no value for {', '.join(map(quoted, missing))}", expected="all variables")
    if json:
        data, status = rule_at_point_json(rules[0], point)
        _emit_json(data)
    else:
        text, status = rule_at_point(rules[0], point)
        _emit(text)
    return status


def _at_point(chosen: Sequence[Selected], at: str, json: bool) -> int:
    """Evaluate what one claim owes at one point."""
    from .reports.machine import point_json
    from .reports.refutation import at_point, holds_at

    if len({s.named.name for s in chosen}) != 1:
        raise InputError(
            f"--at evaluates one claim, but {len(chosen):,} are selected", expected="the name of one claim"
        )
    obligations = [o for s in chosen for o in s.obligations()]
    if not any(s.kind for s in chosen):
        obligations = [o for o in obligations if o.gate and o.question == "valid"]
    known = {v.name: v for o in obligations for v in o.formula_variables()}
    point = _point(at, list(known))
    places = [(o, place) for o in obligations if (place := holds_at(o, point)) is not None]
    # an obligation without variables is the same at every point
    places = [(o, place) for o, place in places if o.formula_variables()] or places
    if not places:
        least = min(
            (o for o in obligations), key=lambda o: len({v.name for v in o.formula_variables()} - set(point))
        )
        missing = [v.name for v in least.formula_variables() if v.name not in point]
        raise InputError(
            f"--at: no value for {', '.join(map(quoted, missing))}",
            expected=f"as for {quoted(least.name, 80)}",
        )
    false = any(place == "counterexample" and o.gate for o, place in places)
    says = any(place in ("holds", "example") for _, place in places)
    status = FALSE if false else PROVED if says else OPEN
    if json:
        _emit_json(point_json(places, point, status))
    else:
        shown = (
            [p for p in places if p[1] == "counterexample"]
            or [p for p in places if p[0].show][:1]
            or places[:1]
        )
        for o, place in shown:
            _emit(at_point(o, point, place) + "\n")
        _emit("\n".join(f"  {o.kind}: {place}" for o, place in places))
    return status


def _point(text: str, known: Sequence[str]) -> dict[str, int]:
    """``x=1, g=2`` as a mapping.  Raises :class:`InputError` that points at what is wrong."""
    import re

    out: dict[str, int] = {}
    at = 0
    for piece in text.split(","):
        start = at + len(piece) - len(piece.lstrip())
        at += len(piece) + 1
        found = re.fullmatch(r"\s*([^\s=]+)\s*=\s*([-+]?[0-9]+)\s*", piece)
        if found is None:
            raise InputError.at(f"--at: {quoted(piece.strip())} is no value", text, start, "NAME=INTEGER")
        name, value = found[1], found[2]
        if len(value) > 4000:
            raise InputError.at(
                f"--at: the value of {quoted(name)} has {len(value)} digits", text, start, "at most 4000"
            )
        if name not in known:
            raise InputError.at(
                f"--at: the claim has no variable {quoted(name)}",
                text,
                start,
                f"one of {', '.join(known) or 'none'}",
            )
        if name in out:
            raise InputError.at(f"--at: {quoted(name)} has a value already", text, start, "each name once")
        out[name] = int(value)
    return out


# ------------------------------------------------------------------------------------------------------- maps
def _map(text: str, name: str, read: Callable[[str], IndexingMap] | None = None) -> IndexingMap:
    """A map from the command line: the text itself, ``@FILE``, or ``-`` for standard input."""
    return _as_map(_given(text), name, read)


def _given(text: str) -> str:
    """An argument: itself, the text of ``@FILE``, or standard input for ``-``."""
    from .reports.selection import read_text

    if text == "-":
        return _stdin()
    return read_text(text[1:]) if text.startswith("@") else text


def _as_map(text: str, name: str, read: Callable[[str], IndexingMap] | None = None) -> IndexingMap:
    from .core.text import read_map

    try:
        return (read or read_map)(text)
    except InputError as error:
        error.add_note(f"in the {name}")
        raise


def _stdin() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is not text: byte {error.start} is not UTF-8") from None


MapText = Annotated[
    str,
    typer.Argument(
        metavar="MAP", show_default=False, help="A map as text or JSON, @FILE, or - for standard input."
    ),
]


@app.command()
def equal(left: MapText, right: MapText, json: Json = False) -> None:
    """Decide whether two maps, or two HLO instructions, have the same relation.

    Dimensions correspond by position, runtime variables by what they read. Maps that differ are answered
    with the smallest source and target that only one of them relates, and every subterm's value there.
    Two HLO instructions are compared by what they read, operand for operand.
    """
    import shlex

    from .reports.machine import answer_json
    from .reports.maps import difference
    from .verify.claims.instructions import is_instruction
    from .verify.concrete import equal_maps

    if left == right == "-":
        raise InputError(
            "both maps are -", expected="one of them from standard input, the other as text or @FILE"
        )
    texts = _given(left), _given(right)
    if all(map(is_instruction, texts)):
        raise typer.Exit(_equal_instructions(*texts, json))
    one, two = _as_map(texts[0], "first map"), _as_map(texts[1], "second map")
    answer = equal_maps(one, two)
    status = _status(answer.verdict.value)
    if json:
        _emit_json(answer_json("equal", answer, status, one, two))
    else:
        again = "" if "-" in (left, right) else shlex.join(["indexproof", "equal", left, right])
        _emit(difference(answer, one, two, again=again))
    raise typer.Exit(status)


def _equal_instructions(left: str, right: str, json: bool) -> int:
    """Compare two HLO instructions; the exit status."""
    from .reports.maps import instruction_difference, instructions_json
    from .verify.claims.instructions import compare_instructions

    answers = compare_instructions(left, right)
    found = {_status(a.answer.verdict.value) for a in answers}
    status = FALSE if FALSE in found else max(found)
    if json:
        _emit_json(instructions_json(answers, status))
    else:
        _emit("\n".join(map(instruction_difference, answers)))
    return status


def _status(verdict: str) -> int:
    return {"PROVED": PROVED, "REFUTED": FALSE, "VACUOUS": FALSE, "UNDEFINED": FALSE}.get(verdict, OPEN)


@app.command()
def simplify(
    text: MapText,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Print every step: rule, place, values, and the facts it rests on."),
    ] = False,
    validate: Annotated[
        bool, typer.Option("--validate", help="Prove the result equal to the map, by two engines.")
    ] = False,
    json: Json = False,
    remove_unused: Annotated[
        bool, typer.Option("--remove-unused", help="Take out variables that the map can do without.")
    ] = False,
    rescale_ranges: Annotated[
        bool, typer.Option("--rescale-ranges", help="Count ranges whose remainder is fixed.")
    ] = False,
    ranges_to_dims: Annotated[
        bool, typer.Option("--ranges-to-dims", help="Make the ranges further dimensions.")
    ] = False,
    keep_point_dims: Annotated[
        bool, typer.Option("--keep-point-dims", help="Keep variables with only one value in the results.")
    ] = False,
) -> None:
    """Simplify a map with the rules that were proved.

    No solver is asked unless with --validate, which then also decides the exit status. Options that change
    the variables print what became of them, and --validate then compares with the result read that way.
    """
    from .core.explain import explained
    from .core.text import format_map
    from .core.transform import reduce_map
    from .rules.catalog import RULES

    before = _map(text, "map")
    steps: list[Any] = []
    reduced = reduce_map(
        before,
        RULES,
        steps if explain or json else None,
        unused=remove_unused,
        unused_dims=remove_unused,
        rescale=rescale_ranges,
        eliminate=remove_unused,
        to_dims=ranges_to_dims,
        renumber=remove_unused,
        keep_points=keep_point_dims,
    )
    after = reduced.map
    changes = remove_unused or rescale_ranges or ranges_to_dims
    status = PROVED
    answer = None
    if validate:
        from .verify.transforms import same_relation_restored

        answer = same_relation_restored(reduced, confirm=True)
        status = _status(answer.verdict.value)
    if json:
        from .core.derivation_json import derivation_to_json
        from .reports.derivation import steps_json
        from .reports.machine import answer_json, document, map_json, record_json

        derivation = explained(before, after, steps)
        more = {"steps": steps_json(derivation), "derivation": derivation_to_json(derivation)}
        more |= record_json(reduced) if changes else {}
        if answer is not None:
            _emit_json(answer_json("simplify", answer, status, before, after, **more))
        else:
            _emit_json(
                document(
                    "simplify", "NOT CHECKED", status, **more, left=map_json(before), right=map_json(after)
                )
            )
        raise typer.Exit(status)
    if explain:
        from .reports.derivation import derivation_text

        _emit(derivation_text(explained(before, after, steps)))
    _emit(format_map(after))
    if changes:
        from .reports.maps import record_text

        _emit(record_text(reduced) or "every variable is what it was")
    if answer is not None:
        from .reports.maps import difference

        _emit(difference(answer, before, reduced.restored(), names=("before", "after")))
    raise typer.Exit(status)


@app.command()
def replay(
    derivation: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="What `simplify --json` printed, or the derivation in it; - for standard input.",
        ),
    ],
    json: Json = False,
    cache: CachePath = None,
    no_cache: NoCache = False,
    read_only_cache: ReadOnly = False,
) -> None:
    """Check a stored derivation, step by step, with a checker that has nothing in common with the simplifier.

    Each step must be an instance of a rule that is proved, its conditions must hold on the domain, and the
    steps must lead from the map to the result.
    """
    from .core.json_text import load_json
    from .reports.derivation import read_derivation, replay_json, replay_text
    from .reports.selection import read_text
    from .rules.catalog import RULES
    from .verify.derivation import DerivationRefused, check_derivation
    from .verify.proved import proved_rules

    found = read_derivation(load_json(_stdin() if derivation == "-" else read_text(derivation)), RULES)
    with _opened(cache, no_cache, read_only_cache) as kept:
        proved = proved_rules(RULES, kept)
    try:
        checked, refused = check_derivation(found, RULES, proved), None
    except DerivationRefused as error:
        checked, refused = None, error
    status = PROVED if refused is None else FALSE
    if json:
        _emit_json(replay_json(found, checked, refused, status))
    else:
        _emit(replay_text(found, checked, refused))
    raise typer.Exit(status)


@app.command("check-certificate")
def check_certificate(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", show_default=False, help="What `prove --certificates` wrote: files or folders."
        ),
    ],
    json: Json = False,
) -> None:
    """Check certificates of proofs, step by step, with a checker that has nothing in common with the prover.

    Every lemma must be proved, every step an instance of one, the cases exhaustive, and the linear questions
    at the leaves contradictory for z3, and for cvc5 where it is installed. reports/strategies.md says what a
    certificate is.
    """
    from .reports.certificates import certificates_json, certificates_text, check_files, solvers_at_hand

    found = list(check_files(files))
    if not found:
        raise InputError("there is no certificate", expected="files that `prove --certificates` wrote")
    status = FALSE if any(c.refused for c in found) else PROVED
    if json:
        from .reports.machine import document

        verdict = "REFUSED" if status else "PROVED"
        _emit_json(
            document("check-certificate", verdict, status, **certificates_json(found, solvers_at_hand()))
        )
    else:
        _emit(certificates_text(found, solvers_at_hand()))
    raise typer.Exit(status)


@app.command()
def fuzz(
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, metavar="N", help="How many random maps.")
    ] = 2000,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Which sequence of random maps.")] = 0,
    only: Annotated[
        int | None, typer.Option("--only", min=0, metavar="N", help="Only this map of the sequence.")
    ] = None,
    checked: Annotated[
        bool, typer.Option("--checked", help="Also check every step: each an instance of a proved rule.")
    ] = False,
    corpus: Annotated[
        list[Path] | None,
        typer.Option(
            "--corpus", metavar="FILE", help="Also the maps in this file, one a line; may be repeated."
        ),
    ] = None,
    builtin: Annotated[
        bool, typer.Option("--builtin", help="Also the examples of all rules, and the published maps.")
    ] = False,
    jobs: Jobs = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="FILE", help="Keep what is done there, and go on from it."),
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the report there, as JSON.")
    ] = None,
) -> None:
    """Simplify random maps, and compare each with its result by evaluation, isl and z3.

    Further each result must be simplified again to itself, must not cost more than its map, and must be the
    same in another process. The maps are reproducible: number N of a sequence is always the same. A wrong
    result, a contradiction between engines or a crash stops the run and is made as small as it gets.
    Interrupted with Ctrl-C, says what was not checked.
    """
    from .reports.fuzz import fuzz_json, fuzz_text, only_text
    from .reports.machine import text_of
    from .reports.progress import MapWatcher
    from .rules.catalog import RULES
    from .verify.fuzz.corpus import builtin_corpus, read_corpus
    from .verify.fuzz.run import Settings
    from .verify.fuzz.run import fuzz as run_fuzz
    from .verify.proved import proved_rules

    maps = [m for path in corpus or () for m in read_corpus(path)] + (
        builtin_corpus(RULES) if builtin else []
    )
    if not (count or maps or only is not None):
        raise InputError("there is nothing to examine", expected="--count, --corpus or --builtin")
    proved: tuple[str, ...] = ()
    if checked:
        with _opened(None, False, False) as kept:
            proved = tuple(sorted(proved_rules(RULES, kept)))
    settings = Settings(seed, count, checked, proved)
    command = f"indexproof fuzz --seed {seed}" + (" --checked" if checked else "")
    if only is not None:
        text, status = only_text(settings, only)
        _emit(text)
        raise typer.Exit(status)
    with MapWatcher(count) as watcher:
        run = run_fuzz(settings, jobs=jobs, checkpoint=checkpoint, corpus=maps, progress=watcher)
    if json is not None:
        try:
            json.write_text(text_of(fuzz_json(run, command)) + "\n", "utf-8")
        except OSError as error:
            raise InputError(f"--json: cannot write {quoted(json, 200)}: {error.strerror}") from None
    _emit(fuzz_text(run, command))
    raise typer.Exit(run.exit_status)


@app.command("fuzz-hlo")
def fuzz_hlo(
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, metavar="N", help="How many damaged texts.")
    ] = 2000,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Which sequence of damaged texts.")] = 0,
    only: Annotated[
        int | None, typer.Option("--only", min=0, metavar="N", help="Only this text of the sequence.")
    ] = None,
    corpus: Annotated[
        list[Path] | None,
        typer.Option("--corpus", metavar="PATH", help="Damage these HLO files too; may be repeated."),
    ] = None,
    jobs: Jobs = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the report there, as JSON.")
    ] = None,
) -> None:
    """Damage HLO modules and maps, and see that each is read, or refused at the place where it is wrong.

    What is read must print to something that reads as the same, and its maps are computed. Any other error, a
    text that takes too long and one that takes too much memory are failures, made as small as they get. The
    texts are reproducible: number N of a sequence is always the same for the same --corpus.
    """
    from .reports.fuzz_hlo import TextWatcher, hlo_fuzz_json, hlo_fuzz_text, one_text
    from .reports.machine import text_of
    from .verify.fuzz.hlo import fuzz_hlo as run_fuzz
    from .verify.fuzz.hlo import read_texts

    texts = read_texts(corpus) if corpus else []
    command = f"indexproof fuzz-hlo --seed {seed}" + "".join(f" --corpus {path}" for path in corpus or ())
    if only is not None:
        text, status = one_text(seed, only, texts)
        _emit(text)
        raise typer.Exit(status)
    if not count:
        raise InputError("there is nothing to examine", expected="--count or --only")
    run = run_fuzz(count, seed, corpus=texts, jobs=jobs, progress=TextWatcher(count))
    if json is not None:
        try:
            json.write_text(text_of(hlo_fuzz_json(run, command)) + "\n", "utf-8")
        except OSError as error:
            raise InputError(f"--json: cannot write {quoted(json, 200)}: {error.strerror}") from None
    _emit(hlo_fuzz_text(run, command))
    raise typer.Exit(run.exit_status)


@app.command()
def hlo(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="HLO as XLA prints it, also gzipped; - for standard input.",
        ),
    ],
    computation: Annotated[
        list[str] | None,
        typer.Option("--computation", "-c", metavar="NAME", help="Only this computation; may be repeated."),
    ] = None,
    instruction: Annotated[
        list[str] | None,
        typer.Option(
            "--instruction",
            "-i",
            metavar="NAME",
            help="The maps between this instruction and its operands; may be repeated.",
        ),
    ] = None,
    fusions: Annotated[bool, typer.Option("--fusions", help="The computations of all fusions.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="All computations.")] = False,
    inputs: Annotated[
        bool, typer.Option("--input-to-output", help="Maps from what is read to what reads it as well.")
    ] = False,
    physical: Annotated[
        bool, typer.Option("--physical", help="Maps between positions in memory, layouts and tiles counted.")
    ] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="A line for each computation in place of its maps.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Prove the maps, of all computations unless some are named.")
    ] = False,
    json: Json = False,
) -> None:
    """Print the maps between what an HLO module computes and what it is given: of its entry, of named
    computations or fusions, of single instructions; and say which instructions have none, and why.

    With --verify proves for the sizes of the program that maps are in bounds, that those of the two directions
    are each other's inverse, that operands which share an output cover it, and that composed maps are the
    composition; this then decides the exit status.
    """
    from .core.op import DIRECTIONS
    from .reports import hlo as reporting

    if verify and instruction:
        raise InputError("--verify proves whole computations", expected="no --instruction")
    if verify and physical:
        raise InputError("--verify proves maps between elements", expected="no --physical")
    module = reporting.module_of(file, _stdin() if file == "-" else None)
    named = computation or ()
    unless = not named and not fusions and (verify or summary or bool(instruction))
    wanted = reporting.chosen(module, named, fusions, everything or unless)
    with reporting.Bar(len(wanted)) as bar:
        found = reporting.report(
            module,
            wanted,
            instructions=instruction or (),
            directions=DIRECTIONS if inputs else DIRECTIONS[:1],
            physical=physical,
            verify=verify,
            watch=bar,
        )
    status = _status(found.verdict.value) if verify else PROVED
    if json:
        _emit_json(reporting.hlo_json(found, status))
    else:
        _emit(reporting.hlo_text(found, summary or (verify and not named)))
    raise typer.Exit(status)


@app.command()
def layout(
    shape: Annotated[
        str,
        typer.Argument(
            metavar="SHAPE", show_default=False, help="An array with its layout: 'f32[3,5]{1,0:T(2,2)}'."
        ),
    ],
    index: Annotated[
        str, typer.Option("--index", metavar="I,J,...", help="Say where this element stands.")
    ] = "",
    position: Annotated[
        int | None, typer.Option("--position", metavar="N", help="Say what stands at this position.")
    ] = None,
    padded: Annotated[
        str, typer.Option("--padded", metavar="N,M,...", help="The padded sizes of the dimensions.")
    ] = "",
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw array and memory there.")
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Prove everything that is printed.")] = False,
    json: Json = False,
) -> None:
    """Say how an array stands in memory: order of dimensions, tiles, padding, and the maps between elements
    and positions.

    With --verify proves that the maps are inverse to each other, that padding is exactly the rest, and that
    both are the pad, reshape and transpose that define tiles; this then decides the exit status.
    """
    from .core.layout import memory
    from .reports.layouts import described, layout_json, layout_text

    at = memory(shape, _integers("--padded", padded))
    place = _integers("--index", index) if index else () if not at.shape.rank else None
    found = described(at, verify)
    status = _status(found.verdict.value) if verify else PROVED
    if svg is not None:
        from .reports.pictures import layout_picture

        try:
            layout_picture(at).save(svg)
        except OSError as error:
            raise InputError(f"--svg: cannot write {quoted(svg, 200)}: {error.strerror}") from None
    if json:
        _emit_json(layout_json(found, status, place, position))
    else:
        _emit(layout_text(found, place, position))
    raise typer.Exit(status)


@app.command()
def launch(
    shape: Annotated[
        str,
        typer.Argument(metavar="SHAPE", show_default=False, help="The output with its layout: 'f32[10,20]'."),
    ],
    threads: Annotated[
        str,
        typer.Option("--threads", metavar="X,Y,Z", help="The threads of a block; y and z may be left out."),
    ] = "128",
    blocks: Annotated[
        str, typer.Option("--blocks", metavar="X,Y,Z", help="The blocks; y and z may be left out.")
    ] = "1",
    unroll: Annotated[
        int, typer.Option("--unroll", metavar="N", help="How many neighbours a thread takes at once.")
    ] = 1,
    warp: Annotated[int, typer.Option("--warp", metavar="N", help="The threads of a warp.")] = 32,
    operand: Annotated[
        str,
        typer.Option("--map", metavar="MAP", help="From the output to an operand: say what is read of it."),
    ] = "",
    by: Annotated[
        str, typer.Option("--by", metavar="thread|block|warp", help="Whose reads --map asks for.")
    ] = "thread",
    verify: Annotated[bool, typer.Option("--verify", help="Prove everything that is printed.")] = False,
    json: Json = False,
) -> None:
    """Say which elements of an output the threads, blocks and warps of a launch compute, and which elements of
    an operand they read.

    With --verify proves that every element is computed exactly once, that all maps agree, and that what is
    read is what the map says of what is computed; this then decides the exit status.
    """
    from .core.launch import Launch
    from .reports.launches import described_launch, launch_json, launch_text

    made = Launch(_integers("--threads", threads), _integers("--blocks", blocks), unroll, warp)
    m = _map(operand, "--map") if operand else None
    found = described_launch(made.over(shape), m, by, verify)
    status = _status(found.verdict.value) if verify else PROVED
    if json:
        _emit_json(launch_json(found, status))
    else:
        _emit(launch_text(found))
    raise typer.Exit(status)


def _integers(option: str, text: str) -> tuple[int, ...]:
    """``2,3`` as numbers.  Raises :class:`InputError` that points at what is none."""
    found = []
    at = 0
    for piece in text.split(",") if text.strip() else ():
        digits = piece.strip()
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 40):
            start = at + len(piece) - len(piece.lstrip())
            raise InputError.at(
                f"{option}: {quoted(digits)} is no number", text, start, "numbers such as `2,3`"
            )
        found.append(int(digits))
        at += len(piece) + 1
    return tuple(found)


@app.command()
def width(
    text: MapText,
    bits: Annotated[
        int | None,
        typer.Option("--bits", metavar="N", help="Fail unless so many bits, 32 or 64, are enough."),
    ] = None,
    json: Json = False,
) -> None:
    """Say which machine integers a map needs: int32 if no subexpression overflows on its domain, or int64.

    The answer is exact. Of each width that is too small it names the first subexpression that overflows, and
    the smallest point where it does; reports/semantics.md says what the subexpressions are.
    """
    from .reports.width import width_json, width_text, width_verdict
    from .verify.width import width as machine_width

    if bits not in (None, 32, 64):
        raise InputError(f"--bits: there are no integers of {bits} bits here", expected="32 or 64")
    m = _map(text, "map")
    answer = machine_width(m)
    status = _status(width_verdict(answer, bits).value)
    if json:
        _emit_json(width_json(answer, m, bits, status))
    else:
        _emit(width_text(answer, m, bits))
    raise typer.Exit(status)


@app.command()
def convert(
    text: Annotated[
        str,
        typer.Argument(
            metavar="MAP",
            show_default=False,
            help="A map as text, JSON or affine_map<...>, @FILE, or - for standard input.",
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="FORM", help="text, json, mlir, python, c, sympy, tvm or isl.", show_default=False
        ),
    ],
    domain: Annotated[
        str, typer.Option("--domain", metavar="SET", help="The domain of an affine_map, as affine_set<...>.")
    ] = "",
    checked: Annotated[
        bool, typer.Option("--checked", help="Functions (python, c) that say where the map has no value.")
    ] = False,
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="The name of the function.")] = "",
) -> None:
    """Print a map in another form.

    python and c are functions of the variables, with common subexpressions computed once; the integers of c
    are those that `indexproof width` finds. mlir is an affine_map with its domain as an affine_set.
    """
    from .reports.convert import converted, read_any

    m = _map(text, "map", lambda given: read_any(given, domain))
    sys.stdout.write(converted(m, to, checked=checked, name=name))


# ------------------------------------------------------------------------------------------------------ trust
@app.command()
def export(
    folder: Annotated[
        Path, typer.Option("--to", metavar="FOLDER", show_default=False, help="Write the files there.")
    ],
    names: Names = None,
    leaves: Annotated[
        bool, typer.Option("--questions", help="Also the questions that each proof rests on.")
    ] = False,
    proofs: Annotated[
        bool, typer.Option("--proofs", help="Also a proof by cvc5 of what it can prove, checked.")
    ] = False,
    jobs: Jobs = None,
    budget: BudgetFactor = 1.0,
    cache: CachePath = None,
    no_cache: NoCache = False,
    read_only_cache: ReadOnly = False,
    max_rank: MaxRank = None,
) -> None:
    """Write obligations as SMT-LIB 2 files, each with the expected answer, for any solver to check.

    The files are written from the claims alone, by code that the prover does not use. index.json says which
    file belongs to which obligation. reports/trust.md says what they establish, and what a proof does.
    """
    from .reports.progress import Watcher
    from .reports.trust import write_export
    from .verify.run import prove_all
    from .verify.solve import Budget
    from .verify.trust.export import export as exported
    from .verify.trust.solvers import available, cvc5_name, z3_name

    if proofs and not available():
        cvc5_name()  # says what is missing
    chosen, _ = _chosen(names or (), _rank(max_rank))
    patience = Budget().scaled(budget)
    with _opened(cache, no_cache, read_only_cache) as kept, _stopped_by_disagreement():
        obligations = [o for s in chosen for o in s.obligations()]
        with Watcher(len(obligations)) as watcher:
            run = prove_all(obligations, jobs=jobs, budget=patience, cache=kept, progress=watcher)
        found = [
            exported(n, r.obligation, r.verdict, patience, leaves=leaves, proofs=proofs)
            for n, r in enumerate(run.results, start=1)
        ]
    try:
        _emit(write_export(found, folder, ", ".join([z3_name(), *([cvc5_name()] if proofs else [])])))
    except OSError as error:
        raise InputError(f"--to: cannot write {quoted(folder, 200)}: {error.strerror}") from None
    raise typer.Exit(PROVED if not run.interrupted else OPEN)


@app.command()
def stability(
    names: Names = None,
    mutants: Annotated[
        int, typer.Option("--mutants", min=1, metavar="N", help="So many mutants of each obligation.")
    ] = 60,
    sample: Annotated[
        float, typer.Option("--sample", min=0, max=100, metavar="PERCENT", help="Only so many obligations.")
    ] = 100.0,
    checkpoint: Annotated[
        Path | None,
        typer.Option("--checkpoint", metavar="FILE", help="Keep what is done there, and go on from it."),
    ] = None,
    jobs: Jobs = None,
    budget: BudgetFactor = 1.0,
    json: Json = False,
    max_rank: MaxRank = None,
) -> None:
    """Prove everything again under other names, in other orders, with other seeds of the solver.

    A mutant asks the same question in other words, so it must have the same verdict; an obligation that
    flips has a fragile encoding. The exit status is 0 if none does, 1 if one does, 2 if some were not
    examined. Interrupted with Ctrl-C, says what it knows.
    """
    import time

    from .reports.trust import Shaker, stability_json, stability_status, stability_text
    from .verify.run import available_cores
    from .verify.solve import Budget
    from .verify.trust.stability import examined
    from .verify.trust.stability import stability as examine

    chosen, _ = _chosen(names or (), _rank(max_rank))
    todo = examined((o for s in chosen for o in s.obligations()), sample / 100)
    start = time.perf_counter()
    try:
        records, resumed = examine(
            todo,
            mutants=mutants,
            jobs=jobs or available_cores(),
            budget=Budget().scaled(budget),
            checkpoint=checkpoint,
            progress=Shaker(len(todo)),
        )
    except OSError as error:
        raise InputError(f"--checkpoint: cannot write {quoted(checkpoint, 200)}: {error.strerror}") from None
    seconds = time.perf_counter() - start
    if json:
        _emit_json(stability_json(records, len(todo), mutants, resumed, seconds))
    else:
        for k, text in enumerate(stability_text(records, len(todo), mutants, resumed, seconds)):
            _emit(("\n" if k else "") + text)
    raise typer.Exit(stability_status(records, len(todo)))


@app.command()
def selftest(jobs: Jobs = None, json: Json = False) -> None:
    """Tamper with everything that verdicts rest on, and see that every case is noticed.

    Over a thousand cases: entries and files of the cache, claims, meanings of operators, answers of solvers,
    processes that are killed. The exit status is 1 if a case passes unnoticed. reports/trust.md says what
    notices which kind; some cases need cvc5 and are left out where it is not installed.
    """
    import time

    from .reports.trust import Teller, selftest_json, selftest_status, selftest_text
    from .verify.run import available_cores
    from .verify.trust.sabotage import selftest as run_selftest
    from .verify.trust.sabotage import tasks

    start = time.perf_counter()
    outcomes = run_selftest(jobs or available_cores(), Teller(len(tasks())))
    seconds = time.perf_counter() - start
    if json:
        _emit_json(selftest_json(outcomes, seconds))
    else:
        for k, text in enumerate(selftest_text(outcomes, seconds)):
            _emit(("\n" if k else "") + text)
    raise typer.Exit(selftest_status(outcomes))


# ----------------------------------------------------------------------------------------------------- claims
@app.command()
def check(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", show_default=False, help="Claims files; - is standard input."),
    ] = None,
    builtin: Annotated[
        bool, typer.Option("--builtin", help="Check the maps that the XLA documents publish.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAME",
            show_default=False,
            help="Check the claim of this name; repeat for more.",
        ),
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Ask a second engine about every comparison.")
    ] = False,
    json: Json = False,
) -> None:
    """Check claims files.

    A claims file states equalities of maps, simplifications, and the maps of ops written as HLO
    instructions, each with the verdict that is expected; reports/docs/claims.md describes it. A false claim
    is answered with an element that shows it and with the right map. The exit status is 0 if every verdict
    is the expected one.
    """
    import time

    from .reports.claims import checked_json, checked_text, exit_status
    from .verify.claims import ClaimResult, builtin_claims, check_claims

    if not files and not builtin:
        raise InputError("nothing to check", expected="claims files, or --builtin")
    sources = [_claims_file(name) for name in files or ()] + (builtin_claims() if builtin else [])
    wanted = set(only or ())
    unknown = wanted - {c.name for f in sources for c in f.claims}
    if unknown:
        from .reports.selection import suggestion

        name = min(unknown)
        said = suggestion(name, (c.name for f in sources for c in f.claims), "the files name their claims")
        raise InputError(f"--only: no claim is called {quoted(name)}: {said}")
    start = time.perf_counter()
    checked: list[tuple[Any, list[ClaimResult]]] = []
    total = sum(not wanted or c.name in wanted for f in sources for c in f.claims)
    try:
        for f in sources:
            checked.append((f, []))
            check_claims(f, names=only or None, confirm=confirm, progress=checked[-1][1].append)
    except KeyboardInterrupt:
        pass  # what is missing is counted
    missed = total - sum(len(results) for _, results in checked)
    checked = [(f, results) for f, results in checked if results]
    seconds = time.perf_counter() - start
    if json:
        _emit_json(checked_json(checked, missed, seconds))
    else:
        for n, text in enumerate(checked_text(checked, missed, seconds)):
            _emit(("\n" if n else "") + text)
    raise typer.Exit(exit_status(checked, missed))


def _claims_file(name: str) -> ClaimsFile:
    from .reports.selection import read_text
    from .verify.claims import read_claims

    text = _stdin() if name == "-" else read_text(name)
    shown = "standard input" if name == "-" else name
    try:
        return read_claims(text, shown)
    except InputError as error:
        error.add_note(f"in {shown}")
        raise


# -------------------------------------------------------------------------------------------------- catalogue
@app.command("list")
def list_(
    family: Annotated[
        str, typer.Option("--family", metavar="NAME", help="Only rules, transfer, transforms or ops.")
    ] = "",
    json: Json = False,
    max_rank: MaxRank = None,
) -> None:
    """List every rule, law and op with its claim in a sentence."""
    from .reports.catalogue import list_json, list_text
    from .reports.selection import FAMILIES, everything

    if family and family not in FAMILIES:
        raise InputError(
            f"--family: there is no family {quoted(family)}", expected=f"one of {', '.join(FAMILIES)}"
        )
    wanted = [c for c in everything(_rank(max_rank)) if not family or c.family in FAMILIES[family]]
    if json:
        _emit_json(list_json(wanted))
    else:
        _emit(list_text(wanted))


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", show_default=False, help="A rule, a law, an op or an instance.")
    ],
    json: Json = False,
    cache: CachePath = None,
    no_cache: NoCache = False,
    max_rank: MaxRank = None,
) -> None:
    """Show one claim: what it states, its conditions, examples, obligations, and the verdicts that are known.

    Verdicts come from the cache; nothing is proved.
    """
    from .reports.catalogue import show_json, show_text
    from .reports.selection import everything, select

    among = everything(_rank(max_rank))
    found: list[Named] = [s.named for s in select([name], among)]
    with _opened(cache, no_cache, not no_cache and cache is None) as kept:
        if json:
            _emit_json(show_json(found, kept))
        else:
            _emit(show_text(found, kept))


@app.command()
def docs(
    check_only: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if a document is out of date.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", metavar="PATH", help="Where they are (default: beside the program)."),
    ] = None,
) -> None:
    """Write what is generated: documents from the catalogue and the commands' help, and the compiled rules."""
    from .reports.documents import documents, outdated, write_documents
    from .reports.published import PAGE, is_current, write_page
    from .rules.catalog import COMPILED, compiled_source

    place = folder or Path(__file__).parent / "reports" / "docs"
    pages = documents(_help_texts())
    stale = outdated(pages, place)
    # the audit of the published maps stands beside the others and repeats itself in the claims files
    audit = folder is None and not is_current()
    engine = folder is None and COMPILED.read_text("utf-8") != compiled_source()
    if check_only:
        if engine:
            _say(f"{COMPILED}: is not what the rules say")
        if audit:
            _say(f"{PAGE}: is not what the audit says")
        for name, why in stale.items():
            _say(f"{place / name}: {why}")
        if stale or audit or engine:
            _say("run `make docs` (or `indexproof docs`) and commit the result")
        raise typer.Exit(FALSE if stale or audit or engine else PROVED)
    try:
        write_documents(pages, place)
        if audit:
            write_page()
        if engine:
            COMPILED.write_text(compiled_source(), "utf-8")
    except OSError as error:
        raise InputError(f"cannot write below {quoted(place, 200)}: {error.strerror}") from None
    _emit(f"{len(pages) + 2 * (folder is None)} documents in {place}, {len(stale) + audit + engine} changed")


def _help_texts() -> dict[str, str]:
    """The help of every command at a fixed width, by the words that call it."""
    group: Any = typer.main.get_command(app)
    names = group.context_settings["help_option_names"]
    top = group.context_class(group, info_name="indexproof", terminal_width=100, help_option_names=names)
    out = {"indexproof": group.get_help(top)}
    for name, command in group.commands.items():
        inner = command.context_class(command, info_name=name, parent=top, terminal_width=100)
        out[f"indexproof {name}"] = command.get_help(inner)
    return out
