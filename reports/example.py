"""The repository that `indexproof init` makes: rules, an op, claims and HLO with a gate, and what to break in it."""

from __future__ import annotations

from typing import Final

__all__ = ["BASE", "FILES"]

#: The document of the first run, which later runs are compared with.
BASE: Final = "indexproof-base.json"

_SETTINGS = f"""\
# What `indexproof gate` proves.
[tool.indexproof]
rules = ["rules/*.rules"]
python = ["indexing/*.py"]
claims = ["claims/*.claims"]
hlo = ["hlo/*.hlo"]
base = "{BASE}"
floor = 15
"""

_RULES = """\
# Rewrite rules as a compiler states them: division rounds down, integers have any size.
semantics floor
int x, y
const c0, c1

small: (x * c0 + y) / c0 -> x if 0 <= y, y < c0
nested: (x / c0) / c1 -> x / (c0 * c1) if c1 > 0
select_least: min(x, y) + max(x, y) -> x + y

integers 8 bits wrap
there_and_back: x + y - y -> x
clamp: min(max(x, 0), 10) -> max(min(x, 10), 0)
halving_doubles: (x * 2) / 2 -> x
expect REFUTED
"""

_PYTHON_RULES = '''\
"""Rules of our own simplifier."""

from indexproof.core.rewrite import Const, Expr, Rest, Rewrite, rule


@rule()
def small_remainder(x: Expr, g: Const, d: Const, r: Rest) -> Rewrite:
    """Less than one step of x cannot carry x over a multiple of d."""
    return Rewrite(
        (x * g + r) // d,
        x // (d // g),
        when=(d > 0, g.divides(d), r.within(0, g - 1)),
        guard=(g > 1,),
    )


@rule()
def remainder_of_multiple(x: Expr, d: Const, r: Rest) -> Rewrite:
    """Multiples of the divisor leave no remainder."""
    return Rewrite((x * d + r) % d, r % d, when=(d > 0,))
'''

_OPS = '''\
"""Operations of our own compiler."""

from indexproof.core.expr import ExprLike, lift
from indexproof.core.op import Case, Map, Op, op, symbols


@op
class Roll(Op):
    """Output element o is input element (o - shift) mod n, as numpy.roll has it."""

    shift: ExprLike

    def shape(self, x):
        return [lift(n) for n in x]

    def reads(self, k, o, i, rt, x):
        return [lift(x[d]).divides(i[d] + self.shift - o[d]) for d in range(len(x))]

    def output_to_input(self, k, o, rt, x):
        return Map([(o[d] - self.shift) % x[d] for d in range(len(x))])

    def input_to_output(self, k, i, rt, x):
        return Map([(i[d] + self.shift) % x[d] for d in range(len(x))])

    @classmethod
    def cases(cls, rank):
        yield Case.of(rank, "any shift", cls(*symbols("t", 1)), symbols("n", rank))
'''

_CLAIMS = """\
section Slices

hlo strided
  p0 = f32[10, 20] parameter(0)
  s = f32[5, 3] slice(p0), slice={[5:10:1], [3:20:7]}

s -> p0 :
  (d0, d1) -> (d0 + 5, d1 * 7 + 3)

p0 -> s :
  (d0, d1) -> (d0 - 5, (d1 - 3) floordiv 7)
  domain: d0 in [5, 9], d1 in [3, 17], (d1 - 3) mod 7 in [0, 0]

section Maps

claim rows_of_twenty
  (d0) -> (d0 floordiv 20, d0 mod 20), domain: d0 in [0, 199]
  == (d0) -> (d0 floordiv 20, d0 - 20 * (d0 floordiv 20))

claim a_digit
  simplify (d0, d1) -> ((20d0 + d1) floordiv 20, (20d0 + d1) mod 20), domain: d0 in [0, 9], d1 in [0, 19]
  to (d0, d1) -> (d0, d1)

claim a_digit_too_many
  (d0) -> (d0 mod 21), domain: d0 in [0, 40] == (d0) -> (d0 mod 20)
expect REFUTED
"""

_HLO = """\
HloModule small

ENTRY main {
  p = f32[10,20] parameter(0)
  t = f32[20,10] transpose(p), dimensions={1,0}
  ROOT s = f32[10,10] slice(t), slice={[0:20:2], [0:10]}
}
"""

_WORKFLOW = """\
name: indexproof
on: [push, pull_request]
permissions:
  contents: read
  security-events: write
jobs:
  gate:
    runs-on: ubuntu-latest
    env:
      # any long random text; kept verdicts are sealed with it
      INDEXPROOF_CACHE_KEY: ${{ secrets.INDEXPROOF_CACHE_KEY }}
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - uses: actions/cache@v4
        with:
          path: ~/.cache/indexproof/verdicts.sqlite
          key: indexproof-${{ github.sha }}
          restore-keys: indexproof-
      - run: python -m pip install indexproof
      - run: indexproof gate --to indexproof.sarif --to indexproof.xml
      - if: always()
        uses: github/codeql-action/upload-sarif@v3
        with:
          sarif_file: indexproof.sarif
"""

_README = f"""\
# A repository with a gate

`indexproof gate` proves everything that stands in `[tool.indexproof]` of pyproject.toml, and passes. Now break something,
and run it again:

| in | change | the gate says |
| --- | --- | --- |
| rules/division.rules | `y < c0` to `y <= c0` in `small` | REFUTED, with a counterexample and a repair |
| rules/division.rules | `select_least`: write `x - y` | REFUTED |
| rules/division.rules | drop `expect REFUTED` | REFUTED: in 8 bits `x * 2` wraps |
| indexing/simplify.py | `g.divides(d)` to `g <= d` | REFUTED, at the line of the rule |
| indexing/ops.py | `- self.shift` to `+ self.shift` | REFUTED: the map is not sound |
| claims/slices.claims | `d1 * 7` to `d1 * 6` | REFUTED, with an element and the true map |
| claims/slices.claims | delete a claim | MISSING: {BASE} has it |
| claims/slices.claims | write `expect REFUTED` below a claim that holds | PROVED, but expected REFUTED |
| hlo/small.hlo | `f32[10,10] slice` to `f32[10,11] slice` | REFUTED: a slice makes another shape |
| any file | leave out a bracket | ILL-FORMED: it costs this statement only |

`indexproof gate --to {BASE}` writes the base anew, after a change that is meant.
"""

#: The files by their paths, the base aside, which is written by the first run.
FILES: Final = {
    "pyproject.toml": _SETTINGS,
    "README.md": _README,
    "rules/division.rules": _RULES,
    "indexing/simplify.py": _PYTHON_RULES,
    "indexing/ops.py": _OPS,
    "claims/slices.claims": _CLAIMS,
    "hlo/small.hlo": _HLO,
    ".github/workflows/indexproof.yml": _WORKFLOW,
    ".gitignore": "__pycache__/\nindexproof.sarif\nindexproof.xml\n",
}
