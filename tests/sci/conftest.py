"""The scientific chapters beside SciPy and NumPy on CPython, on the native host: `./build.sh sci`.

A test draws the same numbers, whichever ran before it: module-level Generators are put back to where they began.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "browser")]
_begins: dict[int, object] = {}


def pytest_configure() -> None:
    if sys.platform != "emscripten":
        from vulkan import borrow_a_driver

        borrow_a_driver()


@pytest.fixture(autouse=True)
def seeded(request: pytest.FixtureRequest) -> Iterator[None]:
    for made in vars(request.module).values():
        if isinstance(made, np.random.Generator):
            state = _begins.setdefault(id(made), copy.deepcopy(made.bit_generator.state))
            made.bit_generator.state = copy.deepcopy(state)
    yield
