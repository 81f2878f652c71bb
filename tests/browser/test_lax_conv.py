"""tg.lax.conv_general_dilated against sums in NumPy: layouts, paddings of any sign, both dilations, groups."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import xla_reference as xla

import tabgpu as tg
from tabgpu import lax

RNG = np.random.default_rng(3)


def reference(x: Any, w: Any, strides: Any, pads: Any, gaps: Any, holes: Any, groups: int) -> Any:
    """(n, c, space ..) with (k, c / groups, space ..), in double precision, an output at a time."""
    x = xla.pad(
        x.astype(float), 0.0, [(0, 0, 0)] * 2 + [(a, b, g - 1) for (a, b), g in zip(pads, gaps, strict=True)]
    )
    reach = [(k - 1) * h + 1 for k, h in zip(w.shape[2:], holes, strict=True)]
    out = [max(0, (n - r) // s + 1) for n, r, s in zip(x.shape[2:], reach, strides, strict=True)]
    made = np.zeros((x.shape[0], w.shape[0], *out))
    each = w.shape[0] // groups
    for k, place in itertools.product(range(w.shape[0]), itertools.product(*(range(n) for n in out))):
        at = tuple(
            slice(p * s, p * s + r, h) for p, s, r, h in zip(place, strides, reach, holes, strict=True)
        )
        part = x[(slice(None), slice(k // each * w.shape[1], (k // each + 1) * w.shape[1]), *at)]
        made[(slice(None), k, *place)] = (part * w[k]).reshape(x.shape[0], -1).sum(1)
    return made


CASES = [
    ((2, 3, 9), (4, 3, 3), (2,), ((1, 1),), (1,), (1,), 1),
    ((2, 4, 7, 6), (6, 2, 3, 2), (1, 2), ((1, 0), (-1, 2)), (1, 1), (1, 2), 2),
    ((1, 2, 5, 4), (3, 2, 3, 3), (1, 1), ((2, 2), (1, 2)), (2, 3), (1, 1), 1),
    ((2, 2, 4, 5, 3), (3, 2, 2, 3, 2), (1, 2, 1), ((0, 1), (1, 1), (0, 0)), (1, 1, 2), (2, 1, 1), 1),
]
LAYOUTS = {
    3: [None, ("NWC", "WIO", "NWC"), ((0, 1, 2), (0, 1, 2), (1, 0, 2))],
    4: [None, ("NHWC", "HWIO", "NHWC"), ("CNWH", "OIHW", "HWNC")],
    5: [None, ("NDHWC", "DHWIO", "NDHWC")],
}


@pytest.mark.parametrize("case", range(len(CASES)))
async def test_conv_general_dilated(case: int) -> None:
    x_shape, w_shape, strides, pads, gaps, holes, groups = CASES[case]
    x = RNG.standard_normal(x_shape).astype(np.float32)
    w = RNG.standard_normal(w_shape).astype(np.float32)
    want = reference(x, w, strides, pads, gaps, holes, groups)
    names = "NC" + {3: "W", 4: "HW", 5: "DHW"}[len(x_shape)]
    for numbers in LAYOUTS[len(x_shape)]:
        orders = [list(range(len(x_shape)))] * 3
        if numbers is not None:
            orders = [
                [spec.index(n) for n in given] if isinstance(spec, str) else list(spec)
                for spec, given in zip(numbers, (names, "OI" + names[2:], names), strict=True)
            ]
        lhs, rhs = (v.transpose(np.argsort(order)) for v, order in zip((x, w), orders, strict=False))
        got = await lax.conv_general_dilated(
            tg.asarray(lhs), tg.asarray(rhs), strides, pads, gaps, holes, numbers, feature_group_count=groups
        ).numpy()
        got = got.transpose(orders[2])
        assert got.shape == want.shape and np.allclose(got, want, atol=2e-5)


async def test_padding_by_name_and_refusals() -> None:
    x, w = (RNG.standard_normal(s).astype(np.float32) for s in ((1, 2, 8, 7), (3, 2, 3, 4)))
    for strides in ((1, 1), (2, 3)):
        pads = lax.padtype_to_pads((8, 7), (3, 4), strides, "SAME")
        got = await lax.conv(x, w, strides, "SAME").numpy()
        assert np.allclose(got, reference(x, w, strides, pads, (1, 1), (1, 1), 1), atol=2e-5)
    got = await lax.conv(x, w, (1, 1), "VALID").numpy()
    assert got.shape == (1, 3, 6, 4)
    none = lax.conv_general_dilated(
        x, w, (1, 1), "VALID", rhs_dilation=(4, 1), dimension_numbers=("NCHW", "OIHW", "NHWC")
    )
    assert none.shape == (1, 0, 4, 3)
    half = lax.conv_general_dilated(tg.asarray(x).astype("float16"), tg.asarray(w).astype("float16"), (1, 1), "SAME",
                                    preferred_element_type="float32")  # fmt: skip
    assert half.dtype == "float32"
    with pytest.raises(ValueError, match="batch_group_count = 2"):
        lax.conv_general_dilated(x, w, (1, 1), "SAME", batch_group_count=2)
    with pytest.raises(ValueError, match="both need 3 to 5 axes"):
        lax.conv(x, w[0], (1, 1), "SAME")
    with pytest.raises(ValueError, match="dimension_numbers"):
        lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWD", "HWIO", "NHWC"))
    with pytest.raises(ValueError, match="padding is VALID, SAME or pairs"):
        lax.conv(x, w, (1, 1), "FULL")
