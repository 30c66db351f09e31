from typing import Any

def attach(expr: Any, indexing_map: Any, /) -> None: ...
def simplify_map(m: Any, weight: int, quick: bool, keep_points: bool, /) -> Any: ...
def simplify(
    results: tuple[Any, ...],
    boxes: dict[Any, Any],
    known: list[tuple[Any, Any, Any]],
    weight: int,
    quick: bool,
    keep_points: bool,
    /,
) -> list[Any] | None: ...
