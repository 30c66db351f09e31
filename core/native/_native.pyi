from typing import Any, TypeVar

F = TypeVar("F")

def attach_expressions(module: Any, /) -> None: ...
def attach_maps(module: Any, /) -> None: ...
def built(function: F, /) -> F: ...
def simplify_map(
    m: Any, trace: list[tuple[Any, ...]] | None, weight: int, quick: bool, keep_points: bool, /
) -> Any: ...
def simplify(
    results: tuple[Any, ...],
    boxes: dict[Any, Any],
    known: list[tuple[Any, Any, Any]],
    weight: int,
    quick: bool,
    keep_points: bool,
    /,
) -> list[Any] | None: ...
