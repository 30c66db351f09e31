"""``indexproof.jax``: the HLO module of a jax function, before and after optimization, and StableHLO text.

```python
import indexproof.jax

module = indexproof.jax.module(lambda x: x.T[::2], indexproof.jax.array("f32[10,20]"))
```

Needs the extra ``jax``; jax is imported when a function here is called. Text that cannot be read or converted raises
``InputError``; jax's own errors about functions that it cannot trace are not caught.
"""

# Absolute imports, because this file is imported as ``indexproof.jax`` from another folder.
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from indexproof.core.errors import InputError, quoted
from indexproof.core.frameworks.dynamic_shapes import from_calls, to_calls
from indexproof.core.hlo import Module, Shape, format_module, read_module, read_shape
from indexproof.core.interop.foreign import needed

__all__ = ["array", "module", "read_stablehlo", "stablehlo", "through_xla"]

Stage = Literal["lowered", "optimized"]

_TYPES = {"pred": "bool", "bf16": "bfloat16", "c64": "complex64", "c128": "complex128", "f4e2m1fn": "float4_e2m1fn"}
_NUMBER = re.compile(r"([fsu])(\d+)(e\d+m\d+\w*)?\Z", re.ASCII)
#: A shape with a letter among its sizes.
_SYMBOLIC = re.compile(r"\s*(\w+)\s*\[([^\]]*[A-Za-z][^\]]*)\]\s*", re.ASCII)
_KINDS = {"f": "float", "s": "int", "u": "uint"}
_QUANTIZED = re.compile(r"!quant\.uniform<\w+(?:<[^<>]*>)?:(\w+)[^<>]*>|\buniform_(?:de)?quantize\b")
_MLIR_PLACE = re.compile(r"-:(\d+):(\d+): error: ([^\n]*)")
_XLA_PLACE = re.compile(r"was parsing (\d+):(\d+): error: ([^\n]*)")


def array(shape: str | Shape, scope: Any = None) -> Any:
    """Return an example argument for a shape: ``f32[10,20]`` as a ``jax.ShapeDtypeStruct``.

    With a ``scope``, a ``jax.export.SymbolicScope``, sizes may be symbols: ``f32[n,128]``.
    """
    jax = _jax()
    symbolic = _SYMBOLIC.fullmatch(shape) if scope is not None and isinstance(shape, str) else None
    if symbolic is not None:
        try:
            dims = jax.export.symbolic_shape(symbolic[2], scope=scope)
        except ValueError as error:
            raise InputError(f"{quoted(str(shape), 80)}: {error}", expected="sizes such as n or 2*n") from None
        return jax.ShapeDtypeStruct(dims, array(f"{symbolic[1]}[]").dtype)
    read = read_shape(shape) if isinstance(shape, str) else shape
    if not isinstance(read, Shape) or read.dynamic:
        raise InputError(f"{read} is no argument", expected="one array of known size, such as f32[10,20]")
    name = read.element_type
    number = _NUMBER.match(name)
    if number is not None and name not in _TYPES:
        kind, bits, mantissa = number.groups()
        spelled = _KINDS[kind] + bits + (f"_{mantissa}" if mantissa else "")
    else:
        spelled = _TYPES.get(name, name)
    try:
        kind_of_element = jax.numpy.dtype(getattr(jax.numpy, spelled))
    except (AttributeError, TypeError):
        raise InputError(f"jax has no arrays of type {name}", expected="a type such as f32 or s32") from None
    return jax.ShapeDtypeStruct(read.dims, kind_of_element)


def symbolic_scope(constraints: Sequence[str] = ()) -> Any:
    """Return the scope of symbolic sizes that satisfy the constraints: ``mod(n, 128) == 0``, ``n >= 256``."""
    try:
        return _jax().export.SymbolicScope(constraints)
    except (NotImplementedError, ValueError) as error:
        raise InputError(str(error), expected="constraints such as `mod(n, 128) == 0` or `n >= 256`") from None


def module(function: Callable[..., Any], *args: Any, stage: Stage = "lowered", **kwargs: Any) -> Module:
    """Return the HLO module of a function for these arguments: as jax lowers it, or as XLA compiles it here.

    ``function`` may be jitted; arguments are arrays or placeholders (see ``array``). ``stage="optimized"`` compiles for
    the default device and returns the module with fusions and layouts.
    """
    lowered = _lowered(function, args, kwargs)
    if stage == "lowered":
        return read_module(_text(lowered.compiler_ir(dialect="hlo").get_hlo_module()))
    if stage == "optimized":
        modules = lowered.compile().runtime_executable().hlo_modules()
        if len(modules) != 1:
            raise InputError(f"the function compiles to {len(modules)} modules", expected="one module")
        return read_module(_text(modules[0]))
    raise InputError(f"there is no stage {stage!r}", expected="lowered or optimized")


def stablehlo(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str:
    """Return the StableHLO text of a function for these arguments."""
    return cast(str, _lowered(function, args, kwargs).as_text(dialect="stablehlo"))


def read_stablehlo(text: str) -> Module:
    """Read StableHLO text with a function ``main`` as an HLO module.

    The MLIR bindings of jaxlib parse and convert it. Raises ``InputError`` with line and column when they refuse it.
    HLO has no quantized types: these are replaced by their expressed type, ``f32`` for ``!quant.uniform<i8:f32, …>``,
    and quantization by conversion. This keeps the dependences between elements.
    """
    mlir, _, errors = _bindings()
    # padded to the same length, so that positions of errors stay right
    plain = _QUANTIZED.sub(lambda found: (found[1] or "convert").ljust(len(found[0])), text)
    try:
        computation = mlir.mlir_module_to_xla_computation(to_calls(plain), use_tuple_args=False, return_tuple=False)
    except errors as error:
        raise _input_error("StableHLO", str(error), text, _MLIR_PLACE) from None
    return read_module(from_calls(_text(computation.get_hlo_module())))


def through_xla(module: Module) -> Module:
    """Return the module after XLA has parsed the text printed here and printed it again.

    Raises ``InputError`` when XLA's parser refuses it, or a computation calls itself. XLA checks little and aborts the
    process on some malformed modules, such as a lone ``parameter(1)``.
    """
    _, hlo, errors = _bindings()
    # XLA reads a computation only after those that it refers to.
    text = format_module(replace(module, computations=module.callees_first))
    try:
        read = hlo.hlo_module_from_text(text)
    except errors as error:
        raise _input_error("XLA", str(error), text, _XLA_PLACE) from None
    return read_module(_text(read))


def _lowered(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    jax = _jax()
    jitted = function if hasattr(function, "lower") else jax.jit(function)
    return jitted.lower(*args, **kwargs)


def _text(xla_module: Any) -> str:
    """Return the full text of a module; by default XLA omits large constants."""
    _, hlo, _ = _bindings()
    options = hlo.HloPrintOptions()
    options.print_large_constants = True
    return cast(str, xla_module.to_string(options))


def _jax() -> Any:
    with needed("jax"):
        import jax
        import jax.export
        import jax.numpy
    return jax


def _bindings() -> tuple[Any, Any, tuple[type[Exception], ...]]:
    """Return jaxlib's bindings for MLIR conversion and for HLO, and the exceptions that both raise."""
    with needed("jax"):
        from jax._src.lib import xla_client
    try:
        from jaxlib import _hlo as hlo
    except ImportError:
        hlo = xla_client._xla  # before jaxlib 0.8 or so
    # TypeError: text that is not UTF-8.
    return xla_client._xla.mlir, hlo, (RuntimeError, TypeError, ValueError)


def _input_error(who: str, message: str, text: str, place: re.Pattern[str]) -> InputError:
    places = place.findall(message)
    if not places:
        return InputError(f"{who}: {message.strip().splitlines()[0] if message.strip() else 'refused'}")
    # XLA prints the innermost error first, MLIR prints one error and then notes.
    line, column, what = places[0]
    return InputError(f"{who}: {what}", source=text, line=int(line), column=int(column))
