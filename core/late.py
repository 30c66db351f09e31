"""Functions that expressions call and that modules define which are made of expressions: conditions, notation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

__all__ = ["LATE", "Late"]


class Late(dict[str, Any]):
    """Functions by name; the modules that define them are loaded when one is first asked for."""

    load: Callable[[], None]

    def __missing__(self, name: str) -> Any:
        self.load()
        return self.get(name)


LATE: Final = Late()
