"""Files of keyed lines: what is kept is known again, whatever interrupted the run that kept it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from indexproof.core.errors import InputError
from indexproof.verify.checkpoint import Checkpoint


def number(line: Mapping[str, Any]) -> int:
    return int(line["n"])


def filled(path: Path, **entries: int) -> Checkpoint:
    with Checkpoint(path) as kept:
        for key, n in entries.items():
            kept.add(key, {"n": n})
    return Checkpoint(path)


def test_what_is_kept_is_known(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    assert Checkpoint(path).known(number) == {}
    assert filled(path, a=1, b=2).known(number) == {"a": 1, "b": 2}
    assert filled(path, c=3).known(number) == {"a": 1, "b": 2, "c": 3}
    assert path.read_text("utf-8").splitlines()[0] == '{"key": "a", "n": 1}'


def test_of_repeated_keys_the_last_counts_or_the_best(tmp_path: Path) -> None:
    filled(tmp_path / "kept", a=5)
    kept = filled(tmp_path / "kept", a=3)
    assert kept.known(number) == {"a": 3}
    assert kept.known(number, better=lambda new, old: new > old) == {"a": 5}


@pytest.mark.parametrize("left", range(1, 22))
def test_a_line_without_its_end_is_left_out_and_ended(tmp_path: Path, left: int) -> None:
    path = tmp_path / "kept"
    filled(path, a=1, b=2)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 + left])
    known = {"a": 1, "b": 2} if left >= 20 else {"a": 1}
    assert Checkpoint(path).known(number) == known
    assert filled(path, c=3).known(number) == {**known, "c": 3}


def test_lines_that_are_something_else_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    filled(path, a=1)
    lines = [
        '{"key": "b"}',
        '{"key": "c", "n": null}',
        '{"key": "d", "n": "x"}',
        '["key"]',
        "7",
        "",
        "\udcff",
    ]
    with path.open("ab") as file:
        file.write("\n".join(lines).encode(errors="surrogateescape") + b"\n")
    # what some take for the end of a line is none inside of a text
    with Checkpoint(path) as kept:
        kept.add("e", {"n": 5, "of": "a\u2028b\x85c"})
    assert kept.known(number) == {"a": 1, "e": 5}


@pytest.mark.parametrize("content", [b"x", b'{"format": 1}\n', b"\n" * 9, b'{"keys": "a", "n": 1}\n'])
def test_a_file_of_somebody_else_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not one of this program's checkpoints"):
        Checkpoint(path)
    assert path.read_bytes() == content


def test_without_a_file_nothing_is_kept() -> None:
    with Checkpoint(None) as kept:
        kept.add("a", {"n": 1})
    assert kept.known(number) == {}
