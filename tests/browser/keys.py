"""Random index keys: integers, slices, None, Ellipsis, arrays of integers and masks in any mixture."""

from __future__ import annotations

from typing import Any

import numpy as np


def random_key(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """A key for an array of a shape; its arrays broadcast with each other, now and then they do not."""
    block = tuple(rng.integers(1, 4, rng.integers(0, 3)).tolist())
    key: list[Any] = []
    axis, stop = 0, int(rng.integers(0, len(shape) + 1))
    while axis < stop:
        n, choice = shape[axis], rng.integers(0, 9)
        if choice == 0:
            key.append(int(rng.integers(-n, n)))
        elif choice < 3:
            ends = [None if rng.random() < 0.3 else int(v) for v in rng.integers(-n - 1, n + 2, 2)]
            key.append(slice(*ends, int(rng.choice([1, 2, -1, -2, 3]))))
        elif choice == 3:
            key.append(None)
            continue
        elif choice < 7:
            spread = tuple(1 if rng.random() < 0.2 else k for k in block)
            key.append(
                rng.integers(-n, n, spread).astype(rng.choice(["int32", "int8", "uint16", "int64"])) % n
            )
        elif choice == 7:
            deep = int(rng.integers(1, stop - axis + 1))
            key.append(rng.integers(0, 2, shape[axis : axis + deep]).astype(bool))
            axis += deep - 1
        elif Ellipsis not in [k for k in key if not isinstance(k, np.ndarray)]:
            key.append(Ellipsis)
            axis = stop
            continue
        axis += 1
    return tuple(key)
