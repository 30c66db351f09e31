"""Commands for compilers: HLO modules, Pallas kernels, arrays in memory, launches."""

from __future__ import annotations

import gc
import re
from pathlib import Path
from typing import Annotated

import typer

from ...core.errors import InputError, quoted
from .frame import PROVED, report, status_of, writing
from .given import Json, as_map, given_text, integers, standard_input

Verify = Annotated[bool, typer.Option("--verify", help="Prove everything that is printed.")]


def hlo(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="HLO as XLA prints it, or StableHLO; also gzipped; - for standard input.",
        ),
    ],
    which: Annotated[
        str | None,
        typer.Option("--module", "-m", metavar="NAME", help="Which one, if the file holds several modules."),
    ] = None,
    computation: Annotated[
        list[str] | None,
        typer.Option("--computation", "-c", metavar="NAME", help="Only this computation; may be repeated."),
    ] = None,
    instruction: Annotated[
        list[str] | None,
        typer.Option(
            "--instruction",
            "-i",
            metavar="NAME",
            help="The maps between this instruction and its operands; may be repeated.",
        ),
    ] = None,
    producers: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="NAME",
            help="The maps between this instruction and --to, over all paths; may be repeated.",
        ),
    ] = None,
    consumers: Annotated[
        list[str] | None,
        typer.Option(
            "--to", metavar="NAME", help="What reads --from: the root unless given; may be repeated."
        ),
    ] = None,
    fusions: Annotated[bool, typer.Option("--fusions", help="The computations of all fusions.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="All computations.")] = False,
    inputs: Annotated[
        bool, typer.Option("--input-to-output", help="Maps from what is read to what reads it as well.")
    ] = False,
    physical: Annotated[
        bool, typer.Option("--physical", help="Maps between positions in memory, layouts and tiles counted.")
    ] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="A line for each computation in place of its maps.")
    ] = False,
    analyze: Annotated[
        bool, typer.Option("--analyze", help="Count how much of each operand is read, and how often.")
    ] = False,
    tile: Annotated[
        str, typer.Option("--tile", metavar="N,M,...", help="Say which tile of an operand such a tile reads.")
    ] = "",
    budget: Annotated[
        int | None,
        typer.Option("--tilings", metavar="BYTES", min=1, help="List the tilings whose tiles fit into this."),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg", metavar="FILE", help="Draw what the first such tile reads (--tile), of one unit."
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Prove the maps, of all computations unless some are named.")
    ] = False,
    json: Json = False,
) -> None:
    """Print the maps of an HLO module, and prove them.

    They are the maps between what the module computes and what it is given: of its entry, of named computations
    or fusions, of single instructions, or of all paths between two. Instructions without maps are listed with the
    reason.

    With --verify proves for the sizes of the program that maps are in bounds, that those of the two directions
    are each other's inverse, that operands which share an output cover it, and that composed maps are the
    composition; this then decides the exit status.
    """
    from ...core.op import DIRECTIONS
    from .. import hlo as reporting
    from ..hlo_files import module_of

    ends = (producers or (), consumers or ()) if producers or consumers else None
    if ends and (instruction or fusions or everything or len(computation or ()) > 1):
        raise InputError(
            "--from and --to ask about one computation", expected="nothing but one --computation"
        )
    if verify and instruction:
        raise InputError("--verify proves whole computations", expected="no --instruction")
    if verify and physical:
        raise InputError("--verify proves maps between elements", expected="no --physical")
    if svg is not None and not tile:
        raise InputError("--svg draws what a tile reads", expected="--tile")
    asked = reporting.Questions(analyze, integers("--tile", tile), budget)
    if asked and physical:
        raise InputError("--analyze, --tile and --tilings speak of elements", expected="no --physical")
    module = module_of(file, standard_input() if file == "-" else None, which)
    gc.freeze()  # the module stays: not looked through again and again for what can be freed
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
        from ..access import tile_picture

        with writing("--svg: cannot write", svg):
            tile_picture(found, asked.tile).save(svg)
    status = status_of(found.verdict.value) if verify else PROVED
    brief = summary or (verify and not named and ends is None)
    report(json, lambda: reporting.hlo_json(found, status), lambda: reporting.hlo_text(found, brief))
    raise typer.Exit(status)


def pallas(
    function: Annotated[
        str,
        typer.Argument(
            metavar="FILE.py:FUNCTION",
            show_default=False,
            help="A function that calls kernels; the file is run.",
        ),
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARGUMENT",
            show_default=False,
            help="What it is called with: 'f32[512,512]', with elements 's32[3]=2,0,1', or a number.",
        ),
    ] = None,
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="NAME=LO,HI",
            help="Between which values the elements of a scalar prefetch operand lie; may be repeated.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Check the grids, blocks and index maps of Pallas kernels.

    Blocks must lie in their arrays, every block of an output must be written, parallel iterations must not share
    one, and no iteration may return to a block that was left. The file is run and the function traced, on the
    CPU; no kernel runs. Needs jax.
    """
    from ...verify.verdict import worst
    from .. import pallas as reporting

    stated = {}
    for text in ranges or ():
        found = re.fullmatch(r"\s*(\w+)\s*=\s*(-?\d+)\s*,\s*(-?\d+)\s*", text, re.ASCII)
        if found is None:
            raise InputError(
                f"--range: {quoted(text)} is no range", expected="NAME=LO,HI such as `table=0,7`"
            )
        stated[found[1]] = (int(found[2]), int(found[3]))
    given = [reporting.given_argument(a) for a in arguments or ()]
    checked = reporting.calls_in_file(function, given, stated)
    status = status_of(worst([c.verdict for c in checked]).value)
    report(json, lambda: reporting.pallas_json(checked, status), lambda: reporting.pallas_text(checked))
    raise typer.Exit(status)


def layout(
    shape: Annotated[
        str,
        typer.Argument(
            metavar="SHAPE", show_default=False, help="An array with its layout: 'f32[3,5]{1,0:T(2,2)}'."
        ),
    ],
    index: Annotated[
        str | None, typer.Option("--index", metavar="I,J,...", help="Say where this element stands.")
    ] = None,
    position: Annotated[
        int | None, typer.Option("--position", metavar="N", help="Say what stands at this position.")
    ] = None,
    padded: Annotated[
        str, typer.Option("--padded", metavar="N,M,...", help="The padded sizes of the dimensions.")
    ] = "",
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw array and memory there.")
    ] = None,
    verify: Verify = False,
    json: Json = False,
) -> None:
    """Say how an array stands in memory.

    That is the order of dimensions, tiles, padding, and the maps between elements and positions.

    With --verify proves that the maps are inverse to each other, that padding is exactly the rest, and that
    both are the pad, reshape and transpose that define tiles; this then decides the exit status.
    """
    from ...core.layout import memory
    from ..layouts import described, layout_json, layout_text

    at = memory(shape, integers("--padded", padded))
    # an element of no dimensions has an empty index, and needs none
    place = integers("--index", index) if index else () if index is not None or not at.shape.rank else None
    found = described(at, verify)
    status = status_of(found.verdict.value) if verify else PROVED
    if svg is not None:
        from ..pictures import layout_picture

        with writing("--svg: cannot write", svg):
            layout_picture(at).save(svg)
    report(
        json,
        lambda: layout_json(found, status, place, position),
        lambda: layout_text(found, place, position),
    )
    raise typer.Exit(status)


def bitcast(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", show_default=False, help="What is read: 'f32[6,4]{1,0}'.")
    ],
    target: Annotated[
        str, typer.Argument(metavar="TARGET", show_default=False, help="What it is read as: 'f32[3,8]{0,1}'.")
    ],
    verify: Verify = False,
    json: Json = False,
) -> None:
    """Take a bitcast apart into transposes and reshapes.

    Prints its maps between elements as well.

    With --verify proves that the steps do to elements what equality of positions in memory says, both ways;
    this then decides the exit status.
    """
    from ..layouts import bitcast_text, described_bitcast
    from ..machine import document, plain

    found = described_bitcast(source, target, verify)
    status = status_of(found.verdict.value) if verify else PROVED
    report(
        json, lambda: document("bitcast", found.verdict, status, **plain(found)), lambda: bitcast_text(found)
    )
    raise typer.Exit(status)


def launch(
    shape: Annotated[
        str,
        typer.Argument(metavar="SHAPE", show_default=False, help="The output with its layout: 'f32[10,20]'."),
    ],
    threads: Annotated[
        str,
        typer.Option("--threads", metavar="X,Y,Z", help="The threads of a block; y and z may be left out."),
    ] = "128",
    blocks: Annotated[
        str, typer.Option("--blocks", metavar="X,Y,Z", help="The blocks; y and z may be left out.")
    ] = "1",
    unroll: Annotated[
        int, typer.Option("--unroll", metavar="N", help="How many neighbours a thread takes at once.")
    ] = 1,
    warp: Annotated[int, typer.Option("--warp", metavar="N", help="The threads of a warp.")] = 32,
    given: Annotated[
        str,
        typer.Option("--map", metavar="MAP", help="From the output to an operand: say what is read of it."),
    ] = "",
    operand: Annotated[
        str,
        typer.Option(
            "--operand", metavar="SHAPE", help="The operand of --map: count the memory requests of warps."
        ),
    ] = "",
    by: Annotated[
        str, typer.Option("--by", metavar="thread|block|warp", help="Whose reads --map asks for.")
    ] = "thread",
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw threads, warps and blocks there.")
    ] = None,
    verify: Verify = False,
    json: Json = False,
) -> None:
    """Say which elements the threads of a kernel compute and read.

    Says it of threads, blocks and warps, and of an operand with --map. With --operand counts what warps ask of
    memory: sectors, lines, and passes over the banks of shared memory.

    With --verify proves that every element is computed exactly once, that all maps agree, and that what is
    read is what the map says of what is computed; this then decides the exit status.
    """
    from ...core.launch import Launch
    from ...core.layout import memory
    from ..layouts import described_launch, launch_text
    from ..machine import document, plain

    made = Launch(integers("--threads", threads), integers("--blocks", blocks), unroll, warp)
    if by != "thread" and not given:
        raise InputError(f"--by {by} says whose reads --map asks for", expected="--map")
    if operand and not given:
        raise InputError("--operand is the shape that --map leads to", expected="--map")
    m = as_map(given_text(given), "--map") if given else None
    over = made.over(shape)
    if svg is not None:
        from ..pictures import launch_picture

        with writing("--svg: cannot write", svg):
            launch_picture(over).save(svg)
    found = described_launch(over, m, by, verify, memory(operand) if operand else None)
    status = status_of(found.verdict.value) if verify else PROVED
    report(
        json, lambda: document("launch", found.verdict, status, **plain(found)), lambda: launch_text(found)
    )
    raise typer.Exit(status)
