"""Manifests: what a source file claims, recorded in the cache, so that a run need not state it again (reports/trust.md).

A manifest lists, for one section of the catalogue (:class:`~.catalogue.Section`), its claims and what each owes, by name
and by the digest of the question, with the digests of all files that this depends on.  It says what is asked, never what
the answer is.  One more manifest, the *plan*, lists the sections.

Manifests are written by a process that read all sources before it loaded any of those that state claims, and found them
unchanged afterwards.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..core.errors import IndexproofError
from .cache import Cache, question_digest
from .obligation import Obligation
from .sources import ROOT, bytecode_is_current, first_read, platform_text, read_sources

if TYPE_CHECKING:
    from .catalogue import Section

_PACKAGE = __name__.partition(".")[0]
#: What may be edited without a word about claims elsewhere lies below this folder.
_HOMES = "rules/"
#: The code that is generated from the rules; that it is right is a claim of theirs, and of nothing else.
_ENGINE = "rules/compiled.py"
#: Where one of these is loaded before the sources are read, what is stated may be older than they are.
_STATING = ("core.op", "core.rewrite", "rules.catalog", "rules.ops", "verify.catalogue")


@dataclass(frozen=True)
class Listed:
    """A claim as reports list it: its name, its family, and the op that it is an instance of, or itself."""

    name: str
    family: str
    group: str


@dataclass
class Whole:
    """The catalogue up to a rank: claims and what they owe, in order, and the sections that had to be stated."""

    claims: list[Listed] = field(default_factory=list)
    obligations: list[Obligation] = field(default_factory=list)
    stated: list[str] = field(default_factory=list)


class Recorded(Obligation):
    """An obligation as a manifest has it, stated when its mathematics is asked for.

    ``place`` says where it is stated: the section, the rank, the claim, and how many of its obligations come before.
    Raises :class:`~indexproof.core.errors.IndexproofError` if what is stated then is another question.
    """

    def __init__(self, digest: str, place: tuple[str, int, str, int], **listed: object) -> None:
        # the class is frozen, and the parts that are not listed are properties
        self.__dict__.update(listed, _recorded=digest, _place=place)

    @property
    def recorded(self) -> str:
        """The digest of the question."""
        return str(self.__dict__["_recorded"])

    def in_full(self) -> Obligation:
        """The obligation, stated."""
        known: Obligation | None = self.__dict__.get("_full")
        if known is None:
            *place, position = self.__dict__["_place"]
            owed = _owed(*place)
            known = owed[position] if position < len(owed) else None
            if known is None or known.kind != self.kind or question_digest(known) != self.recorded:
                raise IndexproofError(f"{self.name} is not what it was when the run began: its source changed")
            self.__dict__["_full"] = known
        return known

    def __reduce__(self) -> tuple[Any, ...]:
        # elsewhere there are no manifests
        return _itself, (self.in_full(),)


def _as_stated(part: str) -> property:
    def get(self: Recorded) -> Any:
        return getattr(self.in_full(), part)

    return property(get)


for _part in ("hypotheses", "goal", "show", "width", "source"):
    setattr(Recorded, _part, _as_stated(_part))


def _itself(o: Obligation) -> Obligation:
    return o


@lru_cache(maxsize=2)
def _by_section(max_rank: int) -> dict[str, dict[str, Any]]:
    from .catalogue import sections

    return {s.name: dict(s.claims(max_rank)) for s in sections()}


@lru_cache(maxsize=256)
def _owed(section: str, max_rank: int, claim: str) -> Sequence[Obligation]:
    from .catalogue import obligations_of

    found = _by_section(max_rank).get(section, {}).get(claim)
    return () if found is None else tuple(obligations_of(found))


# ------------------------------------------------------------------------------------------------------------- reading
def whole_catalogue(cache: Cache, max_rank: int) -> Whole:
    """The catalogue up to a rank: what sound manifests list, and the rest stated, and recorded in a writable cache."""
    loaded = any(f"{_PACKAGE}.{name}" in sys.modules for name in _STATING)
    sources = first_read()
    planned, common = _sound_plan(cache, sources)
    found = {name: sound_manifest(cache, name, home, max_rank, common, sources) for name, home in planned}
    manifests = {name: manifest for name, manifest in found.items() if manifest is not None}
    if planned and len(manifests) == len(planned):
        out = Whole()
        for manifest in manifests.values():
            recorded(manifest, max_rank, out)
        return out
    return _stated(cache, max_rank, sources, manifests, record=not loaded)


def _sound_plan(cache: Cache, sources: Mapping[str, str]) -> tuple[list[tuple[str, str]], str]:
    """The sections in order, name and home, and the digest of everything that is no home; none if the plan is stale."""
    match cache.manifest("plan"):
        case {"sections": [*listed], "common": str(common)} if all(
            isinstance(x, list) and [type(y) for y in x] == [str, str] for x in listed
        ):
            if common == common_digest(sources, {home for _, home in listed}):
                return [(name, home) for name, home in listed], common
    return [], ""


def sound_manifest(cache: Cache, name: str, home: str, max_rank: int, common: str, sources: Mapping[str, str]) -> Any:
    """The manifest in the cache, if it is the one of these sources."""
    match cache.manifest(manifest_name(name, max_rank)):
        case {"common": said, "files": {**files}, "home": at, "texts": [*_], "claims": [*_]} as manifest:
            same = all(sources.get(str(path)) == digest for path, digest in files.items())
            # a home that is part of what all manifests depend on is not listed once more
            if said == common and at == home and (home in files or not home.startswith(_HOMES)) and same:
                return manifest
    return None


def manifest_name(section: str, max_rank: int) -> str:
    """Under which name the manifest of a section is kept."""
    return f"{section}, rank {max_rank}"


def recorded(manifest: Any, max_rank: int, out: Whole) -> None:
    """Add to ``out`` what a manifest lists."""
    texts, section = manifest["texts"], manifest["section"]
    for name, family, group, owed in manifest["claims"]:
        out.claims.append(Listed(name, family, group))
        for position, (kind, question, gate, digest, claim, where) in enumerate(owed):
            out.obligations.append(
                Recorded(
                    digest,
                    (section, max_rank, name, position),
                    family=family,
                    subject=name,
                    kind=kind,
                    question=question,
                    gate=gate,
                    where=texts[where],
                    claim=texts[claim],
                )
            )


# ------------------------------------------------------------------------------------------------------------- stating
def _stated(
    cache: Cache, max_rank: int, sources: Mapping[str, str], manifests: Mapping[str, Any], *, record: bool
) -> Whole:
    from .catalogue import sections

    there = sections()
    homes = {s.home for s in there if s.home}
    common = common_digest(sources, homes)
    out = Whole()
    made: list[Any] = []
    for s in there:
        manifest = manifests.get(s.name)
        if manifest is not None and (manifest["home"], manifest["common"]) == (s.home, common):
            recorded(manifest, max_rank, out)
        else:
            made.append(state(s, max_rank, out))
    if record and cache.path is not None and not cache.read_only:
        for manifest in made:
            manifest |= depends(manifest["home"], homes, sources)
        # last of all: what was read until here is what there was before
        if read_sources() == sources and bytecode_is_current():
            for manifest in made:
                if manifest["home"]:
                    cache.put_manifest(manifest_name(manifest["section"], max_rank), manifest)
            if all(s.home for s in there):
                cache.put_manifest("plan", {"sections": [[s.name, s.home] for s in there], "common": common})
    return out


def state(section: Section, max_rank: int, out: Whole) -> Any:
    """State a section, and its manifest but for what it depends on."""
    from .catalogue import family_of, group_of, obligations_of

    texts: dict[str, int] = {}
    claims = []
    for name, claim in section.claims(max_rank):
        listed = Listed(name, family_of(claim), group_of(name, claim))
        owed = list(obligations_of(claim))
        if any((o.subject, o.family) != (name, listed.family) for o in owed):
            raise IndexproofError(f"{name} owes something in another name")
        out.claims.append(listed)
        out.obligations += owed
        claims.append(
            [
                name,
                listed.family,
                listed.group,
                [
                    [
                        o.kind,
                        o.question,
                        o.gate,
                        question_digest(o),
                        texts.setdefault(o.claim, len(texts)),
                        texts.setdefault(o.where, len(texts)),
                    ]
                    for o in owed
                ],
            ]
        )
    out.stated.append(section.name)
    return {"section": section.name, "home": section.home, "texts": list(texts), "claims": claims}


# -------------------------------------------------------------------------------------------------------- dependencies
def common_digest(sources: Mapping[str, str], homes: set[str]) -> str:
    """The digest of everything that is no home of claims below ``rules``, with the versions it runs on."""
    apart = {home for home in homes if home.startswith(_HOMES)} | {_ENGINE}
    h = hashlib.sha256(platform_text().encode())
    for path, digest in sources.items():
        if path not in apart:
            h.update(f"\0{path}\0{digest}".encode())
    return h.hexdigest()


def depends(home: str, homes: set[str], sources: Mapping[str, str]) -> dict[str, Any]:
    """Return the part of a manifest that lists the files it depends on."""
    return {
        "common": common_digest(sources, homes),
        "files": {path: sources.get(path) for path in reached(home, homes)},
    }


def reached(home: str, homes: set[str]) -> list[str]:
    """The homes below ``rules`` that a file is or imports, directly or through others of them, sorted."""
    found: set[str] = set()
    pending = [home] if home else []
    seen: set[str] = set()
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        if path.startswith(_HOMES):
            found.add(path)
        pending += (p for p in _imported(path) if p in homes and p.startswith(_HOMES))
    if home.startswith(_HOMES) and "/" not in home.removeprefix(_HOMES):
        # files of rules, or laws beside them; ops are in a folder of their own
        found.add(_ENGINE)
    return sorted(found)


def _imported(path: str) -> Iterator[str]:
    """The files that a file of the package may import, anywhere in its text."""
    package = path.split("/")[:-1]
    for node in ast.walk(ast.parse((ROOT / path).read_bytes())):
        names: list[list[str]] = []
        match node:
            case ast.Import(names=aliases):
                names = [a.name.split(".")[1:] for a in aliases if a.name.split(".")[0] == _PACKAGE]
            case ast.ImportFrom(module=module, names=aliases, level=level):
                words = (module or "").split(".") if module else []
                if level:
                    words = package[: len(package) - level + 1] + words
                elif words[:1] == [_PACKAGE]:
                    words = words[1:]
                else:
                    continue
                names = [words, *([*words, a.name] for a in aliases)]
            case ast.Constant(value=str(text)) if text.startswith((f"{_PACKAGE}.", ".")) and text.isprintable():
                # the name of a module that is imported by its name
                names = [text.lstrip(".").split("."), text.split(".")[1:]]
        for words in names:
            yield "/".join(words) + ".py"
