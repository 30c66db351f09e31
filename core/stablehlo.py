"""Reading a module from HLO or StableHLO text."""

from __future__ import annotations

import re

from .hlo import Module, read_module

_MODULE = re.compile(r'(?:\s|//[^\n]*+\n|#\w[^\n]*+\n)*+(?:"?builtin\.module\b|module\b|func\.func\b)')


def is_stablehlo(text: str) -> bool:
    """Return whether a text is an MLIR module rather than HLO. An HLO computation may be called `module` too."""
    return _MODULE.match(text) is not None and re.search(r"\bfunc\.(?:func|return)\b", text) is not None


def read_any(text: str) -> Module:
    """Read a module from HLO or StableHLO text; the latter needs the extra `jax`.

    Raises `InputError` when the text is neither, or jax is not installed.
    """
    if is_stablehlo(text):
        from .frameworks.jax import read_stablehlo

        return read_stablehlo(text)
    return read_module(text)
