"""`Module` to HLO text. Reading the text again gives an equal module, and XLA's own parser accepts it.

XLA conventions: `%` before names, every fifth operand preceded by its number, source tables after the header.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .attributes import Attributes, format_value

if TYPE_CHECKING:
    from .module import Computation, Instruction, Module

_WORDS = ("ENTRY", "HloModule", "ROOT", "FileNames", "FunctionNames", "FileLocations", "StackFrames")


def format_module(module: Module, percent: bool = True) -> str:
    """Return the text of a module, ending with a newline. `percent=False` omits the `%` before names.

    A module that was read without a `HloModule` line is printed without one.
    """
    lines = []
    if not module.is_snippet:
        lines += ["HloModule " + module.name + _attributes(module.attributes, percent), ""]
    for table in module.tables:
        lines.append(table.name)
        lines.extend(f"{number} {spelled}" for number, spelled in table.spelled)
        lines.append("")
    for computation in module.computations:
        lines.append(format_computation(computation, computation.name == module.entry_name, percent))
        lines.append("")
    return "\n".join(lines)


def format_computation(computation: Computation, entry: bool = False, percent: bool = True) -> str:
    """Return the text of one computation with its body."""
    head = ("ENTRY " if entry else "") + _name(computation.name, percent)
    signature = computation.signature
    if signature is not None:
        parameters = ", ".join(f"{name}: {shape}" for name, shape in signature.parameters)
        head += f" ({parameters}) -> {signature.result}"
    lines = [head + " {"]
    defined: set[str] = set()
    for k, instruction in enumerate(computation.instructions):
        root = "ROOT " if k == computation.root_index else ""
        free = any(operand.name not in defined for operand in instruction.operands)
        lines.append("  " + root + format_instruction(instruction, percent, operand_shapes=free))
        defined.add(instruction.name)
    lines.append("}" + _attributes(computation.attributes, percent))
    return "\n".join(lines)


def format_instruction(instruction: Instruction, percent: bool = True, operand_shapes: bool = False) -> str:
    """Return one instruction on one line, without indentation and ROOT.

    Shapes of operands are omitted unless `operand_shapes` is set.
    """
    mark = "%" if percent else ""
    shape = "" if instruction.shape is None else f"{instruction.shape} "
    if instruction.literal is not None:
        inside = instruction.literal
    else:
        parts = []
        for k, operand in enumerate(instruction.operands):
            number = f"/*index={k}*/" if k and k % 5 == 0 else ""
            written = f"{operand.shape} " if operand_shapes and operand.shape is not None else ""
            parts.append(number + written + mark + operand.name)
        inside = ", ".join(parts)
    attributes = _attributes(instruction.attributes, percent)
    return f"{_name(instruction.name, percent)} = {shape}{instruction.opcode}({inside}){attributes}"


def _attributes(attributes: Attributes, percent: bool) -> str:
    return "".join([f", {name}={format_value(name, text, percent)}" for name, text in attributes])


def _name(name: str, percent: bool) -> str:
    # A keyword at the beginning of a definition is read as a name only with its `%`.
    return "%" + name if percent or name in _WORDS else name
