"""Faults in manifests, and in the files that they depend on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from indexproof.verify.cache import Cache
from indexproof.verify.catalogue import sections
from indexproof.verify.manifest import Whole, common_digest, depends, manifest_name, sound_manifest, state
from indexproof.verify.sources import read_sources

from .cached import without_secret_from_outside
from .fault import Batch, Fault

__all__ = ["manifest_cases"]


def manifest_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of changed, moved or truncated manifests, and of changed files that a manifest depends on."""
    sources, there = read_sources(), sections()
    homes = {s.home for s in there}

    def sound(cache: Cache, name: str, now: Mapping[str, str]) -> bool:
        home = next(s.home for s in there if s.name == name)
        return sound_manifest(cache, name, home, 0, common_digest(now, homes), now) is not None

    with TemporaryDirectory() as folder, without_secret_from_outside():
        path = Path(folder) / "verdicts.sqlite"
        with Cache(path) as cache:
            for s in there[:3]:
                cache.put_manifest(manifest_name(s.name, 0), state(s, 0, Whole()) | depends(s.home, homes, sources))
            db = sqlite3.connect(path, isolation_level=None)
            rows = db.execute("SELECT key, body, seal FROM entries ORDER BY key").fetchall()
            for k, (key, body, seal) in enumerate(rows):
                name = key.removeprefix("manifest ")
                section = name.removesuffix(", rank 0")
                if not sound(cache, section, sources):
                    yield Fault("manifest", f"left alone: {name}", "")
                _, other, its_seal = rows[(k + 1) % len(rows)]
                manifest = json.loads(body)
                spoiled = {
                    "a claim less": (json.dumps({**manifest, "claims": manifest["claims"][1:]}), seal),
                    "an obligation less": (json.dumps({**manifest, "claims": _less(manifest["claims"])}), seal),
                    "gates opened": (body.replace("true", "false"), seal),
                    "other files": (json.dumps({**manifest, "files": {}}), seal),
                    "the manifest of another section": (other, its_seal),
                    "the seal of another section": (body, its_seal),
                    "sealed with another secret": (body, seal[::-1]),
                    **{f"cut off after {n:,}": (body[:n], seal) for n in range(0, len(body), len(body) // 8)},
                }  # fmt: skip
                for how, (text, mark) in spoiled.items():
                    db.execute("UPDATE entries SET body = ?, seal = ? WHERE key = ?", (text, mark, key))
                    before = cache.damaged
                    believed = sound(cache, section, sources)
                    noticed = "" if believed or cache.damaged == before else "the seal"
                    yield Fault("manifest", f"{how}: {name}", noticed)
                    db.execute("UPDATE entries SET body = ?, seal = ? WHERE key = ?", (body, seal, key))
                # the manifest depends on every file but the homes of other claims and the engine compiled from them
                apart = {f for f in {*homes, "rules/compiled.py"} - set(manifest["files"]) if f.startswith("rules/")}
                for file in [f for f in sources if f not in apart][k :: len(rows)]:
                    changed = {**sources, file: "0" * 64}
                    removed = {f: d for f, d in sources.items() if f != file}
                    believed = sound(cache, section, changed) or sound(cache, section, removed)
                    yield Fault("manifest", f"{file} changed or removed: {name}", "" if believed else "its digest")
            db.close()


def _less(claims: list[Any]) -> list[Any]:
    *rest, (name, family, group, owed) = claims
    return [*rest, [name, family, group, owed[1:]]]
