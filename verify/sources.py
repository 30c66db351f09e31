"""Digests of the program: the bytes of its sources and the versions of the packages that it runs on.

Modification times are not believed.  Nothing is loaded to find a version: it is read from the metadata of the installed
distribution, so that neither a solver nor numpy is imported before it is used.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import cache_from_source, find_spec
from pathlib import Path

#: The folder of the package.
ROOT = Path(__file__).resolve().parents[1]
#: The layers that say what is claimed and how it is proved.
_LAYERS = ("core", "rules", "verify")
#: Compiled modules are found before the sources beside them.
_SUFFIXES = (".py", ".so", ".pyd")
_CORE_OF_PROVER = tuple(f"core/{name}.py" for name in ("expr", "condition", "notation"))


def read_sources(root: Path = ROOT) -> dict[str, str]:
    """The digest of every file with code that what is claimed and proved may depend on, by its path below the package.

    Read anew with every call.
    """
    found: dict[str, str] = {}
    places = [root / "__init__.py"]
    for layer in _LAYERS:
        places += (p for p in (root / layer).rglob("*") if p.suffix in _SUFFIXES)
    for path in sorted(places):
        found[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def bytecode_is_current(root: Path = ROOT) -> bool:
    """Whether compiled bytecode beside the sources is what the sources say.

    Python believes bytecode by the size of the source and the second in which it was last changed, so an edit in the
    second in which the bytecode was written may pass unseen.  Only such files are compiled here, to compare.
    """
    for layer in _LAYERS:
        for path in (root / layer).rglob("*.py"):
            place = Path(cache_from_source(str(path)))
            try:
                written, changed = int(place.stat().st_mtime), int(path.stat().st_mtime)
            except OSError:
                continue
            if changed < written:
                continue
            data = place.read_bytes()
            flags, second, size = (int.from_bytes(data[k : k + 4], "little") for k in (4, 8, 12))
            now = path.read_bytes()
            if flags == 0 and (second, size) != (changed & 0xFFFFFFFF, len(now) & 0xFFFFFFFF):
                continue  # nobody believes it
            try:
                known = marshal.loads(data[16:])
            except (EOFError, ValueError, TypeError):
                continue  # nobody can read it
            if known != compile(now, str(path), "exec", dont_inherit=True):
                return False
    return True


@lru_cache(maxsize=1)
def first_read() -> Mapping[str, str]:
    """Return the result of the first :func:`read_sources` of this process, whose prover does not change while it runs."""
    return read_sources()


def platform_text() -> str:
    """The interpreter, and what of numpy a number may depend on."""
    v = sys.version_info
    return f"{sys.implementation.name} {v.major}.{v.minor}.{v.micro} numpy {version_of('numpy')}"


@lru_cache(maxsize=1)
def prover_digest() -> str:
    """A digest of the prover's own source and of the versions that verdicts and resource counts may depend on."""
    v = sys.version_info
    versions = (version_of("z3", "z3-solver"), version_of("numpy"), str(v.major), str(v.minor))
    h = hashlib.sha256("\0".join(versions).encode())
    for name, digest in first_read().items():
        if name.startswith("verify/") or name in _CORE_OF_PROVER:
            h.update(f"\0{name}\0{digest}".encode())
    return h.hexdigest()


@lru_cache(maxsize=8)
def version_of(module: str, distribution: str = "") -> str:
    """The version of an installed package: what its distribution says beside it, or else what it says itself."""
    stem = (distribution or module).replace("-", "_").lower()
    spec = find_spec(module)
    # z3 may be told to load a library that no distribution speaks of
    if spec is not None and spec.origin and "Z3_LIBRARY_PATH" not in os.environ:
        around = Path(spec.origin).parent.parent
        stated = [
            p.name[len(stem) + 1 : -len(".dist-info")]
            for p in around.glob("*.dist-info")
            if p.name.lower().startswith(f"{stem}-")
        ]
        if len(stated) == 1:
            return stated[0]
    from importlib import import_module

    found = import_module(module)
    ask = getattr(found, "get_version_string", None)
    return str(ask() if ask is not None else found.__version__)
