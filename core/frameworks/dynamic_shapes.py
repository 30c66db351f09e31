"""The `dynamic_` ops of StableHLO, whose operands give sizes, as HLO with `?` for the sizes: HLO's text has no such ops.

An op that says nothing but sizes becomes a call that carries the HLO text that it means through the conversion. Sizes are
then parameters of the maps; what computes them is not looked at. Any other stays a call without maps: where places come
from operands, and where a dimension may stretch, which jax's symbolic dimensions never do.
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
    """StableHLO with calls in place of its dynamic ops; as it is where it has none."""
    if not _DYNAMIC.search(text):
        return text
    from jax.interpreters.mlir import make_ir_context
    from jaxlib.mlir import ir

    with make_ir_context():
        try:
            module = ir.Module.parse(text)
        except (ir.MLIRError, ValueError):  # the conversion says what is wrong
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
    """The text of HLO with the ops that such calls mean."""
    return _CALL.sub(lambda m: f"{m[2]}({m[1]}){m[3] or ''}", hlo)


def _replace(op: Any, symbolic: bool) -> None:
    """Put a call in the place of an op: to what it means in HLO if its operands say nothing but sizes, else to its name."""
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
    """The broadcast of what is left when dimensions of size 1 that stretch are dropped; None where one may stretch."""
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
            return None  # its size may turn out to be 1
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
    """The result of a call in the place of an op."""
    from jaxlib.mlir.dialects import stablehlo

    return stablehlo.CustomCallOp([made or op.results[0].type], operands, target).results[0]


def _numbers(operands: Sequence[Any]) -> list[tuple[str, ...]]:
    """The elements of constants, by dimension; none where an operand is no constant."""
    from jaxlib.mlir import ir

    owners = [x.owner for x in operands]
    if any(getattr(o, "name", "") != "stablehlo.constant" for o in owners):
        return []
    rows = [map(str, ir.DenseIntElementsAttr(o.attributes["value"])) for o in owners]
    return list(zip(*rows, strict=True))
