"""Options of the process: 64-bit names that mean their 32-bit twins, for libraries that ask for the widest dtype."""

from __future__ import annotations

import numpy as np
import pytest

import tabgpu as tg

TWINS = {"int64": tg.int32, "uint64": tg.uint32, "float64": tg.float32, "complex128": tg.complex64}


def test_narrow64_takes_64_bit_names_as_their_twins() -> None:
    a = tg.asarray([1, 2])
    for name, twin in TWINS.items():
        with pytest.raises(TypeError, match=f"{name}.*narrow64"):
            tg.zeros(3, dtype=name)
        with tg.config.using(narrow64=True):
            for spec in (name, getattr(tg, name), getattr(np, name), np.dtype(name)):
                assert tg.zeros(3, dtype=spec).dtype is twin
                assert tg.asarray([1, 2], dtype=spec).dtype is twin
                assert a.astype(spec).dtype is twin
            assert tg.sum(a, dtype=name).dtype is twin
    with pytest.raises(TypeError):
        a.astype(tg.float64)


async def test_narrow64_still_refuses_values_that_do_not_fit() -> None:
    with tg.config.using(narrow64=True):
        with pytest.raises(OverflowError, match=str(2**40)):
            tg.asarray([2**40], dtype=tg.int64)
        host = np.array([1e300, 0.1])
        np.testing.assert_array_equal(
            await tg.asarray(host, dtype=tg.float64).numpy(), np.array([np.inf, np.float32(0.1)], np.float32)
        )
        # What is said of dtypes stays true.
        assert tg.finfo(tg.float64).bits == 64
        assert tg.result_type(tg.float32, tg.float64) is tg.float64
        assert "float64" not in tg.__array_namespace_info__().dtypes()


def test_options_come_back() -> None:
    with pytest.raises(RuntimeError), tg.config.using(narrow64=True):
        raise RuntimeError
    assert tg.config.options.narrow64 is False
    with pytest.raises(TypeError, match="no option 'wide'.*narrow64"):
        tg.config.set(wide=True)
    with pytest.raises(TypeError, match="True or False"):
        tg.config.set(narrow64=1)
    assert tg.config.options.narrow64 is False
