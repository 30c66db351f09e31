"""Commands for compilers: HLO modules, Pallas kernels, arrays in memory, launches."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ...core.errors import InputError, quoted
from .frame import PROVED, finish, kept_to_the_end, status_of, writing
from .given import as_map, given_text, integers, standard_input, tile_sizes

if TYPE_CHECKING:
    from ..layouts import Description
    from ..pictures import Picture


def hlo(
    file: str,
    *,
    which: str | None = None,
    computation: list[str] | None = None,
    instruction: list[str] | None = None,
    producers: list[str] | None = None,
    consumers: list[str] | None = None,
    fusions: bool = False,
    everything: bool = False,
    inputs: bool = False,
    physical: bool = False,
    summary: bool = False,
    analyze: bool = False,
    tile: str = "",
    budget: int | None = None,
    svg: Path | None = None,
    verify: bool = False,
    json: bool = False,
) -> None:
    """Print the maps of an HLO module, and prove them.

    The maps lead between outputs and inputs: of the module's entry, of named computations or fusions, of
    single instructions, or of all paths between two. Instructions without maps are listed with the reason.

    With --verify proves for the sizes of the program that maps are in bounds, that those of the two directions
    are each other's inverse, that operands which share an output cover it, and that composed maps are the
    composition; this then decides the exit status.

    Args:
        file (FILE): HLO as XLA prints it, or StableHLO; also gzipped; - for standard input.
        which (--module -m NAME): Which one, if the file holds several modules.
        computation (-c NAME): Only this computation; may be repeated.
        instruction (-i NAME): The maps between this instruction and its operands; may be repeated.
        producers (--from NAME): The maps between this instruction and --to, over all paths; may be repeated.
        consumers (--to NAME): The instruction that reads --from (default: the root); may be repeated.
        fusions: The computations of all fusions.
        everything (--all): All computations.
        inputs (--input-to-output): Also the maps from operands to outputs.
        physical: Maps between positions in memory, through layouts and tiles.
        summary: A line for each computation in place of its maps.
        analyze: Count how much of each operand is read, and how often.
        tile (N,M,...): Say which tile of an operand such a tile reads; o:N begins anywhere, at o.
        budget (--tilings BYTES 1..): List the tilings whose tiles fit into this many bytes.
        svg (FILE): Draw what the first tile of --tile reads, of a single computation or instruction.
        verify: Prove the maps, of all computations unless some are named.
    """
    with kept_to_the_end():
        from ...core.op import DIRECTIONS
        from .. import hlo as reporting
        from ..hlo_files import module_of
    ends = (producers or (), consumers or ()) if producers or consumers else None
    if ends and (instruction or fusions or everything or len(computation or ()) > 1):
        said = "--from and --to ask about one computation"
        raise InputError(said, expected="nothing but one --computation")
    if verify and instruction:
        raise InputError("--verify proves whole computations", expected="no --instruction")
    if verify and physical:
        raise InputError("--verify proves maps between elements", expected="no --physical")
    if svg is not None and not tile:
        raise InputError("--svg draws what a tile reads", expected="--tile")
    asked = reporting.Questions(analyze, *tile_sizes("--tile", tile), budget)
    if asked and physical:
        raise InputError("--analyze, --tile and --tilings speak of elements", expected="no --physical")
    with kept_to_the_end():
        module = module_of(file, standard_input() if file == "-" else None, which)
    named = computation or ()
    unless = not named and not fusions and ends is None and (verify or summary or bool(instruction))
    wanted = reporting.chosen(module, named, fusions, everything or unless)
    with reporting.UnitWatcher(len(wanted)) as bar:
        found = reporting.report(
            module,
            wanted,
            instructions=instruction or (),
            ends=ends,
            directions=DIRECTIONS if inputs else DIRECTIONS[:1],
            physical=physical,
            verify=verify,
            questions=asked,
            watch=bar,
        )
    if svg is not None:
        # it loads the solvers
        from ..access import tile_picture

        _draw(svg, lambda: tile_picture(found, asked.tile))
    status = status_of(found.verdict.value) if verify else PROVED
    brief = summary or (verify and not named and ends is None)
    finish(status, json, lambda: reporting.hlo_json(found, status), lambda: reporting.hlo_text(found, brief))


def pallas(
    function: str,
    arguments: list[str] | None = None,
    *,
    ranges: list[str] | None = None,
    constraints: list[str] | None = None,
    json: bool = False,
) -> None:
    """Check the grids, blocks and index maps of Pallas kernels.

    Blocks must lie in their arrays, every block of an output must be written, parallel iterations must not share
    one, and no iteration may return to a block that was left. The file is run and the function traced, on the
    CPU; no kernel runs. Needs jax.

    Args:
        function (FILE.py:FUNCTION): A function that calls kernels; the file is run.
        arguments (ARGUMENT): Its arguments: 'f32[512,512]', for all sizes 'f32[n,128]', with elements
            's32[3]=2,0,1', or a number.
        ranges (--range NAME=LO,HI): The bounds of the elements of a scalar prefetch operand; may be repeated.
        constraints (--constraint CONDITION): A condition on the sizes, in jax's notation: 'mod(n, 128) == 0',
            'n >= 256'; may be repeated.
    """
    from ...verify.verdict import worst
    from .. import pallas as reporting

    stated = {}
    for text in ranges or ():
        if (found := re.fullmatch(r"\s*(\w+)\s*=\s*(-?\d+)\s*,\s*(-?\d+)\s*", text, re.ASCII)) is None:
            expected = "NAME=LO,HI such as `table=0,7`"
            raise InputError(f"--range: {quoted(text)} is no range", expected=expected)
        stated[found[1]] = (int(found[2]), int(found[3]))
    given = reporting.given_arguments(arguments or (), constraints or ())
    checked = reporting.calls_in_file(function, given, stated)
    status = status_of(worst([c.verdict for c in checked]).value)
    finish(status, json, lambda: reporting.pallas_json(checked, status), lambda: reporting.pallas_text(checked))


def layout(
    shape: str,
    *,
    index: str | None = None,
    position: int | None = None,
    padded: str = "",
    svg: Path | None = None,
    verify: bool = False,
    json: bool = False,
) -> None:
    """Say how an array stands in memory.

    That is the order of dimensions, tiles, padding, and the maps between elements and positions.

    With --verify proves that the maps are inverse to each other, that padding is exactly the rest, and that
    both are the pad, reshape and transpose that define tiles; this then decides the exit status.

    Args:
        shape (SHAPE): An array with its layout: 'f32[3,5]{1,0:T(2,2)}'.
        index (I,J,...): Say where this element stands.
        position (N): Say what stands at this position.
        padded (N,M,...): The padded sizes of the dimensions.
        svg (FILE): Draw array and memory there.
    """
    from ...core.layout import memory
    from ..layouts import described
    from ..pictures import layout_picture

    at = memory(shape, integers("--padded", padded))
    # the only index of a scalar is empty, so the option is not needed
    place = integers("--index", index) if index else () if index is not None or not at.shape.rank else None
    found = described(at, place, position, verify)
    _draw(svg, lambda: layout_picture(at))
    _finish("layout", found, verify, json)


def _draw(svg: Path | None, picture: Callable[[], Picture]) -> None:
    """Write the picture to the file of ``--svg``, if it was asked for."""
    if svg is not None:
        with writing("--svg: cannot write", svg):
            picture().save(svg)


def _finish(command: str, found: Description, verify: bool, json: bool) -> NoReturn:
    """Print a description and end the command; with ``verify`` the verdict decides the exit status."""
    status = status_of(found.verdict.value) if verify else PROVED
    finish(status, json, lambda: found.document(command, status), found.text)


def bitcast(source: str, target: str, *, verify: bool = False, json: bool = False) -> None:
    """Take a bitcast apart into transposes and reshapes.

    Prints its maps between elements as well.

    With --verify proves, in both directions, that the steps move elements as equality of positions in memory
    requires; this then decides the exit status.

    Args:
        source (SOURCE): What is read: 'f32[6,4]{1,0}'.
        target (TARGET): What it is read as: 'f32[3,8]{0,1}'.
    """
    from ..layouts import described_bitcast

    _finish("bitcast", described_bitcast(source, target, verify), verify, json)


def launch(
    shape: str,
    *,
    threads: str = "128",
    blocks: str = "1",
    unroll: int = 1,
    warp: int = 32,
    given: str = "",
    operand: str = "",
    by: str = "thread",
    svg: Path | None = None,
    verify: bool = False,
    json: bool = False,
) -> None:
    """Say which elements the threads of a kernel compute and read.

    Describes threads, blocks and warps, and with --map the reads of an operand. With --operand counts the
    memory requests of warps: sectors, lines, and passes over the banks of shared memory.

    With --verify proves that every element is computed exactly once, that all maps agree, and that the reads
    are those of the computed elements by the map; this then decides the exit status.

    Args:
        shape (SHAPE): The output with its layout: 'f32[10,20]'.
        threads (X,Y,Z): The threads of a block; y and z may be left out.
        blocks (X,Y,Z): The blocks; y and z may be left out.
        unroll (N): How many neighbours a thread takes at once.
        warp (N): The threads of a warp.
        given (--map MAP): A map from the output to an operand: print the reads of it.
        operand (SHAPE): The operand of --map: count the memory requests of warps.
        by (thread|block|warp): Whose reads --map asks for.
        svg (FILE): Draw threads, warps and blocks there.
    """
    from ...core.launch import Launch
    from ...core.layout import memory
    from ..layouts import described_launch
    from ..pictures import launch_picture

    made = Launch(integers("--threads", threads), integers("--blocks", blocks), unroll, warp)
    if by != "thread" and not given:
        raise InputError(f"--by {by} says whose reads --map asks for", expected="--map")
    if operand and not given:
        raise InputError("--operand is the shape that --map leads to", expected="--map")
    m = as_map(given_text(given), "--map") if given else None
    over = made.over(shape)
    _draw(svg, lambda: launch_picture(over))
    _finish("launch", described_launch(over, m, by, verify, memory(operand) if operand else None), verify, json)
