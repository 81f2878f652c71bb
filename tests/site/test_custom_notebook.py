"""User kernels in a JupyterLite notebook: all three kinds, and an error in their WGSL, shown with its line."""

from __future__ import annotations

from test_lite import LIMIT, OPEN, RUN, lab, lite, opened  # noqa: F401  # lab, lite, opened: fixtures

from tabgpu.host import wheel

KERNELS = '''
%pip install WHEEL
import numpy as np
import tabgpu as tg

await tg.init()
x = tg.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
wave = tg.ElementwiseKernel("T x, float32 s", "T up, int32 at", "up = x * T(s); at = i32(i);", "wave")
up, at = wave(x, 2.0)
length = tg.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a);", 0, "vector_length")
turn = tg.RawKernel("""
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> n: u32;
@compute @workgroup_size(64) fn turn(@builtin(global_invocation_id) g: vec3u) {
  if (g.x < n) { y[g.x] = x[n - 1u - g.x]; }
}
""", "turn")
for array in await tg.fetch(up, at, length(x, axis=1), turn(1, x, (6, "float32"), 6)):
    print(array.tolist())
'''

WRONG = (
    KERNELS.split("up, at =")[0]
    + '''
wrong = tg.ElementwiseKernel("float32 x", "float32 z", """let twice = x * 2.0;
z = twise + 1.0;""", "wrong")
for found in await wrong.compile():
    print(found)
await wrong(x).numpy()
'''
)


def said(lab, cell: str) -> str:  # noqa: F811
    """What a cell of a new notebook shows below it."""
    lab.page.evaluate(OPEN)
    lab.page.evaluate(RUN, cell.strip().replace("WHEEL", f"{lab.url}/pypi/{wheel.wheel_name()}"))
    prompt = "document.querySelector('.jp-Notebook .jp-CodeCell .jp-InputPrompt')?.textContent ?? ''"
    lab.page.wait_for_function(f"/^\\[\\d+\\]/.test({prompt})", timeout=LIMIT)
    return lab.page.inner_text(".jp-Notebook .jp-CodeCell .jp-OutputArea")


def test_the_three_kinds_in_a_notebook(lab) -> None:  # noqa: F811
    lines = said(lab, KERNELS).strip().splitlines()
    assert lines == [
        "[[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]",
        "[[0, 1, 2], [3, 4, 5]]",
        "[2.2360680103302, 7.071067810058594]",
        "[5.0, 4.0, 3.0, 2.0, 1.0, 0.0]",
    ]


def test_an_error_of_the_wgsl_is_shown_with_its_line(lab) -> None:  # noqa: F811
    text = said(lab, WRONG)
    assert "wrong, line 2: error: unresolved value 'twise' | z = twise + 1.0;" in text
    assert (
        "KernelError: kernel wrong, line 2 of its WGSL: unresolved value 'twise' | z = twise + 1.0;" in text
    )
