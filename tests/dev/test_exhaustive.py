"""The results of extraction are nearly the best that its own proposals lead to."""

from pathlib import Path

from indexproof.core.extraction import Ledger
from indexproof.core.text_reader import parse_map

from .exhaustive import gap

MAPS = Path(__file__).parents[1] / "core" / "data" / "xla_maps.txt"


def costs():
    """Return the costs of production and the least costs found, summed over maps that XLA printed."""
    gaps = [g for t in MAPS.read_text().splitlines() if (g := gap(parse_map(t), states=60)) is not None]
    assert len(gaps) > 200
    return sum(g.found for g in gaps), sum(g.least for g in gaps)


def test_little_is_missed():
    found, least = costs()
    assert least <= found <= 1.005 * least


def test_a_search_that_gives_up_is_noticed(monkeypatch):
    monkeypatch.setattr(Ledger, "best", lambda self, options: False)
    found, least = costs()
    assert found > 1.005 * least
