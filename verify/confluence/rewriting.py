"""Following steps to their ends, whatever it is that is rewritten."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

__all__ = ["LIMIT", "Circle", "Examined", "Patience", "Rewriting", "TooMany", "Trial", "Witness"]

#: Nothing met so far reaches more; what does is given up, and said so.
LIMIT = 300

T = TypeVar("T", bound=Hashable)
T_co = TypeVar("T_co", covariant=True)


class Stepped(Protocol[T_co]):
    """A step: what was there before, and what is there after it."""

    @property
    def before(self) -> T_co: ...
    @property
    def after(self) -> T_co: ...


S = TypeVar("S", bound=Stepped)  # type: ignore[type-arg]


class Ranked(Hashable, Protocol):
    """An instance: what is smaller has a smaller rank."""

    @property
    def rank(self) -> tuple[Any, ...]: ...


I = TypeVar("I", bound=Ranked)  # noqa: E741 - an instance
D = TypeVar("D")


class TooMany(Exception):
    """More can be reached than is looked at."""


class Circle(Exception):
    """Steps that lead back to where they came from: the rules do not descend in their order."""


class Rewriting(Generic[T, S]):
    """Steps between things of one kind; subclasses say which there are."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._normal: dict[T, frozenset[T]] = {}
        #: what reaches more is given up
        self.limit = limit

    def moves(self, e: T) -> tuple[S, ...]:
        """Every step from ``e``."""
        raise NotImplementedError

    def rank(self, e: T) -> Any:
        """What is smaller is shown first."""
        raise NotImplementedError

    def normal_forms(self, e: T) -> frozenset[T]:
        """Every normal form of ``e``.  Raises :class:`TooMany` and :class:`Circle`."""
        order = [e]
        seen = {e}
        for at in order:
            if at in self._normal:
                continue
            for m in self.moves(at):
                if m.after not in seen:
                    seen.add(m.after)
                    order.append(m.after)
                    if len(order) > self.limit:
                        raise TooMany
        for at in self._descending(order)[::-1]:
            if at not in self._normal:
                after = [self._normal[m.after] for m in self.moves(at)]
                self._normal[at] = frozenset().union(*after) if after else frozenset((at,))
        return self._normal[e]

    def _descending(self, order: Sequence[T]) -> list[T]:
        """All that is reached, each before what comes after it; raises :class:`Circle` where steps lead back."""
        out: list[T] = []
        state: dict[T, bool] = {}
        for root in order:
            if root in state:
                continue
            stack = [(root, iter(self.moves(root)))]
            state[root] = True
            while stack:
                at, moves = stack[-1]
                for m in moves:
                    if m.after in self._normal:
                        continue
                    if m.after not in state:
                        state[m.after] = True
                        stack.append((m.after, iter(self.moves(m.after))))
                        break
                    if state[m.after]:
                        raise Circle(m)
                else:
                    state[at] = False
                    out.append(at)
                    stack.pop()
        return out[::-1]

    def meet(self, a: T, b: T) -> bool:
        """Whether ``a`` and ``b`` have a common result.  Raises :class:`TooMany`."""
        return a == b or bool(self.normal_forms(a) & self.normal_forms(b))

    def path(self, e: T, goal: T) -> tuple[S, ...]:
        """The shortest chain of steps from ``e`` to ``goal``, which it has."""
        came: dict[T, S | None] = {e: None}
        order = [e]
        for at in order:
            if at == goal:
                break
            for m in self.moves(at):
                if m.after not in came:
                    came[m.after] = m
                    order.append(m.after)
        out: list[S] = []
        at = goal
        while (step := came[at]) is not None:
            out.append(step)
            at = step.before
        return tuple(reversed(out))


@dataclass(frozen=True)
class Witness(Generic[I, S]):
    """An instance with two normal forms that have nothing in common, and a derivation of each."""

    instance: I
    left: tuple[S, ...]
    right: tuple[S, ...]

    @property
    def forms(self) -> tuple[Any, Any]:
        """Both normal forms."""
        return self.left[-1].after, self.right[-1].after


@dataclass(frozen=True)
class Examined(Generic[I, S]):
    """What the instances of an overlap say: how many both rules rewrite, how many of them join, the smallest that does not.

    ``given_up`` counts those from which too much is reached; ``risen`` are steps, the smallest of each rule, after which
    the whole is not smaller than before.
    """

    tried: int
    joined: int
    given_up: int
    witness: Witness[I, S] | None
    risen: tuple[S, ...] = ()


class Patience(NamedTuple):
    """How many instances of one kind are enough: with different results, rewritten, looked at, given up."""

    apart: int
    tried: int
    looked: int
    given_up: int


class Trial(Generic[I, S]):
    """Rewrites instances of an overlap and keeps what was found; subclasses say what both rules make of one."""

    def __init__(self) -> None:
        self.tried = self.joined = self.given_up = 0
        #: how many had results that were not the same
        self.apart = 0
        self.seen: set[I] = set()
        self.found: Witness[I, S] | None = None

    def both(self, i: I) -> tuple[Rewriting[Any, S], list[tuple[S, S]]]:
        """Where ``i`` is rewritten, and every step of the first rule with every one of the second."""
        raise NotImplementedError

    def examined(self) -> Examined[I, S]:
        """What is known so far."""
        return Examined(self.tried, self.joined, self.given_up, self.found)

    def witness(self, i: I) -> bool:
        """Whether ``i`` has two normal forms."""
        if i in self.seen:
            return False
        self.seen.add(i)
        world, both = self.both(i)
        if not both:
            return False
        self.tried += 1
        self.apart += any(x.after != y.after for x, y in both)
        try:
            bad = next(((x, y) for x, y in both if not world.meet(x.after, y.after)), None)
        except TooMany:
            self.given_up += 1
            return False
        if bad is None:
            self.joined += 1
            return False
        left, right = (
            (s, *world.path(s.after, min(world.normal_forms(s.after), key=world.rank))) for s in bad
        )
        self.found = Witness(i, left, right)
        return True

    def first(self, instances: Iterable[I], patience: Patience) -> I | None:
        """The first of the instances that has two normal forms, before patience is at an end; ``None`` if none has."""
        apart, tried, looked, given_up = self.apart, self.tried, len(self.seen), self.given_up
        for i in instances:
            if (
                self.apart - apart >= patience.apart
                or self.tried - tried >= patience.tried
                or len(self.seen) - looked >= patience.looked
                or self.given_up - given_up >= patience.given_up
            ):
                return None
            if self.witness(i):
                return i
        return None

    def search(
        self,
        batches: Iterable[Iterable[I]],
        patience: Patience,
        smaller: Callable[[I], Iterator[I]],
        limit: int,
    ) -> Examined[I, S]:
        """One batch after the other until an instance has two normal forms, and then so many smaller ones."""
        for instances in batches:
            found = self.first(instances, patience)
            if found is not None:
                self.shrink(found, smaller, lambda i: i, limit)
                break
        return self.examined()

    def shrink(
        self, d: D, smaller: Callable[[D], Iterator[D]], instance: Callable[[D], I | None], limit: int
    ) -> None:
        """Make the witness smaller, one change at a time, as long as what comes of it has two normal forms.

        ``d`` describes the witness; ``smaller`` proposes simpler descriptions, and ``instance`` says what is described,
        if anything.  So many smaller instances are tried in all.
        """
        assert self.found is not None
        tried = 0
        todo = smaller(d)
        while tried < limit and (simpler := next(todo, None)) is not None:
            i = instance(simpler)
            if i is None or i in self.seen or i.rank >= self.found.instance.rank:
                continue
            tried += 1
            if self.witness(i):
                todo = smaller(simpler)
