"""A tab without NumPy: arrays are made, computed with, indexed and read as lists, bytes and memoryviews."""

from __future__ import annotations

import textwrap

SCRIPT = """
import importlib.util
import sys

assert importlib.util.find_spec("numpy") is None
import tabgpu as tg

await tg.init()
a = tg.asarray([[1.0, 2.0], [3.0, 4.0]])
assert await (a @ a + 1).tolist() == [[8.0, 11.0], [16.0, 23.0]]
assert await a.sum().item() == 10.0 and float(a.mean()) == 2.5
assert await tg.asarray([1, 2], dtype="uint8").tobytes() == bytes([1, 2])
half = await tg.asarray([1.5, -2.0], dtype="float16").memoryview()
assert half.format == "H" and list(half) == [0x3E00, 0xC000]
assert await tg.asarray([1.5, -2.0], dtype="float16").tolist() == [1.5, -2.0]
assert await tg.asarray([1.5, 3.0], dtype="bfloat16").tolist() == [1.5, 3.0]
assert await tg.asarray([1 + 2j]).tolist() == [1 + 2j]
assert await tg.asarray(memoryview(b"abc")).tolist() == [97, 98, 99]
assert await tg.asarray([[True], [False]]).tolist() == [[True], [False]]
assert await a[1].tolist() == [3.0, 4.0]
assert await a[[1, 0, 1]][:, 0].tolist() == [3.0, 1.0, 3.0]
assert await a[a > 2.5].tolist() == [3.0, 4.0]
a[0] = 5.0
a[:, [1]] = 7
a[tg.asarray([[False, False], [True, False]])] = -1
assert await a.tolist() == [[5.0, 7.0], [-1.0, 7.0]]
assert await tg.sort(tg.asarray([3, 1, 2])).tolist() == [1, 2, 3]
assert await tg.cumulative_sum(tg.asarray([1, 2, 3])).tolist() == [1, 3, 6]
assert await tg.concat([tg.arange(2), tg.arange(3)]).tolist() == [0, 1, 0, 1, 2]
assert repr(a).startswith("array([[5.0, 7.0], [-1.0, 7.0]]")
assert f"{a[0, 1]:.2f}" == "7.00"
try:
    await a.numpy()
except ModuleNotFoundError as error:
    assert "numpy" in str(error)
else:
    raise AssertionError("numpy() without NumPy")
try:
    a[[0, 9]]
except IndexError as error:
    assert "9 is out of bounds" in str(error)
assert "numpy" not in sys.modules
print("done")
"""


def test_without_numpy(command, tmp_path) -> None:
    (tmp_path / "plain.py").write_text(textwrap.dedent(SCRIPT))
    done = command("run", "--no-numpy", "plain.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "done" in done.stdout
