"""NumPy really absent: its files are removed from the tab before tabgpu is imported."""

from __future__ import annotations

SCRIPT = """
import importlib, importlib.util, shutil, sys

for folder in sys.path:
    shutil.rmtree(f"{folder}/numpy", ignore_errors=True)
importlib.invalidate_caches()
assert importlib.util.find_spec("numpy") is None

import tabgpu as tg

await tg.init()
a = tg.asarray([[1.5, 2.5], [3, 4]]) * 2
assert await a.tolist() == [[3, 5], [6, 8]] and await a.sum().item() == 22
assert await (a @ a.T).tolist() == [[34, 58], [58, 100]]
assert len(await a.tobytes()) == 16 and (await a.memoryview()).tolist() == [[3, 5], [6, 8]]
(view,) = await tg.fetch(tg.exp(a) > 100)
assert isinstance(view, memoryview) and view.tolist() == [[False, True], [True, True]]
for name in ("int8", "int16", "uint8", "uint16", "uint32", "float16", "bfloat16", "complex64"):
    x = tg.asarray([1, 0, 3], dtype=name) + tg.ones(3, dtype=name)
    assert await x.tolist() == [2, 1, 4], name
assert str(a) == "[[3.0, 5.0], [6.0, 8.0]]" and float(a[0, 0]) == 3
assert tg.finfo(tg.float16).max == 65504 and tg.result_type(tg.int8, tg.uint8) is tg.int16
try:
    await a.numpy()
except ModuleNotFoundError as error:
    assert "await a.tolist()" in str(error)
else:
    raise AssertionError
assert "numpy" not in sys.modules
print("all", "right")
"""


def test_everything_but_numpy_arrays(command, tmp_path) -> None:
    """P16."""
    (tmp_path / "x.py").write_text(SCRIPT)
    done = command("run", "x.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all right" in done.stdout
