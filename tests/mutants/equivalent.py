"""Mutants of trusted files that change nothing that anybody could notice, by the reason.

A key is that of ``Mutant.key``.  What is listed here and noticed after all, or no mutant any more, fails the run.
"""

from __future__ import annotations

from typing import Final

__all__ = ["EQUIVALENT"]

_BY_REASON: Final[dict[str, tuple[str, ...]]] = {
    "set anew before it is used": (
        "core/kernel/atoms.py Atoms.__init__: self.spent = 0  ->  self.spent = 1",
        "core/kernel/atoms.py Atoms.__init__: self.spent = 0  ->  self.spent = -1",
        "core/kernel/atoms.py Atoms.__init__: self.volume = 0  ->  self.volume = 1",
        "core/kernel/atoms.py Atoms.__init__: self.volume = 0  ->  self.volume = -1",
    ),
    "an upper estimate, after which costs are compared": (
        "core/kernel/atoms.py Atoms.__init__: self.written = 0  ->  self.written = 1",
        "core/kernel/atoms.py Atoms.write: spent = len(terms) if c or terms[0][1] < 0 else len(terms) - 1  ->  spent = len(terms) if c or terms[0][1] <= 0 else len(terms) - 1",
        "core/kernel/atoms.py Atoms.write: spent = len(terms) if c or terms[0][1] < 0 else len(terms) - 1  ->  spent = len(terms) if c or terms[-1][1] < 0 else len(terms) - 1",
        "core/kernel/atoms.py Atoms.write: spent = len(terms) if c or terms[0][1] < 0 else len(terms) - 1  ->  spent = len(terms) if c or terms[0][1] < 0 else len(terms) + 1",
        "core/kernel/atoms.py Atoms.write: spent = len(terms) if c or terms[0][1] < 0 else len(terms) - 1  ->  spent = len(terms) if c or terms[0][1] < 0 else len(terms) - 0",
        "core/kernel/atoms.py Atoms.write: if k != -1:  ->  if k != -2:",
        "core/kernel/atoms.py Atoms.write: if k != -1:  ->  if k != -0:",
        "core/kernel/atoms.py Atoms.write: spent += 1  ->  spent += 2",
        "core/kernel/atoms.py Atoms._write: self.written += 2 + len(inside)  ->  self.written += 3 + len(inside)",
    ),
    "a shortcut: the long way comes to the same": (
        "core/kernel/atoms.py Atoms._new: if lo < -NEAR and lo < -FAR:  ->  if lo <= -NEAR and lo < -FAR:",
        "core/kernel/atoms.py Atoms._new: if hi > NEAR and hi > FAR:  ->  if hi >= NEAR and hi > FAR:",
        "core/kernel/atoms.py Atoms.write: if k != 1:  ->  if k != 0:",
        "core/kernel/atoms.py Atoms.write: if not c and len(terms) == 1:  ->  if not c and len(terms) == 0:",
        "core/kernel/form.py : NEAR: Final = 1 << 60  ->  NEAR: Final = 2 << 60",
        "core/kernel/form.py : NEAR: Final = 1 << 60  ->  NEAR: Final = 0 << 60",
        "core/kernel/form.py : NEAR: Final = 1 << 60  ->  NEAR: Final = 1 << 61",
        "core/kernel/form.py : NEAR: Final = 1 << 60  ->  NEAR: Final = 1 << 59",
        "core/kernel/ranges.py Ranges.range: if self.facts and len(terms) > 1 and self._spoken_of(terms):  ->  if self.facts and len(terms) >= 1 and self._spoken_of(terms):",
        "core/kernel/ranges.py Ranges._sharpened: if len(total) < len(terms):  ->  if len(total) <= len(terms):",
        "core/kernel/ranges.py Ranges.at_most: return lo >= 0 or (hi >= 0 and self._with_one_argument(f, lo) >= 0)  ->  return lo >= 0 or (hi >= -1 and self._with_one_argument(f, lo) >= 0)",
    ),
    "a limit of effort: right on both sides of it": (
        "core/kernel/atoms.py Atoms._new: if self.limited and self.volume > EXCESS + 2 * self.spent:  ->  if self.limited and self.volume >= EXCESS + 2 * self.spent:",
        "core/kernel/atoms.py Atoms._new: if self.limited and self.volume > EXCESS + 2 * self.spent:  ->  if self.limited and self.volume > EXCESS + 3 * self.spent:",
        "core/kernel/atoms.py Atoms._new: if self.limited and self.volume > EXCESS + 2 * self.spent:  ->  if self.limited and self.volume > EXCESS + 1 * self.spent:",
    ),
    "beyond every number of a program: where exactly does not matter": (
        "core/kernel/atoms.py Atoms._refuse_large: if d > LARGE or d < -LARGE or abs(x[0]) > LARGE or any([abs(k) > LARGE for _, k in x[1]]):  ->  if d >= LARGE or d < -LARGE or abs(x[0]) > LARGE or any([abs(k) > LARGE for _, k in x[1]]):",
        "core/kernel/atoms.py Atoms._refuse_large: if d > LARGE or d < -LARGE or abs(x[0]) > LARGE or any([abs(k) > LARGE for _, k in x[1]]):  ->  if d > LARGE or d <= -LARGE or abs(x[0]) > LARGE or any([abs(k) > LARGE for _, k in x[1]]):",
        "core/kernel/atoms.py Atoms._refuse_large: if d > LARGE or d < -LARGE or abs(x[0]) > LARGE or any([abs(k) > LARGE for _, k in x[1]]):  ->  if d > LARGE or d < -LARGE or abs(x[0]) >= LARGE or any([abs(k) > LARGE for _, k in x[1]]):",
        "core/kernel/atoms.py Atoms._refuse_large: if d > LARGE or d < -LARGE or abs(x[0]) > LARGE or any([abs(k) > LARGE for _, k in x[1]]):  ->  if d > LARGE or d < -LARGE or abs(x[0]) > LARGE or any([abs(k) >= LARGE for _, k in x[1]]):",
        "core/kernel/form.py : LARGE: Final = 1 << 1024  ->  LARGE: Final = 2 << 1024",
        "core/kernel/form.py : LARGE: Final = 1 << 1024  ->  LARGE: Final = 1 << 1025",
        "core/kernel/form.py : LARGE: Final = 1 << 1024  ->  LARGE: Final = 1 << 1023",
        "core/kernel/form.py : END: Final = 1 << 8192  ->  END: Final = 2 << 8192",
        "core/kernel/form.py : END: Final = 1 << 8192  ->  END: Final = 1 << 8193",
        "core/kernel/form.py : END: Final = 1 << 8192  ->  END: Final = 1 << 8191",
    ),
    "there is exactly one": (
        "core/kernel/atoms.py Atoms._write: e = floordiv(inside[0], self.divisor[b])  ->  e = floordiv(inside[-1], self.divisor[b])",
        "core/kernel/atoms.py Atoms._write: e = mod(inside[0], self.divisor[b])  ->  e = mod(inside[-1], self.divisor[b])",
        "core/kernel/form.py lone: if f[0] or len(f[1]) != 1 or f[1][0][1] != 1:  ->  if f[0] or len(f[1]) != 1 or f[1][-1][1] != 1:",
        "core/kernel/form.py lone: return f[1][0][0]  ->  return f[1][-1][0]",
        "core/kernel/ranges.py Ranges._atom: return f if lo < hi else self.settled(f[1][0][0])  ->  return f if lo < hi else self.settled(f[1][-1][0])",
    ),
    "every other kind is positive": ("core/kernel/form.py : VARIABLE: Final = 0  ->  VARIABLE: Final = -1",),
    "only has to differ from the others": ("core/kernel/form.py : OPAQUE: Final = 5  ->  OPAQUE: Final = 6",),
    "what is divided is a multiple of a positive number": (
        "core/kernel/form.py exactly: return (x[0] // k, tuple([(a, j // k) for a, j in x[1]]))  ->  return ((x[0] + k - 1) // k, tuple([(a, j // k) for a, j in x[1]]))",
        "core/kernel/form.py exactly: return (x[0] // k, tuple([(a, j // k) for a, j in x[1]]))  ->  return (x[0] // k, tuple([(a, (j + k - 1) // k) for a, j in x[1]]))",
        "core/kernel/ranges.py Ranges._sharpened: g = n // k  ->  g = (n + k - 1) // k",
    ),
    "any negative number says that there is none": ("core/kernel/form.py lone: return -1  ->  return -2",),
    "the end is infinite": (
        "core/kernel/form.py finite: return END if end > 0 else -END  ->  return END if end >= 0 else -END",
        "core/kernel/form.py finite: return END if end > 0 else -END  ->  return END if end > 1 else -END",
    ),
    "a coefficient is never zero": (
        "core/kernel/measure.py Measured.size_of_division: backwards = sum([k < 0 for _, k in x[1]])  ->  backwards = sum([k <= 0 for _, k in x[1]])",
        "core/kernel/ranges.py Ranges._span: if k > 0:  ->  if k >= 0:",
        "core/kernel/ranges.py Ranges._in_proportion: if q < 0:  ->  if q <= 0:",
        "core/kernel/ranges.py Ranges._with_one_argument: lo = max(lo, max(ends) if (t == MAXIMUM) == (k > 0) else min(ends))  ->  lo = max(lo, max(ends) if (t == MAXIMUM) == (k >= 0) else min(ends))",
        "core/kernel/ranges.py Ranges._narrow: if k > 0:  ->  if k >= 0:",
        "core/kernel/ranges.py Ranges._know_sum: if terms[0][1] < 0:  ->  if terms[0][1] <= 0:",
    ),
    "any of them will do: contains looks at all": (
        "core/kernel/ranges.py Ranges._sharpened: a, k = part[0]  ->  a, k = part[1]",
        "core/kernel/ranges.py Ranges._sharpened: a, k = part[0]  ->  a, k = part[-1]",
    ),
    "contains looks again whether it is there": (
        "core/kernel/ranges.py Ranges._sharpened: n = total.get(a, 0)  ->  n = total.get(a, 1)",
        "core/kernel/ranges.py Ranges._sharpened: n = total.get(a, 0)  ->  n = total.get(a, -1)",
    ),
    "no atom has a negative number": (
        "core/kernel/ranges.py Ranges._sharpened: if not n or g * k != n or len(part) > len(total) or (not contains(total, part, g, -1)):  ->  if not n or g * k != n or len(part) > len(total) or (not contains(total, part, g, -2)):",
    ),
    "which of several ends that are all true is found": (
        "core/kernel/ranges.py Ranges._sharpened: if low <= least and most <= high:  ->  if low < least and most <= high:",
        "core/kernel/ranges.py Ranges._sharpened: if low <= least and most <= high:  ->  if low <= least and most < high:",
    ),
    "it is never zero": (
        "core/kernel/ranges.py Ranges._sharpened: if g < 0:  ->  if g <= 0:",
        "core/kernel/ranges.py Ranges._in_proportion: if p > 0:  ->  if p >= 0:",
    ),
    "what is zero adds nothing": ("core/kernel/ranges.py Ranges._in_proportion: if k > 0:  ->  if k >= 0:",),
}

EQUIVALENT: Final = {key: reason for reason, keys in _BY_REASON.items() for key in keys}
