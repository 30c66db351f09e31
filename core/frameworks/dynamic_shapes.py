"""Conversion of StableHLO's `dynamic_` ops, whose operands give sizes, to HLO with `?` for the sizes.

HLO has no such ops.  An op whose operands give only sizes becomes a call whose target carries the equivalent HLO text
through the conversion. Sizes are then parameters of the maps. Any other op becomes a call without maps: where operands
give positions, and where a dimension may expand, which jax's symbolic ones never do.
"""

# Absolute imports, because ``indexproof.jax`` imports this under that name.
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_DYNAMIC = re.compile(
    r"\bstablehlo\.(?:dynamic_(?:broadcast_in_dim|conv|gather|iota|pad|reshape)|real_dynamic_slice)\b"
)
_TARGET = "indexproof.hlo."
_CALL = re.compile(r'\bcustom-call\(([^()]*)\), custom_call_target="indexproof\.hlo\.([a-z]+)(, [^"]*)?"')


def to_calls(text: str) -> str:
    """Replace the dynamic ops of StableHLO by calls; return text without such ops unchanged."""
    if not _DYNAMIC.search(text):
        return text
    from jax.interpreters.mlir import make_ir_context
    from jaxlib.mlir import ir

    with make_ir_context():
        try:
            module = ir.Module.parse(text)
        except (ir.MLIRError, ValueError):  # the conversion reports the error
            return text
        symbolic = "jax.uses_shape_polymorphism" in module.operation.attributes
        found: list[Any] = []

        def visit(op: Any) -> Any:
            if _DYNAMIC.fullmatch(op.name):
                found.append(op)
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)
        for op in found:
            _replace(op, symbolic)
        return str(module.operation.get_asm(enable_debug_info=True))


def from_calls(hlo: str) -> str:
    """Replace such calls in HLO text by the ops that they encode."""
    return _CALL.sub(lambda m: f"{m[2]}({m[1]}){m[3] or ''}", hlo)


def _replace(op: Any, symbolic: bool) -> None:
    """Replace an op by a call of the equivalent HLO if its operands give only sizes, else by a call of its name."""
    from jaxlib.mlir import ir

    with op.location, ir.InsertionPoint(op):
        made = _meaning(op, list(op.operands), symbolic) or _call(op.name, op, list(op.operands))
    op.results[0].replace_all_uses_with(made)
    op.erase()


def _meaning(op: Any, operands: list[Any], symbolic: bool) -> Any:
    from jaxlib.mlir import ir

    match op.name.removeprefix("stablehlo."):
        case "dynamic_iota":
            dimension = ir.IntegerAttr(op.attributes["iota_dimension"]).value
            return _call(f"{_TARGET}iota, iota_dimension={dimension}", op, [])
        case "dynamic_reshape":
            return _call(f"{_TARGET}reshape", op, operands[:1])
        case "dynamic_broadcast_in_dim":
            return _broadcast(op, operands[0], symbolic)
        case "dynamic_pad" if edges := _numbers(operands[2:]):
            return _call(f"{_TARGET}pad, padding={'x'.join(map('_'.join, edges))}", op, operands[:2])
        case "real_dynamic_slice" if ends := _numbers(operands[1:]):
            spans = ",".join(f"[{':'.join(e)}]" for e in ends)
            return _call(f"{_TARGET}slice, slice={{{spans}}}", op, operands[:1])
    return None


def _broadcast(op: Any, operand: Any, symbolic: bool) -> Any:
    """Return the broadcast of the operand without its expanded dimensions of size 1; None where others may expand."""
    from jaxlib.mlir import ir

    target = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
    known = "known_nonexpanding_dimensions"
    fixed = {*(ir.DenseI64ArrayAttr(op.attributes[known]) if known in op.attributes else ())}
    source, made = (ir.RankedTensorType(x.type) for x in (operand, op.results[0]))
    kept = []
    for k, d in enumerate(target):
        if not source.is_dynamic_dim(k) and source.shape[k] == 1:
            if not made.is_dynamic_dim(d) and made.shape[d] == 1:
                kept.append(k)
        elif source.is_dynamic_dim(k) and k not in fixed and not symbolic:
            return None  # its size may be 1 at run time
        else:
            kept.append(k)
    if len(kept) < len(target):
        unknown = ir.ShapedType.get_dynamic_size()
        sizes = [unknown if source.is_dynamic_dim(k) else source.shape[k] for k in kept]
        left = ir.RankedTensorType.get(sizes, source.element_type)
        operand = _call(f"{_TARGET}reshape", op, [operand], left)
    dimensions = ",".join(str(target[k]) for k in kept)
    return _call(f"{_TARGET}broadcast, dimensions={{{dimensions}}}", op, [operand])


def _call(target: str, op: Any, operands: Sequence[Any], made: Any = None) -> Any:
    """Return the result of a call that replaces an op."""
    from jaxlib.mlir.dialects import stablehlo

    return stablehlo.CustomCallOp([made or op.results[0].type], operands, target).results[0]


def _numbers(operands: Sequence[Any]) -> list[tuple[str, ...]]:
    """Return the elements of constants, grouped by dimension; empty where an operand is no constant."""
    from jaxlib.mlir import ir

    owners = [x.owner for x in operands]
    if any(getattr(o, "name", "") != "stablehlo.constant" for o in owners):
        return []
    rows = [map(str, ir.DenseIntElementsAttr(o.attributes["value"])) for o in owners]
    return list(zip(*rows, strict=True))
