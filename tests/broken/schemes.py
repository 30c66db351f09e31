"""False lemmas of the reduction, each named after the lemma that it alters."""

from __future__ import annotations

from indexproof.core.condition import all_of, any_of
from indexproof.core.expr import var
from indexproof.verify.schemes import Scheme

e, p, q, t, u = (var(name) for name in "epqtu")

BROKEN = [
    # the correction has the wrong sign
    Scheme("inverse modulo a square", "v·u = 1 + p·t → (v·u)·(2 + v·u) = 1 - (p·p)·(t·t)", (), ((1 + p * t) * (2 +
        (1 + p * t))).eq(1 - p * p * (t * t))),
    # p instead of p·p: the inverse would be no more precise than before
    Scheme("inverse modulo a square", "v·u = 1 + p·t → (v·u)·(2 - v·u) = 1 - p·(t·t)", (), ((1 + p * t) * (2 - (1 +
        p * t))).eq(1 - p * (t * t))),
    # the remaining term has the wrong sign
    Scheme("invertible factor", "v·u = 1 + p·t, v·e = p·q → e = p·(u·q + t·e)", ((e * (1 + p * t)).eq(u * (p *
        q)),), e.eq(p * (u * q + t * e))),
    # either factor may be zero
    Scheme("zero product", "p·q = 0 → p = 0", ((p * q).eq(0),), p.eq(0)),
    # one zero factor is enough
    Scheme("zero product", "p·q = 0 → p = 0 and q = 0", ((p * q).eq(0),), all_of((p.eq(0), q.eq(0)))),
    # a product is not a sum
    Scheme("zero product", "p + q = 0 → p = 0 or q = 0", ((p + q).eq(0),), any_of((p.eq(0), q.eq(0)))),
    # the hypothesis about the inverse is missing
    Scheme("invertible factor", "v·e = p·q → e = p·(u·q - t·e)", (), e.eq(p * (u * q - t * e))),
]  # fmt: skip
