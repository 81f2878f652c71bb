"""Every NumPy ufunc is a function of the elementwise table or is named there with the reason why not."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tabgpu import kernels
from tabgpu.ops import elementwise
from tabgpu.ops.rows import Row

UFUNCS = sorted(n for n in dir(np) if isinstance(getattr(np, n), np.ufunc))
BUILTINS = {"min", "max", "select", "vec2f", "bitcast"}
ROWS = {row.name: row for row in vars(elementwise).values() if isinstance(row, Row)}


def is_there(name: str) -> bool:
    return callable(getattr(elementwise, name, None)) and name not in elementwise.NOT_HERE


@pytest.mark.parametrize("name", UFUNCS)
def test_each_ufunc_is_there_or_named(name: str) -> None:
    assert is_there(name) != (name in elementwise.NOT_HERE)


def test_names_of_what_is_not_here_are_ufuncs_with_a_reason() -> None:
    for name, reason in elementwise.NOT_HERE.items():
        assert name in UFUNCS and len(reason) > 10


@pytest.mark.parametrize("name", [n for n in UFUNCS if n not in elementwise.NOT_HERE])
def test_aliases_are_the_same_function_as_in_numpy(name: str) -> None:
    canonical = getattr(np, name).__name__
    assert getattr(elementwise, name) is getattr(elementwise, canonical, getattr(elementwise, name))


@pytest.mark.parametrize("name", sorted(ROWS))
def test_rows_call_only_what_the_library_defines(name: str) -> None:
    row = ROWS[name]
    assert row.__doc__
    assert row.like.split(".")[0] in {"numpy", "scipy", "torch", "matlab"}
    for text in row.exprs.values():
        for called in re.findall(r"\b([a-z]\w*)\(", text):
            assert called in BUILTINS or called in kernels.homes(), called
        assert set(re.findall(r"(?<!\.)\b[xyz]\b", text)) == set("xyz"[: row.nin])


@pytest.mark.parametrize("name", sorted(ROWS))
def test_kinds_of_numpys_loops_are_taken(name: str) -> None:
    """Where NumPy has a loop for int32, uint32, float32 or bool, so has the row (perhaps through promotion)."""
    if (ufunc := getattr(np, name, None)) is None or not isinstance(ufunc, np.ufunc):
        pytest.skip("no ufunc of this name")
    row = ROWS[name]
    for kind, char in {"b": "?", "i": "i", "u": "I", "f": "f"}.items():
        lifted = {"float": "biu", "int": "b"}.get(row.promoted or "", "")
        taken = kind in row.exprs or kind in lifted or row.operand_kinds is not None
        try:
            ufunc.resolve_dtypes((np.dtype(char),) * ufunc.nin + (None,) * ufunc.nout)
        except TypeError:
            continue
        assert taken, f"{name} refuses {np.dtype(char)}, NumPy takes it"
