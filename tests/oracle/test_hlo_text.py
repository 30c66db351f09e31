"""XLA's own parser accepts what we print, and reads the same module from it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from indexproof.core.hlo import format_module, read_module

xla = pytest.importorskip("jaxlib._hlo")

FILES = sorted((Path(__file__).parents[1] / "core/hlo/data").glob("*.hlo.gz"))


@pytest.mark.parametrize("percent", [True, False])
def test_xla_reads_what_we_print(percent: bool) -> None:
    assert len(FILES) == 44
    for path in FILES:
        with gzip.open(path, "rt") as file:
            text = file.read()
        printed = format_module(read_module(text), percent)
        original = xla.hlo_module_from_text(text).to_string()
        assert xla.hlo_module_from_text(printed).to_string() == original, path.name
        # and what XLA prints comes back, too
        assert format_module(read_module(original)) == format_module(
            read_module(format_module(read_module(original)))
        )
