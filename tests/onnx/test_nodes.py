"""ONNX's own node tests, through adapter.py. On the host and in the tab (where the cases come as a file)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adapter import WideError, narrow, run
from cases import OPERATORS, load

import tabgpu as tg

CASES = load()
# Of these families none may be out.
WHOLE = ("Gather", "Scatter", "TensorScatter", "TopK", "Trilu", "Pad", "Resize")
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


def is_out(case: dict[str, Any]) -> bool:
    try:
        for tensor in [*case["inputs"], *case["wanted"]]:
            tensor is None or narrow(tensor)
    except WideError:
        return True
    return False


OUT = [case for case in CASES if is_out(case)]
RUN = [case for case in CASES if not is_out(case)]


@pytest.mark.parametrize("case", RUN, ids=lambda c: f"{c['op']}-{c['name']}")
async def test_node(case: dict[str, Any]) -> None:
    made = run(case["op"], case["attrs"], case["inputs"])
    made = tuple(x for x, name in zip(made, case["outputs"]) if name)
    wanted = [narrow(t) for t in case["wanted"]]
    assert len(made) == len(wanted)
    for x, got, (dtype, want) in zip(made, await tg.fetch(*made), wanted, strict=True):
        assert x.dtype == dtype and x.shape == want.shape, f"{x.dtype} {x.shape}, ONNX {dtype} {want.shape}"
        if want.dtype.kind == "f":
            want = want.astype(np.float64)
            slack = 2 * EPS.get(dtype, 0.0)
            np.testing.assert_allclose(got, want, rtol=case["rtol"] + slack, atol=case["atol"] + slack / 2)
        else:
            np.testing.assert_array_equal(got, want)


def test_every_operator_has_cases_and_no_family_is_out() -> None:
    assert {case["op"] for case in RUN} == set(OPERATORS)
    assert len(CASES) > 500
    assert not [case["name"] for case in OUT if case["op"].startswith(WHOLE)]


def test_a_case_is_out_only_if_its_values_need_64_bits() -> None:
    fits = {"int64": [-(2**31), 2**31 - 1], "uint64": [2**32 - 1], "float64": [0.1, 1e30], "uint8": [255]}
    for dtype, values in fits.items():
        name, x = narrow((dtype, np.array(values, dtype)))
        assert x.dtype.name == name and x.dtype.itemsize <= 4
    for dtype, value in (("int64", 2**31), ("int64", -(2**31) - 1), ("uint64", 2**32)):
        assert is_out({"inputs": [None, (dtype, np.array([0, value], dtype))], "wanted": []})
