"""XLA's own parser reads the layouts that we print, and takes without a word the mistakes that we report."""

from __future__ import annotations

import pytest

from indexproof.core.errors import InputError
from indexproof.core.layout import memory

xla = pytest.importorskip("jaxlib._hlo")

#: How XLA stores the size `*`; the description of tiled layouts says -1.
COMBINED = -(2**63)

TEXTS = [
    "f32[]",
    "f32[2,3]{0,1}",
    "f32[3,5]{1,0:T(2,2)}",
    "bf16[16,256]{1,0:T(8,128)(2,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "f32[]{:T(128)}",
    "f32[2]{0:T(2,2)}",
    "f32[3,5]{1,0:T(2,2)L(32)}",
    "s4[3,3]{1,0:T(2,2)E(4)S(1)}",
    "f32[<=5,3]{1,0:T(2,2)}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_xla_reads_the_same_layout(text: str) -> None:
    at = memory(text)
    shape = xla.Shape(str(at.shape))
    layout = shape.layout()
    assert layout.minor_to_major() == at.layout.minor_to_major
    tiles = [tuple(COMBINED if t is None else t for t in tile.sizes) for tile in at.layout.tiles]
    assert list(layout.tiling() or []) == tiles
    module = f"HloModule m\n\nENTRY e {{\n  ROOT p = {at.shape} parameter(0)\n}}\n"
    assert str(at.shape) in xla.hlo_module_from_text(module).to_string()


@pytest.mark.parametrize(
    "text", ["f32[2,2]{1,1}", "f32[2,2]{1,0:T(2,2}", "f32[2]{0:T()}", "f32[2,2]{1,0:T(0,2)}"]
)
def test_xla_takes_these_and_we_do_not(text: str) -> None:
    module = f"HloModule m\n\nENTRY e {{\n  ROOT p = {text} parameter(0)\n}}\n"
    assert "parameter(0)" in xla.hlo_module_from_text(module).to_string()
    with pytest.raises(InputError):
        memory(text)
