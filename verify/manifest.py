"""Manifests: claims of a source file, recorded in the cache, so that runs need not state them again (reports/trust.md).

A manifest lists the claims of one section of the catalogue (:class:`~.catalogue.Section`) and their obligations, by
name and by the digest of the question, with the digests of all files that these depend on.  It records questions, never
answers. A further manifest, the *plan*, lists the sections.

A process writes manifests only if it read all sources before it loaded any that state claims, and found them unchanged
afterwards.
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
#: Changes below this folder affect only the claims of the files that depend on the changed one.
_HOMES = "rules/"
#: The code generated from the rules.  Only the claims of the rules depend on it.
_ENGINE = "rules/compiled.py"
#: If one of these modules is loaded before the sources are read, the claims may be older than the sources.
_STATING = ("core.op", "core.rewrite", "rules.catalog", "rules.ops", "verify.catalogue")


@dataclass(frozen=True)
class Listed:
    """A claim in reports: its name, its family, and the op that it is an instance of, or else its own name."""

    name: str
    family: str
    group: str


@dataclass
class Whole:
    """The catalogue up to a rank: claims and obligations in order, and the sections without a valid manifest."""

    claims: list[Listed] = field(default_factory=list)
    obligations: list[Obligation] = field(default_factory=list)
    stated: list[str] = field(default_factory=list)


class Recorded(Obligation):
    """An obligation from a manifest, whose mathematics is stated on demand.

    ``place`` locates it: the section, the rank, the claim, and the index among its obligations.  Raises
    :class:`~indexproof.core.errors.IndexproofError` if the question there has changed.
    """

    def __init__(self, digest: str, place: tuple[str, int, str, int], **listed: object) -> None:
        # the class is frozen, and the fields that are stated on demand are properties
        self.__dict__.update(listed, _recorded=digest, _place=place)

    @property
    def recorded(self) -> str:
        """The digest of the question."""
        return str(self.__dict__["_recorded"])

    def in_full(self) -> Obligation:
        """Return the obligation in full."""
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
        # other processes have no manifests
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
    """Return the catalogue up to a rank, from valid manifests if possible, and record the rest in a writable cache."""
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
    """Return name and home of the sections, and the digest of all other files; no sections if the plan is stale."""
    match cache.manifest("plan"):
        case {"sections": [*listed], "common": str(common)} if all(
            isinstance(x, list) and [type(y) for y in x] == [str, str] for x in listed
        ):
            if common == common_digest(sources, {home for _, home in listed}):
                return [(name, home) for name, home in listed], common
    return [], ""


def sound_manifest(cache: Cache, name: str, home: str, max_rank: int, common: str, sources: Mapping[str, str]) -> Any:
    """Return the manifest in the cache, if it is valid for these sources."""
    match cache.manifest(manifest_name(name, max_rank)):
        case {"common": said, "files": {**files}, "home": at, "texts": [*_], "claims": [*_]} as manifest:
            same = all(sources.get(str(path)) == digest for path, digest in files.items())
            # a home that all manifests depend on is covered by the common digest
            if said == common and at == home and (home in files or not home.startswith(_HOMES)) and same:
                return manifest
    return None


def manifest_name(section: str, max_rank: int) -> str:
    """Return the name under which the manifest of a section is stored."""
    return f"{section}, rank {max_rank}"


def recorded(manifest: Any, max_rank: int, out: Whole) -> None:
    """Add the claims and obligations of a manifest to ``out``."""
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
        # check last that the sources are still the ones that were read at the start
        if read_sources() == sources and bytecode_is_current():
            for manifest in made:
                if manifest["home"]:
                    cache.put_manifest(manifest_name(manifest["section"], max_rank), manifest)
            if all(s.home for s in there):
                cache.put_manifest("plan", {"sections": [[s.name, s.home] for s in there], "common": common})
    return out


def state(section: Section, max_rank: int, out: Whole) -> Any:
    """State the claims of a section, and return its manifest without the dependencies."""
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
    """Return the digest of all files that are not homes of claims below ``rules``, and of the platform's versions."""
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
    """Return, sorted, the homes below ``rules`` that a file is or imports, directly or through other homes."""
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
        # files of rules and laws depend on the generated code; ops, in a folder of their own, do not
        found.add(_ENGINE)
    return sorted(found)


def _imported(path: str) -> Iterator[str]:
    """Yield the files of the package that a file may import, anywhere in its text."""
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
                # a string that may be the name of a module to import
                names = [text.lstrip(".").split("."), text.split(".")[1:]]
        for words in names:
            yield "/".join(words) + ".py"
