"""Each test draws the same numbers, whichever ran before it in its process."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import pytest

_begins: dict[int, object] = {}


@pytest.fixture(autouse=True)
def seeded(request: pytest.FixtureRequest) -> Iterator[None]:
    for made in vars(request.module).values():
        if isinstance(made, np.random.Generator):
            state = _begins.setdefault(id(made), copy.deepcopy(made.bit_generator.state))
            made.bit_generator.state = copy.deepcopy(state)
    yield
