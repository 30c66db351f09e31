"""Claims as pytest items.  :mod:`.pytest_plugin` imports this module for the first file with claims."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ..core.errors import InputError
from ..verify.cache import Cache, default_cache
from ..verify.proving import prove_all
from .files import writable
from .gate import gated
from .gate_items import GateItem, claim_item, module_items, proved_item, unread_item
from .selection import Named, by_group
from .settings import files_below_root, settings_of
from .sources import read_source

_CACHE = pytest.StashKey[Cache]()


def declared_files(root: Path) -> tuple[Path, ...]:
    """Return the files that ``[tool.indexproof]`` names.  Raises :class:`pytest.UsageError` for invalid settings."""
    try:
        return tuple(root / f for f in files_below_root(root, settings_of(root).files))
    except InputError as error:
        raise pytest.UsageError(str(error)) from None


class ClaimFailedError(Exception):
    """The verdict of a claim is not the expected one."""

    def __init__(self, item: GateItem) -> None:
        super().__init__(item.message or item.verdict)
        self.item = item


class DeclarationsFile(pytest.File):
    """A file with claims."""

    def collect(self) -> Iterator[ClaimItem]:
        """Read the file, running a Python module; each statement that cannot be read becomes a failing item."""
        # relative to the folder of the call to pytest, where users will run the printed command
        shown = os.path.relpath(self.path, self.config.invocation_params.dir)
        source = read_source(str(self.path))
        found: list[tuple[str, int, Callable[[], GateItem]]] = []
        for (_, name), claims in by_group(source.declared).items():
            found.append((name, claims[0].line, partial(_proved, self.config, shown, claims)))
        found += [(c.name, c.line, partial(claim_item, shown, c)) for c in source.claims]
        known = [unread_item(shown, error) for error in source.unread]
        if source.kind == "hlo":
            known += module_items(self.path.parent, self.path.name)
        found += [(i.name, i.line, partial(replace, i)) for i in known]
        for name, line, question in sorted(found, key=lambda f: f[1]):
            yield ClaimItem.from_parent(self, name=name, line=line, question=question)


def _proved(config: pytest.Config, path: str, claims: Sequence[Named]) -> GateItem:
    run = prove_all(gated(claims), jobs=1, cache=_cache(config))
    if run.interrupted:
        raise KeyboardInterrupt
    return proved_item(path, claims, run.results)


def _cache(config: pytest.Config) -> Cache:
    """Return the cache of verdicts, one per process."""
    if (cache := config.stash.get(_CACHE, None)) is None:
        # without a home folder there is no cache, and everything is proved
        cache = config.stash[_CACHE] = Cache(writable(default_cache()))
        config.add_cleanup(partial(cache.__exit__, None, None, None))
    return cache


class ClaimItem(pytest.Item):
    """A rule, a law, an op with all its instances, a claim of a claims file, or a computation of an HLO file."""

    def __init__(self, *, line: int, question: Callable[[], GateItem], **rest: Any) -> None:
        super().__init__(**rest)
        self.line = line
        self.question = question

    def runtest(self) -> None:
        """Prove or refute the claim; it passes if it has its expected verdict."""
        found = self.question()
        self.user_properties.append(("verdict", found.verdict))
        if not found.passes:
            raise ClaimFailedError(found)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the block that the command line prints too: place, claim and counterexample."""
        if isinstance(excinfo.value, ClaimFailedError):
            return excinfo.value.item.text
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return the place of the declaration."""
        return self.path, self.line - 1, self.name
