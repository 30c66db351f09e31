"""Maps of operations that are easily got wrong, against those of the catalogue."""

from __future__ import annotations

from pathlib import Path

from indexproof.verify.claims import check_claims, read_claims
from indexproof.verify.verdict import Status

FILE = Path(__file__).parent / "data" / "operations.claims"


def test_all_are_as_expected() -> None:
    file = read_claims(FILE.read_text("utf-8"), FILE.name)
    results = check_claims(file)
    for r in results:
        assert r.as_expected, (r.claim.name, r.verdict, r.headline)
    wrong = [r for r in results if r.verdict is Status.REFUTED]
    assert len(wrong) >= 24
    assert all(r.headline for r in wrong)


def test_claims_about_the_same_pair_are_counted() -> None:
    file = read_claims(FILE.read_text("utf-8"), FILE.name)
    assert [c.name for c in file.claims][:3] == [
        "reverse: r -> p0",
        "reverse: r -> p0 (2)",
        "reverse: p0 -> r",
    ]
