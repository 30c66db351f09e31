"""Verdicts on disk: a SQLite file keyed by the content of the obligation (reports/trust.md, "The cache").

The key is a digest of the obligation in canonical form (its mathematics, not its name), the question, the budget, the
versions of solver and interpreter and the text of the prover itself.  A change to any of them asks again.

Every entry is sealed: a message authentication code over the version of the format, key and content, whose secret is not
in the file.  An entry is proved again if it is damaged, truncated, altered, or moved to another key.  On reading,
counterexamples and examples are evaluated, and proofs are tested at small points (:mod:`.recheck`).

Many processes may use the file at once.  A process that is killed loses only what it had not committed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import stat
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .budget import Budget
from .obligation import Obligation, has_form
from .sources import prover_digest
from .verdict import Opinion, Status, Verdict

if TYPE_CHECKING:
    from ..core.condition import Condition

#: The version of the file format.
FORMAT = 5
#: The environment variable that holds the secret, for machines that share a cache.
KEY_VARIABLE = "INDEXPROOF_CACHE_KEY"

#: Why an entry, or the whole file, is not trusted.  Two reasons are not damage: ``locked`` (another process kept the
#: lock) and ``unusable`` (the disk is full, or the system refuses the file for another reason).
Refusal = Literal["unreadable", "altered", "outdated", "untrue", "locked", "unusable"]

#: How long to wait for the lock of another process.
_SECONDS = 30
_SECRET_BYTES = 32
#: Limit on the entries read with one query.
_BATCH = 500
#: Prefix of the keys of manifests; the digests that are the keys of verdicts never begin with it.
_MANIFEST = "manifest "


@lru_cache(maxsize=1 << 16)
def _condition_digest(c: Condition) -> bytes:
    # memoized, because the same conditions occur in many obligations
    from .canonical import condition_text

    return hashlib.sha256(condition_text(c).encode()).digest()


def question_digest(o: Obligation) -> str:
    """Return the digest of the question: its mathematics without its name, and the fields that select strategies."""
    # kind, gate and width decide which strategies run and what a failure is called
    h = hashlib.sha256(f"{o.question}\0{o.kind}\0{o.gate, o.width}\0".encode())
    if o.source:
        # digest the statement in its own language, which determines its translation
        h.update(o.source.encode() + b"\2")
    else:
        for c in (*o.hypotheses, o.goal, *(c for way in o.ways() for c in (way.premise, *way.steps, way.target))):
            h.update(_condition_digest(c))
    return h.hexdigest()


@lru_cache(maxsize=16)
def _asked_by(budget: Budget, confirm: str) -> bytes:
    return "\0".join((prover_digest(), repr(budget), confirm, "")).encode()


def content_key(o: Obligation, budget: Budget, confirm: str = "") -> str:
    """Return the key of the verdict on ``o``; ``confirm`` is the confirming solver with its version."""
    asked = (o.recorded or question_digest(o)).encode()
    return hashlib.sha256(_asked_by(budget, confirm) + asked).hexdigest()


# ------------------------------------------------------------------------------------------------------------ the file
class _WrongFormat(Exception):
    """Raised for a database of another application, or of another version."""


def default_cache() -> Path | None:
    """Return ``$INDEXPROOF_CACHE``, or a file in the user's cache folder; ``None`` for ``off`` or without a home."""
    named = os.environ.get("INDEXPROOF_CACHE")
    if named:
        return None if named == "off" else Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(base).expanduser() / "indexproof" / "verdicts.sqlite"
    except RuntimeError:  # a user unknown to the system, as in many containers
        return None


class Cache:
    """A verdict store; use as a context manager.

    ``path`` may be ``None`` (store nothing).  Raises nothing for a damaged file: it is set aside and begun again (left
    alone with ``read_only``), and ``refused`` counts by reason what was not trusted.  ``secret`` is by default
    ``$INDEXPROOF_CACHE_KEY``, or else the content of a file beside the cache that only its owner can read.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False, secret: bytes | None = None) -> None:
        self.path = path
        self.read_only = read_only
        self.refused: Counter[Refusal] = Counter()
        self.hits = 0
        #: the number of verdicts that could not be written
        self.unkept = 0
        #: the last error message of the system on reading or writing
        self.trouble = ""
        #: the new path of a file that could not be read
        self.set_aside: Path | None = None
        self._db: sqlite3.Connection | None = None
        self._secret = b""
        if path is None:
            return
        if not read_only or path.exists():
            try:
                self._db = self._connect(path)
            except (sqlite3.Error, OSError, _WrongFormat) as error:
                self._recover(error)
        self._secret = secret or _secret_of(path, read_only=read_only)

    @property
    def damaged(self) -> int:
        """The number of entries that were not trusted; a file that is not a cache counts as one."""
        return self.refused.total() - self.refused["locked"] - self.refused["unusable"]

    # -- opening
    def _connect(self, path: Path) -> sqlite3.Connection:
        place = f"{path.resolve().as_uri()}?mode={'ro' if self.read_only else 'rwc'}"
        if self.read_only:
            # without a log the file is complete and can be opened immutable, so that SQLite writes nothing beside it; a
            # writer may make it unreadable, but not wrong, because every entry is sealed
            log = path.with_name(path.name + "-wal")
            place += "" if log.exists() and log.stat().st_size else "&immutable=1"
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(place, uri=True, timeout=_SECONDS, isolation_level=None)
        try:
            if not self.read_only:
                _prepare(db)
            # only tables are accepted, because a view or a trigger may compute forever
            if _format_of(db) != FORMAT or db.execute("SELECT 1 FROM sqlite_master WHERE type != 'table'").fetchone():
                raise _WrongFormat
            db.execute("SELECT key, body, seal FROM entries LIMIT 1").fetchone()
        except BaseException:
            db.close()
            raise
        return db

    def _recover(self, error: Exception) -> None:
        """Set aside a file that is damaged or of another format, unless another process has done so already."""
        assert self.path is not None
        path = self.path
        self._close()
        self.refused[_reason(error)] += 1
        self.trouble = _said(error)
        if self.read_only or not _hopeless(error):
            return
        with suppress(sqlite3.Error, OSError, _WrongFormat), _locked(path):
            try:
                self._db = self._connect(path)
                self._db.execute("SELECT count(*) FROM entries").fetchone()
                if self._db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",):
                    return
                self._close()
            except (sqlite3.Error, _WrongFormat) as again:
                self._close()
                if not _hopeless(again):
                    return
            for suffix in ("-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            self.set_aside = path.replace(path.with_name(path.name + ".damaged"))
            self._db = self._connect(path)

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *exc: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.close()
            self._db = None

    # -- entries
    def get(self, key: str, o: Obligation | None = None) -> Verdict | None:
        """Return the verdict stored under ``key``, or ``None`` if none can be trusted.

        Given the obligation ``o``, the verdict is also evaluated (:func:`~indexproof.verify.recheck.believable`).
        """
        return self.get_all([(key, o)])[0]

    def get_all(self, asked: Iterable[tuple[str, Obligation | None]]) -> list[Verdict | None]:
        """Return the verdicts for many keys and obligations at once, in order, as :meth:`get` does."""
        out: list[Verdict | None] = []
        left = iter(asked)
        while part := list(islice(left, _BATCH)):
            bodies = self._bodies([key for key, _ in part])
            out += [self._believed(bodies[key], o) if key in bodies else None for key, o in part]
        return out

    def manifest(self, name: str) -> Any:
        """Return the JSON stored under ``name`` (:mod:`.manifest`), or ``None`` if none can be trusted."""
        key = _MANIFEST + name
        try:
            return json.loads(self._bodies([key]).get(key, "null"))
        except (ValueError, RecursionError):
            self.refused["unreadable"] += 1
            return None

    def put(self, key: str, v: Verdict) -> None:
        """Store ``v``, also if it is undecided; verdicts ``NOT_CHECKED`` are not stored."""
        if self.path is None or self.read_only or v.status is Status.NOT_CHECKED:
            return
        if not self._write(key, _written(v)):
            self.unkept += 1

    def put_manifest(self, name: str, content: Any) -> None:
        """Store ``content`` under ``name`` and replace the old content."""
        if not self.read_only:
            self._write(_MANIFEST + name, json.dumps(content, ensure_ascii=False, separators=(",", ":")))

    def _bodies(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the entries under ``keys`` whose seals match, without the others."""
        if self._db is None:
            return {}
        query = f"SELECT key, body, seal FROM entries WHERE key IN ({','.join('?' * len(keys))})"
        try:
            rows = self._db.execute(query, keys).fetchall()
        except sqlite3.Error as error:
            self._recover(error)
            return {}
        found = {}
        for key, body, seal in rows:
            if not (isinstance(body, str) and isinstance(seal, str) and seal.isascii()):
                self.refused["unreadable"] += 1
            elif not hmac.compare_digest(seal, self._seal(key, body)):
                self.refused["altered"] += 1
            else:
                found[key] = body
        return found

    def _seal(self, key: str, body: str) -> str:
        text = f"indexproof {FORMAT}\0{key}\0{body}"
        return hmac.digest(self._secret, text.encode("utf-8", "surrogatepass"), "sha256").hex()

    def _believed(self, body: str, o: Obligation | None) -> Verdict | None:
        try:
            found = _read(body)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.refused["unreadable"] += 1
            return None
        if o is not None and not _possible(o, found):
            self.refused["untrue"] += 1
            return None
        self.hits += 1
        return found

    def _write(self, key: str, body: str) -> bool:
        """Write an entry and return whether that succeeded."""
        if self._db is None:
            return False
        try:
            self._db.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", (key, body, self._seal(key, body)))
        except sqlite3.Error as error:
            self.trouble = _said(error)
            if _hopeless(error):
                self._recover(error)
            return False
        return True


def _possible(o: Obligation, v: Verdict) -> bool:
    """Return whether ``v`` may be a verdict on ``o``.

    If ``o`` is only recorded, the seal vouches for examples and proofs.  A verdict that fails the run is evaluated in
    any case.
    """
    if o.recorded and not (o.gate and v.status in (Status.REFUTED, Status.UNDEFINED)):
        return has_form(o, v)
    from .recheck import believable

    return believable(o.in_full(), v)


# ----------------------------------------------------------------------------------------------------------- databases
def _prepare(db: sqlite3.Connection) -> None:
    """Make an empty file a cache.  Raises :class:`_WrongFormat` for a foreign file, without writing to it."""
    # in one transaction, because another process may initialize the file at the same time
    db.execute("BEGIN")
    if _format_of(db) != FORMAT and not _is_empty(db):
        raise _WrongFormat
    db.execute("COMMIT")
    # WAL mode lets readers and a writer use the file at once; if another process is switching to it too, SQLite reports
    # a lock without waiting, to avoid a deadlock, so wait here
    end = time.monotonic() + _SECONDS
    while True:
        try:
            db.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.Error as error:
            if not _is_lock(error) or time.monotonic() >= end:
                raise
            time.sleep(0.01)
    # a killed process loses nothing that it has committed; a power failure may lose commits, but does not corrupt the
    # file
    db.execute("PRAGMA synchronous=NORMAL")
    if _format_of(db) == 0:
        db.execute("BEGIN IMMEDIATE")
        if _is_empty(db):
            db.execute(
                "CREATE TABLE entries (key TEXT PRIMARY KEY, body TEXT NOT NULL, seal TEXT NOT NULL) WITHOUT ROWID"
            )
            db.execute(f"PRAGMA user_version={FORMAT}")
        db.execute("COMMIT")


def _format_of(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _is_empty(db: sqlite3.Connection) -> bool:
    return _format_of(db) == 0 and not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()


#: SQLite's error codes for a file that is damaged or not a database; others (a lock, a full disk) are transient.
_DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _code(error: Exception) -> int:
    # the low byte is the primary code; an error that is not SQLite's has none
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _hopeless(error: Exception) -> bool:
    return isinstance(error, _WrongFormat) or _code(error) in _DAMAGE


def _is_lock(error: Exception) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _reason(error: Exception) -> Refusal:
    if isinstance(error, _WrongFormat):
        return "outdated"
    if _is_lock(error):
        return "locked"
    return "unreadable" if _code(error) in _DAMAGE else "unusable"


def _said(error: Exception) -> str:
    """Return the message of an error of the system or of SQLite, without numbers and paths."""
    return (error.strerror if isinstance(error, OSError) else str(error)) or type(error).__name__


# ---------------------------------------------------------------------------------------------------------- the secret
#: Flags that refuse to follow a symbolic link, which somebody may have planted in place of the file.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock out other processes, if the system can lock files.  Raises :class:`OSError` if there is no file to lock."""
    file = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | _NO_LINK, 0o600)
    try:
        with suppress(ImportError):
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _secret_of(path: Path, *, read_only: bool) -> bytes:
    """Return the secret of a cache, from the environment or from the file beside it, which is created if needed.

    If there is none, return a random secret, which matches no seal.
    """
    given = os.environ.get(KEY_VARIABLE)
    if given:
        return hashlib.sha256(given.encode("utf-8", "surrogateescape")).digest()
    place = path.with_name(path.name + ".key")
    found = _secret_in(place)
    if found is None and not read_only:
        draft = place.with_name(f"{place.name}.{secrets.token_hex(4)}")
        # OSError: the name is too long, the lock file is a planted link, or the file system refuses to write
        with suppress(OSError), _locked(path):
            found = _secret_in(place)  # another process may have made it meanwhile
            if found is None:
                try:
                    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as f:
                        f.write(secrets.token_hex(_SECRET_BYTES))
                    os.replace(draft, place)
                finally:
                    draft.unlink(missing_ok=True)
                found = _secret_in(place)
    return found or secrets.token_bytes(_SECRET_BYTES)


def _secret_in(place: Path) -> bytes | None:
    """Return the secret in a file that belongs to this user and that nobody else can read or write; else ``None``."""
    try:
        with open(os.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _NO_LINK), "rb") as f:
            about = os.fstat(f.fileno())
            theirs = hasattr(os, "geteuid") and (about.st_uid != os.geteuid() or about.st_mode & 0o077)
            if theirs or not stat.S_ISREG(about.st_mode):
                return None
            found = bytes.fromhex(f.read(2 * _SECRET_BYTES + 1).decode("ascii"))
    except (OSError, ValueError):
        return None
    return found if len(found) == _SECRET_BYTES else None


# ------------------------------------------------------------------------------------------------------------ one entry
def _written(v: Verdict) -> str:
    return json.dumps({**asdict(v), "seconds": round(v.seconds, 6)}, sort_keys=True)


def _read(body: str) -> Verdict:
    """Return the verdict of an entry.  Raises :class:`ValueError`, :class:`KeyError` or :class:`TypeError` for others."""
    fields = json.loads(body)
    witness, opinion = fields["witness"], fields["opinion"]
    if witness is not None and {*map(type, witness.values())} - {int}:
        raise ValueError("a witness is a point of integers")
    fields |= {"status": Status(fields["status"]), "tried": tuple(fields["tried"])}
    return Verdict(**{**fields, "opinion": None if opinion is None else Opinion(**opinion)})
