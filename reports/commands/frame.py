"""The frame of all commands: handling of errors and signals, output of reports, exit status."""

from __future__ import annotations

import _thread
import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from ...core.errors import IndexproofError, InputError, TooLargeError, quoted
from .. import layout
from ..layout import ILL_FORMED, SPELLED, lose, put, write

PROVED, FALSE, OPEN, BAD_INPUT, BUG = range(5)

# raised for a wrong option or a missing argument; typer may bring its own copy of click or use the installed one
UsageError: Any = typer.BadParameter.__mro__[1]

_OURS = __name__.split(".")[0]
#: The status that typer returns for a Ctrl-C while it reads the command line.
_INTERRUPTED = 130
#: Errors of a machine that cannot provide another process, open file or piece of memory.
_SCARCE = frozenset({errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE})


class Commands(TyperGroup):
    """The group of all commands, which reports their errors in one way."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, *more: Any, **extra: Any) -> Any:
        """Run a command line.  Raises :class:`SystemExit` with the exit status."""
        words = list(sys.argv[1:] if args is None else args)
        debug = bool(os.environ.get("INDEXPROOF_DEBUG"))
        head = words[: words.index("--")] if "--" in words else words
        if "--debug" in head:
            # accepted at any position, since users append it to a command that has just failed
            debug = True
            words.remove("--debug")
        layout.verbosity = 0
        for names, level in ((("-q", "--quiet"), -1), (("-v", "--verbose"), 1)):
            for name in names:
                if name in head:
                    layout.verbosity = level
                    words.remove(name)
        # a process may start without them (`indexproof prove >&-`); its exit status must still report the result
        sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors=SPELLED)
        extra["standalone_mode"] = False
        run = partial(super().main, words, prog_name or "indexproof", *more, **extra)
        with _settings_of_the_process():
            status = _guarded(run, debug)
        # after a Ctrl-C in `eval` Python ends as if killed by the signal, unless another `eval` resets its flag
        eval("None")
        sys.exit(status)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under the headings of their tasks."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            heading = getattr(command, "rich_help_panel", None)
            heading = heading if isinstance(heading, str) else "Commands"
            sections.setdefault(heading, []).append((name, command.get_short_help_str(limit=formatter.width)))
        widest = max(map(len, self.commands))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), said) for name, said in rows])

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("interrupted: nothing was checked")
            raise typer.Exit(OPEN) from None
        except BrokenPipeError as error:
            # typer would return 1, the status of a false claim
            try:
                sys.stdout.write("\n")
                sys.stdout.flush()
            except BrokenPipeError:  # the reader of the help is gone
                lose(sys.stdout)
                raise typer.Exit(PROVED) from None
            raise IndexproofError(f"a pipe broke: {error}") from error


@contextmanager
def _settings_of_the_process() -> Iterator[None]:
    """Print integers of any length, treat SIGTERM as Ctrl-C, and drop no Ctrl-C that arrives in a destructor."""
    digits, handler, before = sys.get_int_max_str_digits(), signal.getsignal(signal.SIGTERM), sys.unraisablehook

    def hook(unraisable: Any) -> None:
        raised = unraisable.exc_traceback
        module = raised.tb_frame.f_globals.get("__name__", "") if raised else ""
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            # an exception raised here would be dropped too, so interrupt the main thread a moment later
            threading.Timer(0.01, _thread.interrupt_main).start()
        elif module.split(".")[0] != "z3":
            # those of z3 are about solver objects that a Ctrl-C left half-constructed
            before(unraisable)

    # numbers of given maps may have more digits than Python prints
    sys.set_int_max_str_digits(0)
    sys.unraisablehook = hook
    # a cancelled job keeps the verdicts so far, and ends all processes; only the main thread may set handlers, and an
    # existing handler is kept
    if ours := handler is signal.SIG_DFL and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, handler)
        sys.unraisablehook = before
        sys.set_int_max_str_digits(digits)


def _guarded(run: Callable[[], Any], debug: bool) -> int:
    """Run a command and return its exit status; an error is reported on standard error."""
    try:
        status = run()
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            lose(sys.stdout)
        if status == _INTERRUPTED:
            say("interrupted: nothing was checked")
            return OPEN
        return status if isinstance(status, int) else PROVED
    except (UsageError, SystemExit, typer.Abort) as error:
        return _told(error)
    except Exception as error:
        if debug:
            raise
        return _told(error)


def _told(error: BaseException) -> int:
    """Report the error that ended a command and return the exit status."""
    match error:
        case UsageError() if type(error).__name__ == "NoArgsIsHelpError":
            say(error.format_message())
        case UsageError():
            say(f"error: {error.format_message()}")
            if error.ctx is not None:
                say(f"       `{error.ctx.command_path} --help` says what there is")
        case InputError():
            say_wrong(error)
        case TooLargeError():
            say(f"not checked: {error}")
            return OPEN
        case typer.Abort():
            say("interrupted: nothing was checked")
            return OPEN
        case SystemExit():
            # typer raises it when the reader of the help is gone; commands exit with a status of their own
            lose(sys.__stdout__ or sys.stdout)
            return PROVED
        case MemoryError() | OSError() if isinstance(error, MemoryError) or error.errno in _SCARCE:
            why = error.strerror if isinstance(error, OSError) else "out of memory"
            say(f"not checked: the machine has not enough for this: {why}")
            return OPEN
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EFBIG | errno.EIO):  # a full or broken disk
            lose(sys.stdout)
            say(f"error: cannot write the output: {error.strerror}")
        case ImportError() if (error.name or "").split(".")[0] != _OURS:
            say(f"error: a package that this needs cannot be loaded: {error}")
            way = "`python -m pip check` says what is missing or too old, `pip install --force-reinstall` repairs it"
            say(f"       {way}")
        case _:
            say(_bug(error))
            return BUG
    return BAD_INPUT


def _bug(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    code = "" if trace is None else Path(trace.tb_frame.f_code.co_filename).name
    where = f" ({code}:{trace.tb_lineno})" if trace is not None else ""
    kind = "" if isinstance(error, IndexproofError) else f"{type(error).__name__}: "
    return (
        f"internal error: {kind}{error}{where}\n"
        "This is a bug in indexproof, and no verdict was reached. Please report it with the command that "
        "you ran and the text above; with --debug the command prints where it happened."
    )


def status_of(verdict: str) -> int:
    """Return the exit status for a verdict."""
    return {"PROVED": PROVED, "REFUTED": FALSE, "VACUOUS": FALSE, "UNDEFINED": FALSE}.get(verdict, OPEN)


@contextmanager
def kept_to_the_end() -> Iterator[None]:
    """Switch the garbage collector off: objects created within last until the command ends."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


# ----------------------------------------------------------------------------------------------------- output
def say(text: str) -> None:
    """Print a message that is not part of the report, to standard error."""
    put(text + "\n", sys.stderr)


def say_wrong(error: InputError) -> None:
    """Report bad input: its place, and what was expected."""
    say(f"error: {_noted(error, error.render())}")


def _noted(error: InputError, said: str) -> str:
    """Return an error message after the places noted on the error."""
    return ": ".join([*getattr(error, "__notes__", []), said])


#: Print a report, or a part of it.
emit = write


def emit_json(data: dict[str, Any]) -> None:
    """Print a report as one JSON document."""
    from ..serializer import text_of

    put(text_of(data) + "\n", sys.stdout)


def report(
    json: bool,
    document: Callable[[], dict[str, Any]],
    text: Callable[[], str | Iterable[str]],
    problems: Sequence[InputError] = (),
) -> None:
    """Print a report as JSON or as text, parts separated by an empty line; only the chosen form is computed.

    With ``-q`` only the closing line of the text is printed.  ``problems``, the ill-formed statements, decide the verdict
    of the report, and are printed as errors.
    """
    if json:
        data = document()
        if problems:
            said = [
                {"line": max(e.line, 1), "column": max(e.column, 1), "message": _noted(e, str(e))} for e in problems
            ]
            data = {**data, "verdict": ILL_FORMED, "exit_status": BAD_INPUT, "ill_formed": said}
        emit_json(data)
    else:
        made = text()
        parts: Iterable[str] = [made] if isinstance(made, str) else made
        if problems:
            left = f"{ILL_FORMED}  {layout.count(len(problems), 'statement or file', 'statements or files')} not read"
            parts = [*parts, left]
        if layout.verbosity < 0:
            parts = [part.rstrip().rpartition("\n")[2] for part in [*parts][-1:]]
        for n, part in enumerate(parts):
            emit(("\n" if n else "") + part)
    for problem in problems:
        say_wrong(problem)


def finish(
    status: int,
    json: bool,
    document: Callable[[], dict[str, Any]],
    text: Callable[[], str | Iterable[str]],
    problems: Sequence[InputError] = (),
) -> NoReturn:
    """Print a report, as :func:`report` does, and end the command with ``status``, or that of ill-formed input."""
    report(json, document, text, problems)
    raise typer.Exit(BAD_INPUT if problems else status)


# ----------------------------------------------------------------------------------------------------- errors
@contextmanager
def writing(said: str, path: Path | None) -> Iterator[None]:
    """Turn an :class:`OSError` into an :class:`InputError`, as in ``--svg: cannot write``, if there is a ``path``."""
    try:
        yield
    except OSError as error:
        if path is None or error.errno in _SCARCE:
            raise
        raise InputError(f"{said} {quoted(path, 200)}: {error.strerror}") from None
