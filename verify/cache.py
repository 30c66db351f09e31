"""Verdicts on disk: a SQLite file keyed by the content of the obligation.

The key is a digest of the obligation in canonical form (its mathematics, not its name), the question, the budget, the
solver's version and the text of the prover itself, so editing any of them asks again.  Every entry carries a digest of
itself; a damaged, truncated or altered one is noticed, reported and proved again.  A cached answer is as trustworthy as
the file it came from: ``--no-cache`` and ``--read-only-cache`` exist for those who do not want to rely on it.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from functools import lru_cache
from pathlib import Path

import z3

from ..core.condition import Condition
from ..core.expr import Int, Sum, Var, postorder
from .obligations import Obligation
from .solve import Budget
from .verdict import Status, Verdict

__all__ = ["Cache", "content_key"]


@lru_cache(maxsize=1)
def prover_digest() -> str:
    """A digest of the prover's own source and the solver's version."""
    here = Path(__file__).resolve().parent
    h = hashlib.sha256(z3.get_version_string().encode())
    core = here.parent / "core"
    sources = [*sorted(here.rglob("*.py")), core / "expr.py", core / "condition.py"]
    for path in sources:
        h.update(path.name.encode())
        h.update(path.read_bytes())
    return h.hexdigest()


def _expression_text(c: Condition) -> str:
    from ..core.condition import all_exprs

    at: dict[object, int] = {}
    lines: list[str] = []
    roots = all_exprs(c)
    for node in postorder(*roots):
        match node:
            case Int():
                line = f"i{node.value}"
            case Var():
                line = f"v{node.kind}:{node.name}"
            case Sum():
                line = f"s{node.const};" + ";".join(f"{at[t]}*{k}" for t, k in node.terms)
            case _:
                line = f"{type(node).__name__};" + ";".join(str(at[k]) for k in node.children)
        at[node] = len(lines)
        lines.append(line)
    return "\n".join(lines) + "\n" + _shape(c, at)


def _shape(c: Condition, at: dict[object, int]) -> str:
    own = ",".join(str(at[e]) for e in c.exprs())
    label = getattr(c, "op", getattr(c, "value", ""))
    return f"{type(c).__name__}[{label}]({own};{'|'.join(_shape(p, at) for p in c.parts())})"


def content_key(o: Obligation, budget: Budget) -> str:
    """The digest under which the verdict on ``o`` is kept."""
    h = hashlib.sha256()
    # kind, gate and width decide which strategies run and what a failure is called
    for part in (prover_digest(), o.question, o.kind, repr((o.gate, o.width)), repr(budget)):
        h.update(part.encode() + b"\0")
    if o.source:
        # in its own words; what it says in the core language follows from them
        h.update(o.source.encode() + b"\2")
        return h.hexdigest()
    for c in (*o.hypotheses, o.goal):
        h.update(_expression_text(c).encode() + b"\1")
    return h.hexdigest()


class Cache:
    """A verdict store; use as a context manager.

    ``path`` may be ``None`` (remember nothing).  Raises nothing for a damaged file: it is set aside and begun again,
    and ``damaged`` counts what was found wrong.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self.damaged = 0
        self.hits = 0
        self._db: sqlite3.Connection | None = None
        if path is not None:
            self._open(path)

    def _open(self, path: Path) -> None:
        if self.read_only and not path.exists():
            return
        try:
            self._db = self._connect(path)
        except (sqlite3.Error, OSError):
            self.damaged += 1
            if self.read_only:
                return
            try:
                path.replace(path.with_suffix(".damaged"))
                self._db = self._connect(path)
            except (sqlite3.Error, OSError):
                self._db = None

    def _connect(self, path: Path) -> sqlite3.Connection:
        if self.read_only:
            db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
            db.execute("SELECT key FROM verdicts LIMIT 1")
            return db
        path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, timeout=30)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(
            "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY, body TEXT NOT NULL, seal TEXT NOT NULL)"
        )
        db.commit()
        return db

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    @staticmethod
    def _seal(key: str, body: str) -> str:
        return hashlib.sha256(f"{key}\0{body}\0{prover_digest()}".encode()).hexdigest()

    def get(self, key: str) -> Verdict | None:
        """The verdict kept under ``key``, or ``None`` if there is none that can be believed."""
        if self._db is None:
            return None
        try:
            row = self._db.execute("SELECT body, seal FROM verdicts WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error:
            self.damaged += 1
            return None
        if row is None:
            return None
        body, seal = row
        if seal != self._seal(key, body):
            self.damaged += 1
            return None
        try:
            v = json.loads(body)
            found = Verdict(
                Status(v["status"]),
                v["strategy"],
                v["resources"],
                v["witness"],
                tuple(v["tried"]),
                v["detail"],
                v["seconds"],
            )
        except (ValueError, KeyError, TypeError):
            self.damaged += 1
            return None
        self.hits += 1
        return found

    def put(self, key: str, v: Verdict) -> None:
        """Keep ``v``; a verdict that was not reached is not kept."""
        if self._db is None or self.read_only or v.status in (Status.NOT_CHECKED, Status.UNDECIDED):
            return
        body = json.dumps(
            {
                "status": v.status.value,
                "strategy": v.strategy,
                "resources": v.resources,
                "witness": dict(v.witness) if v.witness is not None else None,
                "tried": list(v.tried),
                "detail": v.detail,
                "seconds": round(v.seconds, 6),
            },
            sort_keys=True,
        )
        try:
            with self._db:
                self._db.execute(
                    "INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?)", (key, body, self._seal(key, body))
                )
        except sqlite3.Error:
            self.damaged += 1
