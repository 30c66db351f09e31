from typing import Any

def attach(module: Any, /) -> None: ...
def simplify(
    results: tuple[Any, ...],
    boxes: dict[Any, Any],
    known: list[tuple[Any, Any, Any]],
    weight: int,
    quick: bool,
    keep_points: bool,
    /,
) -> list[Any] | None: ...
