"""Tasks in processes: all results arrive, even when a process dies, and an interrupt stops all work."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from indexproof.verify.pool import each


def double_or_die(n: int) -> int:
    if n < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * n


def mark(place: Path) -> int:
    place.touch()
    time.sleep(0.3)
    return 1


def test_every_task_comes_with_its_result() -> None:
    assert sorted(each(double_or_die, range(20), 2)) == [(n, 2 * n) for n in range(20)]
    assert list(each(double_or_die, [], 2)) == []


@pytest.mark.parametrize("at", [0, 3, 5])
def test_what_is_lost_with_a_process_is_told_and_the_rest_is_done(at: int) -> None:
    tasks = [*range(at), -1, *range(at, 5)]
    # one task at a time: only the task that kills its process is lost
    assert list(each(double_or_die, tasks, 1, ahead=1)) == [(n, None if n < 0 else 2 * n) for n in tasks]
    found = dict(each(double_or_die, tasks, 1))
    assert set(found) == set(tasks)
    assert found[-1] is None
    assert all(found[n] in (2 * n, None) for n in range(5))


def test_whoever_stops_early_ends_the_processes(tmp_path: Path) -> None:
    tasks = each(mark, [tmp_path / str(n) for n in range(50)], 1)
    next(tasks)
    tasks.close()
    done = len(list(tmp_path.iterdir()))
    assert done < 10
    time.sleep(0.5)
    assert len(list(tmp_path.iterdir())) == done
