"""Packages that are not installed: every function that needs one fails with one clear sentence."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

import indexproof
from indexproof import InputError, parse_map
from indexproof.core.expr import var
from indexproof.core.interop import TvmMap, from_sympy, from_tvm, to_sympy, to_tvm

MAP = parse_map("(d0) -> (d0), domain: d0 in [0, 9]")


@pytest.mark.parametrize(("module", "package", "call"), [
    ("tvm", "apache-tvm", lambda: to_tvm(MAP)),
    ("tvm", "apache-tvm", lambda: from_tvm(TvmMap((), results=(3,)))),
    ("tvm", "apache-tvm", lambda: TvmMap(()).analyzer()),
    ("sympy", "sympy", lambda: to_sympy(MAP)),
    ("sympy", "sympy", lambda: to_sympy(var("x"))),
    ("sympy", "sympy", lambda: from_sympy(3)),
])  # fmt: skip
def test_a_missing_package_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, module: str, package: str, call: Callable[[], Any]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=f"^{package} is not installed") as caught:
        call()
    assert caught.value.expected == f"`pip install 'indexproof[{module}]'`"


def test_the_facade_has_them() -> None:
    for name in ("to_sympy", "from_sympy", "to_tvm", "from_tvm", "to_mlir", "from_mlir"):
        assert callable(getattr(indexproof.interop, name))
    assert callable(indexproof.isl_form.to_isl)
    assert callable(indexproof.isl_form.from_isl)
