"""What holds for all tests."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Ctrl-C reaches what the tests start, also where the tests themselves run in the background of a shell."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
