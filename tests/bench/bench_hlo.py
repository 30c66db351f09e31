"""Reading HLO text: our reader against XLA's own parser (jaxlib), interleaved in one run, and one large module; the
time of analysis and proofs.

Run with ``make bench``; prints tables in Markdown, which are kept in ``reports/hlo.md``.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from indexproof.core.hlo import Module, format_module, read_module
from indexproof.core.op import DIRECTIONS
from indexproof.reports.hlo_files import hlo_file_text
from indexproof.verify.analysed import module_maps
from indexproof.verify.modules import ModuleVerifier
from indexproof.verify.verdict import Status

DATA = Path(__file__).resolve().parent.parent / "core" / "hlo" / "data"
#: The number of times that each reader reads each text, in turn.
ROUNDS = 9

_NAME = re.compile(r"%([\w.\-]+)")
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_PARAMETER = re.compile(r"(?<=[ (])([\w.\-]+): (?=[a-z(])")

# The memory of a module is measured in a separate process, by Linux's figure for that process alone: `getrusage`
# would include the peak of its parent.
_ALONE = """
import sys
from indexproof.core.hlo import read_module
def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
text = open(sys.argv[1], encoding="utf-8").read()
before = peak()
module = read_module(text)
print(before, peak())
"""


def large_module(instructions: int) -> str:
    """Return one module made of all optimized modules of the corpus, repeated with new names and metadata.

    The source tables are those of one module.
    """
    texts = [hlo_file_text(path) for path in sorted(DATA.glob("*.opt.hlo.gz"))]
    head = hlo_file_text(DATA / "017_transformer_block_grad.opt.hlo.gz")
    head = head[head.index("\n\nFileNames") : head.index("\n\n%")]
    frames = head.count("file_location_id=")
    parts = [f"HloModule large, is_scheduled=true{head}\n\n"]
    made = copy = 0
    while made < instructions:
        text = texts[copy % len(texts)]
        body = text[text.index("\n\n%") if "\n\n%" in text else text.index("\n\nENTRY") :]
        body = _NAME.sub(lambda found, copy=copy: f"%{found[1]}.c{copy}", body)
        body = _PARAMETER.sub(lambda found, copy=copy: f"{found[1]}.c{copy}: ", body)
        body = body.replace('op_name="', f'op_name="step{copy}/').replace("\nENTRY ", "\n")
        body = _FRAME.sub(lambda found: f"stack_frame_id={int(found[1]) % frames + 1}", body)
        parts.append(body.strip("\n") + "\n\n")
        made += body.count(" = ")
        copy += 1
    at = parts[-1].rindex("\n%", 0, parts[-1].rindex(") -> "))
    parts[-1] = parts[-1][: at + 1] + "ENTRY " + parts[-1][at + 1 :]
    return "".join(parts)


def _xla() -> Callable[[str], object]:
    from jaxlib import _hlo

    return _hlo.hlo_module_from_text


def medians(
    text: str, readers: dict[str, Callable[[str], object]], clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the median seconds of each reader, in interleaved rounds."""
    times: dict[str, list[float]] = {name: [] for name in readers}
    for k in range(ROUNDS):
        for name in list(readers)[:: 1 if k % 2 else -1]:
            start = clock()
            readers[name](text)
            times[name].append(clock() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


def bench_the_corpus() -> None:
    readers = {"indexproof": read_module, "XLA": _xla()}
    total = {stage: dict.fromkeys((*readers, "size"), 0.0) for stage in ("pre", "opt")}
    rows = []
    for path in sorted(DATA.glob("*.pre.hlo.gz")):
        name = path.name.split(".")[0]
        cells = [name]
        for stage in ("pre", "opt"):
            text = hlo_file_text(path.with_name(f"{name}.{stage}.hlo.gz"))
            found = medians(text, readers)
            count = sum(1 for _ in read_module(text).instructions())
            cells += [str(count), *(f"{1e3 * found[r]:.2f}" for r in readers)]
            total[stage]["size"] += len(text)
            for r in readers:
                total[stage][r] += found[r]
        rows.append(cells)
    print("\n| read, ms | pre: instructions | indexproof | XLA | opt: instructions | indexproof | XLA |")
    print("| --- " * 7 + "|")
    for cells in rows:
        print("| " + " | ".join(cells) + " |")
    for stage, sums in total.items():
        rates = ", ".join(f"{r} {sums['size'] / sums[r] / 1e6:.1f} MB/s" for r in readers)
        print(f"\n{stage}: {sums['size'] / 1e3:.0f} kB; {rates}")


def bench_analysis() -> None:
    """All maps of all computations in both directions, and their proofs, beside the time that XLA's parser takes.

    Processor time is measured, so that other load on the machine matters little.
    """
    readers = {"XLA reads": _xla(), "read": read_module}
    total: dict[str, float] = {}
    print("\n| ms | instructions | XLA reads | read | analyse | verify | questions | maps |")
    print("| --- " * 8 + "|")
    for path in sorted(DATA.glob("*.hlo.gz")):
        text = hlo_file_text(path)
        taken = medians(text, readers, time.process_time)
        module = read_module(text)
        taken["analyse"], maps = _analysis(module)
        start = time.process_time()
        checked = [c for report in map(ModuleVerifier(module).check, module.callees_first) for c in report.checked]
        taken["verify"] = time.process_time() - start
        assert all(c.status is Status.PROVED for c in checked), path.name
        counted = {"instructions": sum(len(c.instructions) for c in module.computations), "maps": maps}
        counted["questions"] = len(checked)
        for name, n in {**taken, **counted}.items():
            total[name] = total.get(name, 0) + n
        print(_row(path.name.removesuffix(".hlo.gz"), taken, counted))
    print(_row("all", total, total))


def _row(name: str, taken: Mapping[str, float], counted: Mapping[str, float]) -> str:
    cells = [name, f"{counted['instructions']:,.0f}"]
    cells += [f"{1e3 * taken[what]:,.2f}" for what in ("XLA reads", "read")]
    cells += [f"{1e3 * taken[what]:,.0f}" for what in ("analyse", "verify")]
    cells += [f"{counted[what]:,.0f}" for what in ("questions", "maps")]
    return f"| {' | '.join(cells)} |"


def _analysis(module: Module) -> tuple[float, int]:
    """Return the processor seconds for all maps of a module, and the number of maps between roots and parameters."""
    start = time.process_time()
    maps = module_maps(module)
    found = [maps.computation(c, direction) for c in module.callees_first for direction in DIRECTIONS]
    return time.process_time() - start, sum(len(r.maps) for m in found for r in m.leaves.values())


def bench_a_large_module(tmp_path: Path) -> None:
    text = large_module(40_000)
    module = read_module(text)
    count = sum(1 for _ in module.instructions())
    size = len(text) / 1e6
    found = medians(text, {"indexproof": read_module, "XLA": _xla()})
    start = time.perf_counter()
    printed = format_module(module)
    spent = time.perf_counter() - start
    assert read_module(printed) == module
    path = tmp_path / "large.hlo"
    path.write_text(text, "utf-8")
    done = subprocess.run([sys.executable, "-c", _ALONE, str(path)], capture_output=True, text=True, check=True)
    before, after = map(float, done.stdout.split())
    print(f"\n| {size:.1f} MB, {count:,} instructions | |\n| --- | --- |")
    for name, seconds in found.items():
        print(f"| read by {name} | {seconds:.2f} s, {size / seconds:.1f} MB/s |")
    print(f"| printed | {spent:.2f} s, {size / spent:.1f} MB/s |")
    print(f"| memory of the module | {(after - before) / 1024:.0f} MiB |")
    print(f"| the process in all | {after / 1024:.0f} MiB |")
    assert found["indexproof"] < 5
    assert after / 1024 < 1024
