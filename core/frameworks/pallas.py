"""``indexproof.pallas``: the ``pallas_call``s of a jax function, with their index maps as indexing maps.

The function is traced, and no kernel runs.  Tracing needs only shapes, also symbolic ones of
``jax.export.symbolic_shape``.  Needs the extra ``jax``; jax is imported when :func:`pallas_calls` is called.  Only
`_described` depends on jax's representation of a ``pallas_call``, and `_size` and `_symbols` on that of sizes.
"""

# Absolute imports, because this file is imported as ``indexproof.pallas`` from another folder.
from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from indexproof.core.condition import Condition
from indexproof.core.errors import InputError
from indexproof.core.expr import Expr, Mod, add, floordiv, lift, maximum, minimum, mod, mul, var
from indexproof.core.indexing_map import is_name, unused_name
from indexproof.core.interop.foreign import needed
from indexproof.core.interop.jaxpr_form import CALLS, IndexMapReader, NotConverted, constants, nested, variables
from indexproof.core.interval import Interval
from indexproof.core.pallas_call import LARGEST_SIZE, BlockDim, BlockedOperand, PallasCall, ScalarTable

Ranges = Mapping[str, tuple[int, int]]
#: Names of symbolic sizes, and the conditions that they satisfy.
Symbols = tuple[tuple[str, ...], tuple[Condition, ...]]
#: Limit on the size of arrays that are computed to find the elements of a scalar prefetch operand.
_MOST_ELEMENTS = 1 << 20


def pallas_calls(function: Callable[..., Any], *args: Any, ranges: Ranges | None = None) -> list[PallasCall]:
    """Return the ``pallas_call``s that ``function`` makes for these arguments, in order, including nested functions.

    Arguments are arrays or placeholders (``jax.ShapeDtypeStruct``); Python numbers, strings and ``None`` are passed
    unchanged.  Sizes may be symbols of ``jax.export.symbolic_shape``.  ``ranges`` bounds the elements of scalar
    prefetch operands, by the kernel's names.  Elements that array arguments determine are computed.  Raises
    :class:`InputError` for a version of jax with another representation of calls.
    """
    with needed("jax"):
        import jax
    static = (bool, int, float, str, type(None))
    traced = [a for a in args if not isinstance(a, static)]

    def with_static(*arrays: Any) -> Any:
        rest = iter(arrays)
        return function(*(a if isinstance(a, static) else next(rest) for a in args))

    closed = jax.make_jaxpr(with_static)(*traced)
    leaves = jax.tree.leaves(traced)
    # jax converts 64-bit integers to 32 bits
    known = {
        v: jax.numpy.asarray(x)
        for v, x in zip(closed.jaxpr.invars, leaves, strict=True)
        if not isinstance(x, jax.ShapeDtypeStruct)
    }
    stated = dict(ranges or {})
    calls = _calls(closed, {**known, **constants(closed)})
    try:
        symbols = _symbols([n for x in leaves for n in getattr(x, "shape", ()) if not isinstance(n, int)])
        found = [_described(eqn, values, used, stated, symbols) for eqn, values, used in calls]
    except (AttributeError, KeyError) as error:
        raise InputError(
            f"jax {jax.__version__} describes a pallas_call in another way: {error}", expected="jax 0.7 to 0.10"
        ) from error
    names = {name for call in found for name in call.tables}
    for name in stated:
        if found and name not in names:
            raise InputError(
                f"no scalar prefetch operand is called {name}", expected=f"one of {', '.join(sorted(names)) or 'none'}"
            )
    return found


# --------------------------------------------------------------------------------------- programs that contain calls
def _contains(name: str, eqn: Any) -> bool:
    return eqn.primitive.name == name or any(
        _contains(name, e) for part in nested(eqn) for e in getattr(part, "jaxpr", part).eqns
    )


def _calls(closed: Any, known: Mapping[Any, Any]) -> Iterator[tuple[Any, list[Any], list[bool]]]:
    """Yield every call with the values of its operands, ``None`` where unknown, and whether outputs are used."""
    jaxpr = getattr(closed, "jaxpr", closed)
    used = {v for e in jaxpr.eqns for v in variables(e.invars)} | {*variables(jaxpr.outvars)}
    for eqn in jaxpr.eqns:
        if not _contains("pallas_call", eqn):
            continue
        values = _values(jaxpr, known, eqn.invars)
        if eqn.primitive.name == "pallas_call":
            yield eqn, values, [v in used for v in eqn.outvars]
            continue
        for part in nested(eqn):
            inner = getattr(part, "jaxpr", part)
            # operands of loops, branches and shards differ from those of their equation
            call = eqn.primitive.name in CALLS
            given = dict(zip(inner.invars, values, strict=True)) if call else {}
            given = {v: x for v, x in given.items() if x is not None}
            yield from _calls(part, {**given, **constants(part)})


def _values(jaxpr: Any, known: Mapping[Any, Any], wanted: Sequence[Any]) -> list[Any]:
    """Return integer values of the ``wanted`` variables, computed from ``known`` without kernels, or ``None``.

    A symbolic size is an expression; values computed from it are unknown.
    """
    import jax

    env = dict(known)

    def concrete(v: Any) -> bool:
        return all(isinstance(n, int) for n in getattr(v.aval, "shape", ()))

    def integral(v: Any) -> bool:
        integers = str(getattr(v.aval, "dtype", "")).startswith(("int", "uint"))
        return integers and concrete(v) and v.aval.size <= _MOST_ELEMENTS

    needed = {v for v in variables(wanted) if integral(v)}
    due = []
    for eqn in reversed(jaxpr.eqns):
        if not needed.isdisjoint(eqn.outvars):
            due.append(eqn)
            needed.update(variables(eqn.invars))
    for eqn in reversed(due):
        given = list(dict.fromkeys(variables(eqn.invars)))
        if eqn.primitive.name == "dim_as_value":
            env[eqn.outvars[0]] = _size(eqn.params["dim"])
            continue
        runs = not eqn.effects and not any(_contains(name, eqn) for name in ("pallas_call", "dim_as_value"))
        runs = runs and all(map(concrete, eqn.outvars))
        if runs and all(v in env and not isinstance(env[v], Expr) for v in given):
            # only the attributes that evaluation needs; a real jaxpr takes debug information, which differs between
            # versions
            one = SimpleNamespace(constvars=given, invars=[], eqns=[eqn], outvars=eqn.outvars)
            env.update(zip(eqn.outvars, jax.core.eval_jaxpr(one, [env[v] for v in given]), strict=True))
    return [v.val if hasattr(v, "val") else env.get(v) if integral(v) else None for v in wanted]


# ------------------------------------------------------------------------------------------------- symbolic sizes
_OF_SIZES: dict[str, Callable[..., Expr]] = {"floordiv": floordiv, "max": maximum, "min": minimum, "mod": mod}


def _size(dim: Any) -> Any:
    """Return a size as an integer, or as an expression over symbols."""
    if not hasattr(dim, "_sorted_terms"):
        return dim
    products = ((k, [_factor(f) for f, n in t._factors for _ in range(n)]) for t, k in dim._sorted_terms)
    return add(*(mul(k, *factors) for k, factors in products))


def _factor(f: Any) -> Expr:
    return var(f.var) if f.var else _OF_SIZES[f.operation](*map(_size, f.operands))


def _symbols(dims: Sequence[Any]) -> Symbols:
    """Return the symbols of sizes, and the constraints of their scope.

    A symbol is at least 1, as in jax, and a machine integer: index maps are read only for such sizes.
    """
    conditions = [
        lift(_size(c.e1)).eq(_size(c.e2)) if c.cmp.name == "EQ" else lift(_size(c.e1)) >= _size(c.e2)
        for c in (dims[0].scope._explicit_constraints if dims else ())
    ]
    # jax adds to `mod(e, k) == 0` an equation that follows from it
    mods = [e for c in conditions for e in c.exprs() if isinstance(e, Mod)]
    follows = [mul(floordiv(e.a, e.b), e.b).eq(e.a) for e in mods]
    own = [c for c in conditions if c not in follows]
    names = [v.name for e in (*map(_size, dims), *(e for c in own for e in c.exprs())) for v in e.variables()]
    parameters = tuple(dict.fromkeys(names))
    bounds = [c for p in parameters for c in (var(p) >= 1, var(p) <= LARGEST_SIZE)]
    return parameters, tuple(dict.fromkeys((*bounds, *own)))


# ------------------------------------------------------------------------------------------------------ one call
def _described(eqn: Any, operand_values: list[Any], used: list[bool], ranges: Ranges, symbols: Symbols) -> PallasCall:
    """Return the call of one equation, given the values of its operands and the outputs that are used."""
    import jax

    params = eqn.params
    kernel, mapping = params["jaxpr"], params["grid_mapping"]
    # references that the kernel closes over precede the operands
    values = [x for v, x in zip(eqn.invars, operand_values, strict=True) if "Ref" not in type(v.aval).__name__]
    sizes = iter(values)
    dynamic = [not isinstance(n, int) for n in mapping.grid]
    values = values[sum(dynamic) :]
    grid = tuple(
        (x if (x := next(sizes)) is None or isinstance(x, Expr) else int(x)) if unknown else n
        for n, unknown in zip(mapping.grid, dynamic, strict=True)
    )
    names = _names(kernel.debug_info.arg_names, len(kernel.invars))
    scalars, inputs = mapping.num_index_operands, mapping.num_inputs
    if len(kernel.invars) != scalars + len(mapping.block_mappings) + mapping.num_scratch_operands:
        raise AttributeError("the kernel has other parameters than its grid")
    tables = {}
    for name, x, aval in zip(names, values[:scalars], mapping.index_map_avals[len(grid) :], strict=False):
        stated = ranges.get(name)
        tables[name] = ScalarTable(tuple(aval.shape), x, None if stated is None else Interval(*stated))
    semantics, direct = _semantics(params["compiler_params"], mapping, len(grid))
    axes = _axes(mapping, symbols[0])
    aliases = {out: names[source] for source, out in params["input_output_aliases"]}
    mentioned = {v for e in kernel.eqns for v in variables(e.invars)}
    operands = []
    for k, block in enumerate(mapping.block_mappings):
        ref, out = kernel.invars[scalars + k], k - inputs
        array = block.array_aval if hasattr(block, "array_aval") else block.array_shape_dtype
        dims, why = _block_dims(block.block_shape, array.shape)
        index = None
        if None in grid:
            why = why or "a size of the grid is only known at run time"
        if not why:
            try:
                reader = IndexMapReader(axes, grid, tables, _divisions(), jax.tree.unflatten, _size, *symbols)
                index = reader.read(block.index_map_jaxpr)
            except NotConverted as error:
                why = str(error)
        mode = getattr(getattr(block, "pipeline_mode", None), "revisit", None)
        space = str(getattr(block.transformed_block_aval, "memory_space", "")).lower()
        operands.append(
            BlockedOperand(
                names[scalars + k],
                str(array.dtype),
                dims,
                index,
                why,
                output=out >= 0,
                whole=any(word in space for word in ("any", "hbm", "semaphore", "gmem"))
                and all(d.size == d.array for d in dims),
                revisits=getattr(mode, "value", None) == "any",
                used=out < 0 or used[out],
                touched=ref in mentioned,
                alias=aliases.get(out, "") if out >= 0 else "",
            )
        )
    said = kernel.debug_info.func_src_info
    name, _, place = said.partition(" at ")
    name = params.get("name") or name
    return PallasCall(name, Path(place).name, axes, grid, semantics, tuple(operands), tables, direct, *symbols)


def _names(given: Sequence[str] | None, number: int) -> list[str]:
    """Return distinct names for the operands of a kernel, based on the names of its parameters."""
    found: list[str] = []
    for k, name in enumerate(given or [""] * number):
        plain = re.sub(r"[^0-9A-Za-z]+", "_", name or "").strip("_") or f"operand{k}"
        while plain in found:
            plain += "_"
        found.append(plain)
    return found


def _axes(mapping: Any, symbols: Sequence[str]) -> tuple[str, ...]:
    """Return distinct names for the axes of the grid: parameter names of an index map if usable, and no symbols."""
    rank, taken = len(mapping.grid), {*symbols}
    chosen = [f"d{k}" for k in range(rank)]
    for block in mapping.block_mappings:
        names = tuple(block.index_map_jaxpr.jaxpr.debug_info.arg_names or ())[:rank]
        if len(set(names)) == rank and all(n and is_name(n) for n in names):
            chosen = [*names]
            break
    return tuple(unused_name(n, taken) for n in chosen)


def _semantics(params: Any, mapping: Any, rank: int) -> tuple[tuple[str, ...], bool]:
    """Return the semantics of each axis, and whether the kernel stores to the arrays themselves.

    On a GPU all iterations run concurrently unless an axis is declared sequential; elsewhere, as on a TPU, they run in
    order unless an axis is declared parallel.  The axes that ``vmap`` adds are parallel.
    """
    if isinstance(params, Mapping):  # before jax 0.7, by backend
        params = next(iter(params.values()), None)
    home = type(params).__module__
    default = "parallel" if "triton" in home or "mosaic_gpu" in home else "arbitrary"
    said = iter([str(getattr(s, "value", s)) for s in getattr(params, "dimension_semantics", None) or ()])
    return tuple(
        "parallel" if k in mapping.vmapped_dims else next(said, default) for k in range(rank)
    ), "triton" in home


def _block_dims(block: Sequence[Any], array: Sequence[int]) -> tuple[tuple[BlockDim, ...], str]:
    """Return the dimensions of a block, and the reason where their indices are not supported."""
    dims, why = [], ""
    for b, n in zip(block, map(_size, array), strict=True):
        kind = type(b).__name__
        size = b if isinstance(b, int) else _size(getattr(b, "block_size", 1))
        if isinstance(size, Expr):
            dims.append(BlockDim(n, size, size))  # type: ignore[arg-type]
            why = f"blocks need concrete sizes, and {size} is none"
        elif kind == "Element":
            dims.append(BlockDim(n, size, 1, *b.padding))
        else:
            dims.append(BlockDim(n, size, max(size, 1)))
            if kind not in ("int", "Blocked", "Squeezed", "NoneType") or size < 1:
                why = f"blocks of the kind {b}"
    return tuple(dims), why


@cache
def _divisions() -> dict[str, Callable[[Expr, Expr], Expr]]:
    """Return the builders of ``//`` and ``%``, keyed by the jaxprs that jax generates for them on integers."""
    import jax

    scalar = jax.ShapeDtypeStruct((), "int32")
    found: dict[str, Callable[[Expr, Expr], Expr]] = {}
    for operation, build in ((operator.floordiv, floordiv), (operator.mod, mod)):
        for traced in (
            jax.make_jaxpr(partial(lambda f, a: f(a, 2), operation))(scalar),
            jax.make_jaxpr(partial(lambda f, a, b: f(a, b), operation))(scalar, scalar),
        ):
            found[str(next(nested(traced.jaxpr.eqns[0])))] = build
    return found
