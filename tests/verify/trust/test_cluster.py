"""A real Dask scheduler with worker processes gives the same verdicts, even if workers are killed."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from recorded import Fatal, decisions, recorded  # noqa: E402

from indexproof.core.errors import InputError  # noqa: E402
from indexproof.core.expr import var  # noqa: E402
from indexproof.reports.selection import catalogue  # noqa: E402
from indexproof.verify import cluster as module  # noqa: E402
from indexproof.verify.budget import Budget  # noqa: E402
from indexproof.verify.cache import Cache, content_key  # noqa: E402
from indexproof.verify.cluster import Cluster, fingerprint, perform  # noqa: E402
from indexproof.verify.obligation import Obligation  # noqa: E402
from indexproof.verify.outcome import Result, Run  # noqa: E402
from indexproof.verify.proving import prove_all  # noqa: E402
from indexproof.verify.run import Job  # noqa: E402
from indexproof.verify.verdict import Status  # noqa: E402

pytest.importorskip("distributed")

#: The number of workers, and the number of failures that the scheduler allows for a task.
WORKERS, FAILURES = 2, 0


@dataclass(frozen=True)
class Processes:
    """The address and process of a scheduler, and a function that adds a worker with more on its path."""

    address: str
    scheduler: subprocess.Popen[str]
    worker: Callable[..., subprocess.Popen[str]]


def environment(*first: Path) -> dict[str, str]:
    path = [*map(str, first), *filter(None, sys.path)]
    settings = {
        "PYTHONPATH": os.pathsep.join(path),
        "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(FAILURES),
        "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False",
    }
    return {**os.environ, **settings}


def started(*args: str, first: tuple[Path, ...] = ()) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", *args]
    return subprocess.Popen(
        command,
        env=environment(*first),
        cwd=HERE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def heard(process: subprocess.Popen[str], pattern: str) -> str:
    """Wait until a line of the process matches, and return the first group."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if found := re.search(pattern, line):
            return found.group(1)
    raise AssertionError("".join(said))


def stop(process: subprocess.Popen[str]) -> None:
    """Kill a process and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stderr is not None:
        process.stderr.close()


@contextmanager
def processes(folder: Path, workers: int, *options: str, protocol: str = "tcp") -> Iterator[Processes]:
    running: list[subprocess.Popen[str]] = []

    def worker(*more: str, first: tuple[Path, ...] = ()) -> subprocess.Popen[str]:
        place = ["--local-directory", str(folder), "--no-dashboard", "--nthreads", "1", "--death-timeout", "20"]
        running.append(started("distributed.cli.dask_worker", address, *place, *more, first=first))
        return running[-1]

    where = ("--protocol", protocol, "--host", "127.0.0.1", "--port", "0")
    scheduler = started("distributed.cli.dask_scheduler", *where, "--no-dashboard", "--no-show")
    running.append(scheduler)
    try:
        address = heard(scheduler, rf"Scheduler at:\s+({protocol}://\S+)")
        for _ in range(workers):
            worker(*options)
        yield Processes(address, scheduler, worker)
    finally:
        for process in reversed(running):
            stop(process)


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    with processes(tmp_path_factory.mktemp("dask"), WORKERS) as found:
        yield found


def joined(address: str, workers: int = WORKERS) -> Cluster:
    found = Cluster(address)
    found._client.wait_for_workers(workers, timeout=30)
    found._introduce()
    return found


@cache
def sample() -> list[Obligation]:
    return [o for o in catalogue(max_rank=1) if o.gate][::28]


def claims(log: Path, step: int = 1) -> list[Obligation]:
    return [recorded(o, n, log) for n, o in enumerate(sample())][::step]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[object, ...]]:
    """Return the verdicts of a run in this process."""
    return facts(prove_all(claims(tmp_path_factory.mktemp("here") / "log"), jobs=1))


def only(expected: dict[str, tuple[object, ...]], todo: list[Obligation]) -> dict[str, tuple[object, ...]]:
    return {o.name: expected[o.name] for o in todo}


def facts(run: Run) -> dict[str, tuple[object, ...]]:
    said = [(r.obligation.name, r.verdict) for r in run.results]
    return {name: (v.status, v.strategy, v.resources, v.witness, v.tried) for name, v in said}


Facts = dict[str, tuple[object, ...]]


def test_a_worker_killed_half_way(dask: Processes, tmp_path: Path, expected: Facts) -> None:
    log = tmp_path / "log"
    assert len(expected) > 40
    todo = claims(log)
    asked = {content_key(o, Budget()): o.name for o in reversed(todo)}
    longest = max(1, len(asked) // (8 * WORKERS))
    arrived: list[str] = []
    before: set[str] = set()
    killed = 0

    def kill(r: Result) -> None:
        nonlocal killed
        arrived.append(r.obligation.name)
        if len(arrived) == len(todo) // 2:
            # a worker that is deciding a claim
            killed = decisions(log)[-1][0]
            os.kill(killed, signal.SIGKILL)
            # the scheduler may not know yet that the last parcels have arrived
            before.update(arrived[: -2 * WORKERS * longest])

    place = tmp_path / "verdicts.sqlite"
    with joined(dask.address) as crew, Cache(place) as store:
        assert crew.size == WORKERS
        run = prove_all(todo, executor=crew, cache=store, progress=kill)
    assert killed
    # nothing is lost: verdicts, strategies and costs are the same, and all verdicts are kept
    assert facts(run) == expected
    assert sorted(arrived) == sorted(expected)
    assert run.lost_workers == 1
    with Cache(place) as store:
        again = prove_all(todo, jobs=1, cache=store)
    assert all(r.cached for r in again.results)
    # only claims of the dead worker were decided twice
    done = decisions(log)
    times = Counter(name for _, name in done)
    assert times.keys() == set(asked.values())
    twice = {name for name, n in times.items() if n > 1}
    by_dead = [name for pid, name in done if pid == killed]
    assert max(times.values()) <= 2
    assert twice <= set(by_dead)
    assert before
    assert not twice & before
    # the scheduler may have sent all parcels in flight to it
    assert len(twice) <= module._AHEAD * WORKERS * longest
    assert len({pid for pid, _ in done}) >= 2


def test_a_claim_that_ends_its_workers(dask: Processes, tmp_path: Path, expected: Facts) -> None:
    log = tmp_path / "log"
    others = claims(log, 6)
    fatal = Fatal("test", "a fault", "fatal", (), var("x") >= 0, where=str(log))
    todo = [*others[:5], fatal, *others[5:]]
    with joined(dask.address) as crew, Cache(tmp_path / "verdicts.sqlite") as store:
        run = prove_all(todo, executor=crew, cache=store)
        assert store.get(content_key(fatal, Budget())) is None
    said = {r.obligation.name: r.verdict for r in run.results}
    assert said[fatal.name].status is Status.UNDECIDED
    assert "died, one after the other" in said[fatal.name].detail
    assert run.exit_status == 2
    assert {name: f for name, f in facts(run).items() if name != fatal.name} == only(expected, others)


def test_interrupted_it_keeps_what_has_arrived(dask: Processes, tmp_path: Path, expected: Facts) -> None:
    log = tmp_path / "log"
    todo = claims(log)
    done: list[str] = []

    def interrupt(r: Result) -> None:
        done.append(r.obligation.name)
        if len(done) == 20:
            raise KeyboardInterrupt

    place = tmp_path / "verdicts.sqlite"
    with joined(dask.address, 1) as crew:
        with Cache(place) as store:
            run = prove_all(todo, executor=crew, cache=store, progress=interrupt)
        assert run.interrupted
        with Cache(place) as store:
            rest = prove_all(todo, executor=crew, cache=store)
    assert {r.obligation.name for r in rest.results if r.cached} >= set(done)
    assert facts(rest) == only(expected, todo)
    # claims in flight at the interruption may have been started before
    assert max(Counter(name for _, name in decisions(log)).values()) <= 2


def test_the_command(dask: Processes, tmp_path: Path) -> None:
    def indexproof(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "indexproof", "prove", *args]
        return subprocess.run(command, env=environment(), cwd=tmp_path, capture_output=True, text=True, check=False)

    names = ("small_remainder_vanishes", "quotient_of_quotient")
    done = indexproof(*names, "--scheduler", dask.address, "--cache", "verdicts.sqlite")
    assert done.returncode == 0, done.stderr
    assert "PROVED  2 claims" in done.stdout
    assert not done.stderr
    assert "from the cache" in indexproof(*names, "--cache", "verdicts.sqlite").stdout
    done = indexproof(*names, "--scheduler", dask.address, "--jobs", "2")
    assert done.returncode == 3
    assert "--jobs" in done.stderr


def test_workers_that_are_something_else(dask: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    todo = claims(tmp_path / "log", 2)
    with joined(dask.address, 1) as crew:
        # the task notices a worker with other versions
        crew._expected = {**fingerprint(), "z3": "4.8.7"}
        with pytest.raises(InputError, match=r"z3 5\S* instead of 4\.8\.7"):
            prove_all(todo, executor=crew)
        crew._expected = fingerprint()
        # also a worker that joins later and lacks indexproof
        broken = tmp_path / "indexproof"
        broken.mkdir()
        (broken / "__init__.py").write_text("raise ImportError('No module named indexproof')\n", "utf-8")
        stranger = dask.worker("--no-nanny", first=(tmp_path,))
        heard(stranger, r"Registered to:\s+(\S+)")
        with pytest.raises(InputError, match="has no indexproof"):
            prove_all(todo, executor=crew)
    with pytest.raises(InputError, match=r"the worker tcp://\S+ has no indexproof"):
        Cluster(dask.address)
    stop(stranger)
    while True:
        try:
            joined(dask.address, 1).__exit__(None, None, None)
        except InputError:
            time.sleep(0.1)
        else:
            break
    monkeypatch.setattr(module, "fingerprint", lambda: {**fingerprint(), "the prover's source": "000"})
    with pytest.raises(InputError, match=r"the prover's source .* instead of 000"):
        Cluster(dask.address)


def test_what_a_worker_does() -> None:
    job = Job(((3, Obligation("test", "x", "sound", (), var("x").eq(var("x")))),), Budget())
    ((n, v),) = perform(module.pickle.dumps(job), fingerprint())
    assert (n, v.status) == (3, Status.PROVED)
    with pytest.raises(InputError, match="instead of 1"):
        perform(b"", {**fingerprint(), "numpy": "1"})


def test_nobody_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: Facts) -> None:
    monkeypatch.setattr(module, "_CONNECT", 0.5)
    with pytest.raises(InputError, match=r"no Dask scheduler at `tcp://127\.0\.0\.1:1`"):
        Cluster("tcp://127.0.0.1:1")
    for wrong in ("nonsense:", "nonsense", "tcp://host", "tcp://", ":8786", ""):
        with pytest.raises(InputError, match=r"no Dask scheduler at .*that is no address"):
            Cluster(wrong)
    with monkeypatch.context() as m:
        m.setitem(sys.modules, "distributed", None)
        with pytest.raises(InputError, match=r"indexproof\[distributed\]"):
            Cluster("tcp://127.0.0.1:1")
    with processes(tmp_path, 0) as alone:
        with pytest.raises(InputError, match="has no workers"):
            Cluster(alone.address, patience=0.2)
        worker = alone.worker("--no-nanny")
        crew = Cluster(alone.address)
        crew.patience = 1.0
        log = tmp_path / "log"
        todo = claims(log)
        place = tmp_path / "verdicts.sqlite"
        done: list[str] = []

        def end(victim: subprocess.Popen[str]) -> Callable[[Result], None]:
            def told(r: Result) -> None:
                done.append(r.obligation.name)
                if len(done) in (10, 20):
                    victim.kill()

            return told

        # first the last worker, then the scheduler is killed: arrived verdicts are kept, and the reason is reported
        with crew, Cache(place) as store:
            run = prove_all(todo, executor=crew, cache=store, progress=end(worker))
        assert re.match(r"no worker is left at tcp://", run.stopped)
        assert run.exit_status == 2
        assert {r.verdict.detail for r in run.results if r.verdict.status is Status.NOT_CHECKED} == {run.stopped}
        alone.worker("--no-nanny")
        # verdicts may have arrived after the worker was killed
        done.clear()
        with Cluster(alone.address) as crew, Cache(place) as store:
            run = prove_all(todo, executor=crew, cache=store, progress=end(alone.scheduler))
            assert sum(r.cached for r in run.results) >= 10
        assert "scheduler" in run.stopped
    with Cache(place) as store:
        rest = prove_all(todo, jobs=1, cache=store)
    assert {r.obligation.name for r in rest.results if r.cached} >= set(done)
    assert facts(rest) == only(expected, todo)


def test_a_client_that_never_connected_blocks_no_other(dask: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    original = threading.Thread.run

    def run(thread: threading.Thread) -> None:
        gc.collect()
        original(thread)

    gc.disable()
    try:
        with pytest.raises(InputError, match="there is no Dask scheduler"):
            Cluster("unknown://127.0.0.1:9")
        monkeypatch.setattr(threading.Thread, "run", run)
        with Cluster(dask.address) as cluster:
            assert cluster.size
    finally:
        gc.enable()


@pytest.mark.parametrize("address", ["tcp://192.0.2.1:8786", "node:8786", "tcp://[2001:db8::1]:8786"])
def test_no_parcel_goes_through_a_network_in_clear_text(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"a Dask scheduler at .* takes parcels from anybody"):
        Cluster(address)
    monkeypatch.setattr(module, "_own_address", lambda: address)
    monkeypatch.setattr(module.pickle, "loads", lambda parcel: pytest.fail("unpickled"))
    with pytest.raises(InputError, match=r"a worker at .* takes parcels from anybody"):
        perform(b"", fingerprint())


@pytest.mark.parametrize("address", ["", "tls://node:8786", "tcp://127.0.0.1:8786", "[::1]:8786", "localhost:8786"])
def test_parcels_go_where_nobody_else_may_send_them(address: str) -> None:
    module._expect_private(address, "a worker")


def certificate(folder: Path, name: str) -> dict[str, str]:
    """Return Dask's settings for a new self-signed certificate."""
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=indexproof"]
    subprocess.run([*made, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    settings = {"ca-file": cert}
    for role in ("client", "scheduler", "worker"):
        settings |= {f"{role}.cert": cert, f"{role}.key": key}
    return {f"distributed.comm.tls.{k}": str(v) for k, v in settings.items()}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl makes the certificates")
def test_certificates_are_demanded_where_they_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dask import config

    ours, others = certificate(tmp_path, "ours"), certificate(tmp_path, "others")
    with monkeypatch.context() as m:
        for name, value in (ours | {"distributed.comm.require-encryption": "True"}).items():
            m.setenv("DASK_" + name.replace(".", "__").replace("-", "_").upper(), value)
        with processes(tmp_path, 1, protocol="tls") as dask:
            plain = dask.address.removeprefix("tls://")
            with config.set(ours), Cluster(plain) as cluster:
                assert cluster.address == dask.address
                run = prove_all(sample()[:3], executor=cluster)
                assert facts(run) == facts(prove_all(sample()[:3], jobs=1))
            # no certificate, another certificate, or no encryption
            for settings, address in (({}, dask.address), (others, plain), (ours, f"tcp://{plain}")):
                with config.set(settings), pytest.raises(InputError, match="there is no Dask"):
                    Cluster(address)
