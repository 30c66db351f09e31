"""Functions that expressions call but that modules built on expressions define: conditions, notation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final


class Late(dict[str, Any]):
    """A table of functions by name; the first lookup of a missing name loads the modules that define them."""

    load: Callable[[], None]

    def __missing__(self, name: str) -> Any:
        self.load()
        return self.get(name)


LATE: Final = Late()
