"""Digests of the program: the bytes of its sources and the versions of the packages it runs on.

Modification times are not trusted.  Versions are read from the metadata of installed distributions, so that neither a
solver nor numpy is imported before it is used.
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
#: The layers that define the claims and their proofs.
_LAYERS = ("core", "rules", "verify")
#: Compiled modules take precedence over the sources beside them.
_SUFFIXES = (".py", ".so", ".pyd")
_CORE_OF_PROVER = tuple(f"core/{name}.py" for name in ("expr", "condition", "notation"))


def read_sources(root: Path = ROOT) -> dict[str, str]:
    """Return the digest of every code file that claims and proofs may depend on, by its path below the package.

    The files are read anew with every call.
    """
    found: dict[str, str] = {}
    places = [root / "__init__.py"]
    for layer in _LAYERS:
        places += (p for p in (root / layer).rglob("*") if p.suffix in _SUFFIXES)
    for path in sorted(places):
        found[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def bytecode_is_current(root: Path = ROOT) -> bool:
    """Return whether the bytecode beside the sources was compiled from them.

    Python validates bytecode by the source's size and its modification time in seconds.  An edit in the second in which
    the bytecode was written may go unnoticed, so the sources of such files are compiled here for comparison.
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
                continue  # Python would not load it
            try:
                known = marshal.loads(data[16:])
            except (EOFError, ValueError, TypeError):
                continue  # it cannot be loaded
            if known != compile(now, str(path), "exec", dont_inherit=True):
                return False
    return True


@lru_cache(maxsize=1)
def first_read() -> Mapping[str, str]:
    """Return the first :func:`read_sources` of this process, whose prover does not change while it runs."""
    return read_sources()


def platform_text() -> str:
    """Return the versions of the interpreter and of numpy, on which numbers may depend."""
    v = sys.version_info
    return f"{sys.implementation.name} {v.major}.{v.minor}.{v.micro} numpy {version_of('numpy')}"


@lru_cache(maxsize=1)
def prover_digest() -> str:
    """Return a digest of the prover's source and of the versions that verdicts and resource counts may depend on."""
    v = sys.version_info
    versions = (version_of("z3", "z3-solver"), version_of("numpy"), str(v.major), str(v.minor))
    h = hashlib.sha256("\0".join(versions).encode())
    for name, digest in first_read().items():
        if name.startswith("verify/") or name in _CORE_OF_PROVER:
            h.update(f"\0{name}\0{digest}".encode())
    return h.hexdigest()


@lru_cache(maxsize=8)
def version_of(module: str, distribution: str = "") -> str:
    """Return the version of an installed package, from its distribution's metadata or else from the module itself."""
    stem = (distribution or module).replace("-", "_").lower()
    spec = find_spec(module)
    # z3 may load a library from elsewhere, which no distribution describes
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
