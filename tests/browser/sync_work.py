"""What Python asks of an array without `await`: the table for tests with and without JSPI. No tests, no pytest here."""

from __future__ import annotations

import asyncio
import copy
import math
import pickle
from typing import Any

import numpy as np

import tabgpu as tg

H = np.arange(5, dtype=np.float32)


def if_statement(a: Any) -> str:
    return "yes" if a[3] > 2 else "no"


def while_loop(a: Any) -> int:
    n = 0
    while (a + n).sum() < 40:
        n += 1
    return n


def comprehension(a: Any) -> list[float]:
    return [float(x) for x in a if x != 2]


def unpacking(a: Any) -> tuple[float, ...]:
    first, *_, last = a
    return float(first), float(last)


# name: (what is done with 0, 1, 2, 3, 4 in float32, what it gives, what an error tells to write)
WORK: dict[str, tuple[Any, Any, str]] = {
    "float": (lambda a: float(a.sum()), 10.0, "float(await a.item())"),
    "int": (lambda a: int(a[3] * 1.5), 4, "int(await a.item())"),
    "bool": (lambda a: bool(a[0]), False, "bool(await a.item())"),
    "complex": (lambda a: complex(a[2]), 2 + 0j, "complex(await a.item())"),
    "index": (lambda a: "abcdef"[a.astype("int32")[3]], "d", "await a.item()"),
    "range": (lambda a: list(range(a.astype("int32")[3])), [0, 1, 2], "await a.item()"),
    "asarray": (lambda a: np.asarray(a * 2).tolist(), [0, 2, 4, 6, 8], "await a.numpy()"),
    "array": (lambda a: np.array(a[::-1], dtype=np.float64).tolist(), [4, 3, 2, 1, 0], "await a.numpy()"),
    "bytes": (lambda a: bytes(a), H.tobytes(), "await a.tobytes()"),
    "if": (if_statement, "yes", "bool(await a.item())"),
    "while": (while_loop, 6, "bool(await a.item())"),
    "and": (lambda a: float(a[0] and a[1]), 0.0, "bool(await a.item())"),
    "in": (lambda a: (3 in a, 7 in a), (True, False), "bool(await a.item())"),
    "iteration": (comprehension, [0, 1, 3, 4], "await a.item()"),
    "unpacking": (unpacking, (0.0, 4.0), "float(await a.item())"),
    "sorted": (lambda a: [float(x) for x in sorted(a, key=lambda x: -float(x))], [4, 3, 2, 1, 0], "await a.item()"),
    "max": (lambda a: float(max(a)), 4.0, "bool(await a.item())"),
    "math": (lambda a: math.sqrt(a[4]), 2.0, "float(await a.item())"),
    "format": (lambda a: f"{a[1]:.2f}", "1.00", "format(await a.item(), '.2f')"),
    "pickle": (lambda a: float(pickle.loads(pickle.dumps(a))[4]), 4.0, "await a.numpy()"),
    "dlpack": (lambda a: np.from_dlpack(a).tolist(), [0, 1, 2, 3, 4], "await a.numpy()"),
}  # fmt: skip
# What never waits, and so works anywhere.
NO_WAIT: dict[str, tuple[Any, Any]] = {
    "operators": (lambda a: (a + 1).shape, (5,)),
    "numpy's functions": (lambda a: np.sin(a).shape, (5,)),
    "len": (len, 5),
    "iteration": (lambda a: [x.shape for x in a], [()] * 5),
    "copy": (lambda a: copy.deepcopy(a).shape, (5,)),
    "hash": (lambda a: isinstance(a, tg.Array), True),
}  # fmt: skip


def outcomes(a: Any, names: Any = WORK) -> dict[str, str]:
    """What each entry of WORK gives here: "right", or the error's class and text, or what is wrong."""
    said = {}
    for name in names:
        work, want, _ = WORK[name]
        try:
            got = work(a)
            said[name] = "right" if got == want else f"wrong: {got!r}"
        except Exception as error:
            said[name] = f"{type(error).__name__}: {error}"
    for name, (work, want) in NO_WAIT.items():
        got = work(a)
        assert got == want, (name, got)
    for text in (repr(a), str(a), f"{a}", a._repr_html_()):  # never raise
        assert ("await a.numpy()" in text) != ("4." in text), text
    return said


def all_right(said: dict[str, str]) -> bool:
    wrong = {k: v for k, v in said.items() if v != "right"}
    assert not wrong, wrong
    return True


def all_refused(said: dict[str, str]) -> bool:
    """Every one is a SyncError that names the `await` of the table."""
    for name, text in said.items():
        assert text.startswith("SyncError: ") and WORK[name][2] in text, (name, text)
    return True


async def awaited(a: Any) -> bool:
    """The forms that work everywhere."""
    assert (await a.sum().item()) == 10 and (await a.tolist()) == [0, 1, 2, 3, 4]
    x, y = await tg.fetch(a + 1, a[::2])
    assert x.tolist() == [1, 2, 3, 4, 5] and y.tolist() == [0, 2, 4]
    many = await asyncio.gather(*[(a * k).sum().item() for k in range(12)])
    assert many == [10 * k for k in range(12)]
    return True
