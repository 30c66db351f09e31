"""Jobs as tasks of a Dask cluster: the one place that imports ``distributed`` (reports/trust.md, "A cluster").

Tasks are the same :class:`~indexproof.verify.run.Job` s that local processes get, so verdicts and resource counts are
the same.  Results come back as soon as they are found, and only the client writes the cache.  A worker that dies loses
its current jobs, which are few.  The cluster forgets results that have arrived, so that nothing else is done again.
"""

from __future__ import annotations

import importlib
import logging
import pickle
import platform
import re
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from types import TracebackType
from typing import Any

import numpy as np
import z3

from .. import __version__
from ..core.errors import InputError, quoted
from .outcome import CrewLost
from .run import Job, Sent, work
from .sources import prover_digest
from .trust.solvers import available, cvc5_name
from .verdict import Verdict

#: Jobs in flight per worker: one that it runs and one that waits.
_AHEAD = 2
#: Seconds to wait for a scheduler to answer, and for a first worker.
_CONNECT = 10.0
_PATIENCE = 30.0
_POLL = 0.02
#: Host and port, with or without a protocol before them.
_ADDRESS = re.compile(r"\S*[^\s/:]:[0-9]{1,5}/?")
_EXPECTED = "an address as `dask scheduler` prints it, like tls://host:8786"


def fingerprint() -> dict[str, str]:
    """Return the versions that a verdict and its resource count may depend on."""
    return {
        "indexproof": __version__,
        "the prover's source": prover_digest()[:12],
        "z3": z3.get_version_string(),
        "numpy": np.__version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
        "cvc5": cvc5_name() if available() else "none",
    }


#: Solvers and interned expressions belong to a process, so a worker with several threads runs one job at a time.
_one_at_a_time = threading.Lock()


def perform(parcel: bytes, expected: dict[str, str]) -> list[tuple[int, Verdict]]:
    """Run a pickled job on a worker.

    Raises :class:`InputError`, without unpickling, if anybody in the network can reach the worker, or if its versions
    differ from ``expected``: it may have joined after the others were checked.
    """
    _expect_private(_own_address(), "a worker")
    with _one_at_a_time:
        if differences := _differences(fingerprint(), expected):
            raise InputError(f"a worker on {platform.node()} has {differences}", expected=_SAME)
        return work(pickle.loads(parcel))


def _own_address() -> str:
    """Return the address of the worker that runs this; empty outside a worker."""
    try:
        return str(_distributed().get_worker().address)
    except ValueError:
        return ""


def _expect_private(address: str, who: str) -> None:
    """Refuse an address that others can reach without a certificate, because unpickling may run any code."""
    protocol, _, place = address.rpartition("://")
    host = place.rpartition(":")[0].strip("[]")
    try:
        here = host in ("", "localhost") or ip_address(host).is_loopback
    except ValueError:
        here = False
    if protocol not in ("tls", "wss") and not here:
        said = f"{who} at {quoted(address, 200)} takes parcels from anybody in the network"
        expected = (
            "certificates in Dask's settings (`distributed.comm.tls`) on every machine, or an address of this one"
        )
        raise InputError(said, expected=expected)


_SAME = "workers that run the same indexproof and solvers as this process"


def _differences(found: dict[str, str], expected: dict[str, str]) -> str:
    """Return the versions in which a worker differs, in words."""
    unlike = [
        f"{name} {found.get(name, 'none')} instead of {version}"
        for name, version in expected.items()
        if found.get(name) != version
    ]
    return ", ".join(unlike)


def _lacking(who: str, error: ImportError) -> InputError:
    return InputError(f"{who} has no indexproof: {error}", expected="it installed on every worker")


def _by_value(function: str) -> Callable[..., Any]:
    """Return a function of this module, given its name, in a form to send to another process.

    A local function is pickled as code and not as a name.  So the scheduler needs no indexproof, and a worker without
    it can report that.
    """
    module = __name__

    def indexproof(*args: Any) -> Any:
        return getattr(importlib.import_module(module), function)(*args)

    return indexproof


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError(
            "a cluster needs Dask, which is not installed", expected="pip install 'indexproof[distributed]'"
        ) from None
    return distributed


class Cluster:
    """The workers of a Dask scheduler, for :func:`~indexproof.verify.proving.prove_all`; use as a context manager.

    Raises :class:`InputError` if Dask is not installed; if the scheduler at ``address`` is on another machine without
    TLS, cannot be reached, or has no workers; or if a worker has no indexproof, or other versions of it or of its
    solvers. ``patience`` limits the seconds without any worker.  If Dask's settings name a certificate or an authority,
    only TLS is used: both sides then show a certificate of that authority.
    """

    def __init__(self, address: str, *, patience: float = _PATIENCE) -> None:
        self.patience = patience
        self.lost_workers = 0
        self._dask = _distributed()
        security = self._dask.Security()
        if any((security.tls_ca_file, security.tls_client_cert, security.tls_client_key)):
            security = self._dask.Security(require_encryption=True)
            address = address if "://" in address else f"tls://{address}"
        self.address = address
        self._expected = fingerprint()
        self._known: set[str] = set()
        self._checked = 0.0
        self._alive = 0.0
        if not _ADDRESS.fullmatch(address):
            # Dask would wait for such an address, and complain again when the interpreter exits
            message = f"there is no Dask scheduler at {quoted(address, 200)}: that is no address"
            raise InputError(message, expected=_EXPECTED)
        _expect_private(address, "a Dask scheduler")
        with _quiet():
            self._client = client = object.__new__(self._dask.Client)
            try:
                client.__init__(address, timeout=_CONNECT, set_as_default=False, security=security)
            except (OSError, RuntimeError, ValueError, TypeError) as error:
                # otherwise the garbage collector closes it, which hangs if another client starts at that time
                with suppress(Exception):
                    client.close()
                why = " ".join(str(error).split()) or type(error).__name__
                raise InputError(
                    f"there is no Dask scheduler at {quoted(address, 200)}: {why}", expected=_EXPECTED
                ) from None
        try:
            self._introduce()
        except BaseException:
            self._close()
            raise

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        with _quiet(), suppress(OSError, TimeoutError):
            self._client.close()

    @property
    def size(self) -> int:
        """The number of workers, at least one."""
        return max(1, len(self._known))

    def _introduce(self) -> None:
        """Check that the versions of every worker are those of this process."""
        try:
            self._client.wait_for_workers(1, timeout=self.patience)
        except TimeoutError:
            raise InputError(
                f"the Dask scheduler at {self.address} has no workers", expected="`dask worker ADDRESS`"
            ) from None
        said = self._client.run(_by_value("fingerprint"), on_error="return")
        self._known.clear()
        for worker, answer in sorted(said.items()):
            if isinstance(answer, ImportError):
                raise _lacking(f"the worker {worker}", answer)
            if isinstance(answer, OSError):
                continue  # it has left meanwhile
            if isinstance(answer, BaseException):
                raise InputError(f"the worker {worker} cannot be asked for its version: {answer}")
            if differences := _differences(answer, self._expected):
                raise InputError(f"the worker {worker} has {differences}", expected=_SAME)
            self._known.add(worker)

    # -- work
    def sent(self, jobs: Sequence[Job], together: bool) -> Sent:
        """Yield every job with its results, or with None if it kills its workers (``KilledWorker``).

        They are performed one at a time, with no other task on the cluster, unless ``together``.  Raises
        :class:`CrewLost` if the connection to the scheduler or all workers are lost.
        """
        waiting = deque(jobs)
        flying: dict[Any, Job] = {}
        task = _by_value("perform")
        run = uuid.uuid4().hex
        self._alive = self._checked = time.monotonic()
        coming = self._dask.as_completed(loop=self._client.loop, with_results=True, raise_errors=False)
        with _quiet():
            try:
                while waiting or flying:
                    while waiting and len(flying) < (_AHEAD * self.size if together else 1):
                        job = waiting.popleft()
                        key = f"indexproof-{run}-{job.items[0][0]}-{len(job.items)}"
                        future = self._client.submit(task, pickle.dumps(job), self._expected, key=key, pure=False)
                        flying[future] = job
                        coming.add(future)
                        del future
                    arrived = coming.next_batch(block=False)
                    if not arrived:
                        self._look_around()
                        time.sleep(_POLL)
                    done = [(flying.pop(future), result) for future, result in arrived]
                    # drop all references to the future, lest its result be computed again when its worker dies
                    del arrived
                    for job, result in done:
                        yield job, self._result(result)
                with suppress(CrewLost):
                    self._look_around(again=True)
            finally:
                if flying:
                    with suppress(OSError, TimeoutError, self._dask.CancelledError):
                        self._client.cancel(list(flying), force=True)

    def _result(self, result: Any) -> list[tuple[int, Verdict]] | None:
        if isinstance(result, list):
            # valid even if its worker has died since
            done: list[tuple[int, Verdict]] = result
            return done
        if isinstance(result, self._dask.CancelledError):
            raise CrewLost(f"the connection to the scheduler at {self.address} is lost")
        error = result[1] if isinstance(result, tuple) else result
        if isinstance(error, self._dask.KilledWorker):
            return None
        if isinstance(error, ImportError):
            raise _lacking(f"a worker that has joined {self.address}", error)
        raise error

    def _look_around(self, again: bool = False) -> None:
        """Count the workers, at most once a second.  Raises :class:`CrewLost` after too long without any."""
        now = time.monotonic()
        if now < self._checked + 1 and not again:
            return
        self._checked = now
        try:
            there = set(self._client.nthreads())
        except (OSError, ValueError, TimeoutError):
            raise CrewLost(f"the scheduler at {self.address} does not answer") from None
        self.lost_workers += len(self._known - there)
        self._known = there
        if there:
            self._alive = now
        elif now > self._alive + self.patience:
            raise CrewLost(f"no worker is left at {self.address}")


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask, which logs every lost connection; the report mentions the loss once."""
    logs = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, before, strict=True):
            log.setLevel(level)
