"""The text of random kernels: four neighbours share a block of Philox, and a seed, a size or a place is not in it."""

from __future__ import annotations

import re
from typing import Any

import corpus
import pytest

import tabgpu as tg

CASES: dict[str, Any] = {
    "bits": lambda key, shape: tg.random.bits(key, shape),
    "uniform": lambda key, shape: tg.random.uniform(key, shape),
    "normal": lambda key, shape: tg.random.normal(key, shape),
    "integers": lambda key, shape: tg.random.integers(key, 3 + key[0], shape=shape),
    "dropout": lambda key, shape: tg.nn.dropout(tg.ones(shape), 0.5, key=key),
    "gamma": lambda key, shape: tg.random.gamma(key, 2.0 + key[0] % 5, shape),
    "sum": lambda key, shape: tg.random.uniform(key, shape).sum(),
}


FOUR = {"integers": "draw_integer4", "gamma": "draw_gamma4", "normal": "philox_normal4"}


def main_of(code: str) -> str:
    """The text behind the library."""
    return code[code.index("@group(0)") :]


@pytest.mark.parametrize("name", sorted(CASES))
def test_four_neighbours_share_a_block(gpu: Any, name: str) -> None:
    (launch, *_) = corpus.launches(CASES[name](tg.random.key(1), (6, 8)))
    calls = re.findall(r"\b(philox\w+|draw_\w+)\(", main_of(launch.kernel.code))
    assert calls == [FOUR.get(name, "philox_word4")]


@pytest.mark.parametrize("name", sorted(CASES))
def test_one_text_for_all_seeds_and_sizes(gpu: Any, name: str) -> None:
    texts = {
        tuple(x.kernel.code for x in corpus.launches(CASES[name](tg.random.key(seed), shape)))
        for seed, shape in [(0, (6, 8)), (1, (5, 7)), (2**63 + 5, (48,)), (77, (2, 3, 4))]
    }
    assert len(texts) == 1
