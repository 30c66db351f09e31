"""Faults in the cache: entries and files are changed, moved, truncated and damaged."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from indexproof.verify.cache import FORMAT, Cache, content_key
from indexproof.verify.obligation import Obligation
from indexproof.verify.recheck import is_example
from indexproof.verify.solve import decide
from indexproof.verify.verdict import Status, Verdict

from .bank import BUDGET, FALSE_CLAIMS, TRUE_CLAIMS, obligations, x
from .fault import Batch, Fault

__all__ = ["cache_entry_cases", "cache_file_cases", "without_secret_from_outside"]

#: A false claim whose counterexample is not among the points that are evaluated when an entry is read.
_FAR = ("far from zero", (), x.ne(100_003))


@cache
def _kept() -> list[tuple[Obligation, Verdict]]:
    """Return claims with their verdicts: true ones, false ones, and claims of existence."""
    found = [*obligations(TRUE_CLAIMS, "true"), *obligations((*FALSE_CLAIMS, _FAR), "false")]
    found += [
        replace(o, kind="exists", question="exists", subject=f"{o.subject}, somewhere")
        for o in obligations(FALSE_CLAIMS, "false")
    ]
    return [(o, decide(o, BUDGET)) for o in found]


class _Store:
    """A cache file with verdicts, and the means to tamper with it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "verdicts.sqlite"
        self.kept = _kept()
        self.keys = [content_key(o, BUDGET) for o, _ in self.kept]
        with Cache(self.path) as cache:
            for key, (_, v) in zip(self.keys, self.kept, strict=True):
                cache.put(key, v)
        db = sqlite3.connect(self.path, isolation_level=None)
        # split pages contain stale copies of entries, whose damage has no effect
        db.execute("VACUUM")
        self.rows: dict[str, tuple[str, str]] = {
            k: (body, seal) for k, body, seal in db.execute("SELECT * FROM entries")
        }
        db.close()
        self.secret = bytes.fromhex((folder / "verdicts.sqlite.key").read_text("ascii"))

    def sealed(self, key: str, body: str, secret: bytes | None = None) -> str:
        """Return the seal of an entry with the right secret or another one."""
        text = f"indexproof {FORMAT}\0{key}\0{body}".encode()
        return hmac.new(self.secret if secret is None else secret, text, "sha256").hexdigest()

    def with_row(self, key: str, body: str, seal: str) -> None:
        db = sqlite3.connect(self.path)
        with db:
            db.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", (key, body, seal))
        db.close()

    def restored(self, key: str) -> None:
        self.with_row(key, *self.rows[key])


def _turned(body: dict[str, Any]) -> dict[str, Any]:
    """Return the entry with the opposite verdict."""
    if body["status"] == "PROVED":
        return {**body, "status": "REFUTED", "witness": body["witness"] or {"x": 0}}
    return {**body, "status": "PROVED", "witness": None, "strategy": "linear"}


def _entry_tamperings(s: _Store, k: int) -> Iterator[tuple[str, str, str, bool]]:
    """Yield faults of entry ``k``: the kind, body and seal, and whether only a recheck notices it."""
    key = s.keys[k]
    text, seal = s.rows[key]
    body = json.loads(text)
    turned = json.dumps(_turned(body), sort_keys=True)
    yield "verdict turned round", turned, seal, False
    yield (
        "verdict turned round, digest as seal",
        turned,
        hashlib.sha256(f"{key}\0{turned}".encode()).hexdigest(),
        False,
    )
    yield "verdict turned round, sealed with another secret", turned, s.sealed(key, turned, b"guess"), False
    other, its_seal = s.rows[s.keys[(k + 1) % len(s.keys)]]
    yield "entry of another claim", other, its_seal, False
    yield "seal of another entry", text, its_seal, False
    o, v = s.kept[k]
    other_field = json.dumps({**body, "prover": "0" * 64}, sort_keys=True)
    yield "another field, sealed with the secret", other_field, s.sealed(key, other_field), False
    if v.witness:
        no_point = json.dumps({**body, "witness": {name: n + 0.5 for name, n in v.witness.items()}}, sort_keys=True)
        yield "an example of fractions, sealed with the secret", no_point, s.sealed(key, no_point), False
    yield "truncated", text[: len(text) // 2], seal, False
    yield "truncated, sealed with the secret", text[:-1], s.sealed(key, text[:-1]), False
    yield "a character changed", text.replace('"resources": ', '"resources": 1', 1), seal, False
    if v.witness:
        wrong = {name: value + 10_007 for name, value in v.witness.items()}
        if not is_example(o, wrong):
            moved = json.dumps({**body, "witness": wrong}, sort_keys=True)
            yield "wrong example, sealed with the secret", moved, s.sealed(key, moved), False
    if v.status is Status.PROVED and o.question == "valid":
        lie = json.dumps({**body, "status": "REFUTED", "witness": {}}, sort_keys=True)
        yield "forged refutation, sealed with the secret", lie, s.sealed(key, lie), False
    if v.status is Status.REFUTED:
        far = o.subject == _FAR[0]
        kind = "far away" if far else "near zero"
        yield f"forged proof of what fails {kind}, sealed with the secret", turned, s.sealed(key, turned), far
        same = json.dumps({**_turned(body), "strategy": "identity"}, sort_keys=True)
        yield "forged identity, sealed with the secret", same, s.sealed(key, same), False


def cache_entry_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of changed entries, some sealed with the right secret."""
    from indexproof.verify.proving import prove_all

    with TemporaryDirectory() as folder, without_secret_from_outside():
        s = _Store(Path(folder))
        for k, (o, honest) in enumerate(s.kept):
            for kind, body, seal, recheck in _entry_tamperings(s, k):
                if (body, seal) == s.rows[s.keys[k]]:
                    continue
                s.with_row(s.keys[k], body, seal)
                with Cache(s.path, read_only=recheck) as cache:
                    if recheck:
                        run = prove_all([o], jobs=1, budget=BUDGET, cache=cache, recheck=1.0)
                        right = run.results[0].verdict == honest and run.refused_cache_entries == {"untrue": 1}
                        noticed = "proved again" if right else ""
                    else:
                        found = cache.get(s.keys[k], o)
                        noticed = next(iter(cache.refused), "") if found is None else ""
                yield Fault("cache entry", f"{kind}: {o.subject}", noticed)
                s.restored(s.keys[k])


def cache_file_cases(task: Batch) -> Iterator[Fault]:
    """Yield the cases of damaged or truncated files."""
    with TemporaryDirectory() as folder, without_secret_from_outside():
        s = _Store(Path(folder))
        whole = s.path.read_bytes()
        spoiled: list[tuple[str, bytes]] = [
            (f"truncated to {size:,} bytes", whole[:size]) for size in range(1, len(whole) * 3 // 4, len(whole) // 40)
        ]
        for k, key in enumerate(s.keys):
            at = whole.find(s.rows[key][0].encode())
            if at >= 0:
                place = at + 7 * k % len(s.rows[key][0])
                spoiled.append((f"byte {place:,} damaged", _flipped(whole, place)))
        spoiled += [
            ("header damaged", _flipped(whole, 3)),
            ("no database", b"verdicts: all proved\n" * 500),
            ("empty", b""),
            ("zeros", bytes(len(whole))),
        ]
        for name, data in spoiled:
            for suffix in ("-wal", "-shm", ".damaged", ".lock"):
                with suppress(FileNotFoundError):
                    Path(f"{s.path}{suffix}").unlink()
            s.path.write_bytes(data)
            with Cache(s.path) as cache:
                found = [cache.get(key, o) for key, (o, _) in zip(s.keys, s.kept, strict=True)]
                wrong = sum(v is not None and v != honest for v, (_, honest) in zip(found, s.kept, strict=True))
                lost = sum(v is None for v in found)
                noticed = next(iter(cache.refused), "nothing is there") if lost and not wrong else ""
            yield Fault("cache file", name, noticed)


def _flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0x15]) + data[at + 1 :]


@contextmanager
def without_secret_from_outside() -> Iterator[None]:
    """Use the secret beside the file and ignore the one in the environment."""
    from indexproof.verify.cache import KEY_VARIABLE

    before = os.environ.pop(KEY_VARIABLE, None)
    try:
        yield
    finally:
        if before is not None:
            os.environ[KEY_VARIABLE] = before
