"""tg.fft in the tab against numpy.fft in complex128: every length, axes, padding, norms, views, special values.

The bound is 4 eps log2 n in relative L2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from forms import taking
from tab import IN_TAB

import tabgpu as tg
from tabgpu import engine
from tabgpu.routines import fft_passes

EPS = float(np.finfo(np.float32).eps)
LENGTHS = [*range(1, 68), 100, 121, 128, 169, 210, 243, 256, 360, 509, 512, 1000, 1009, 1024, 1155]
# Kernels of a GPU on a CPU adapter in the tab: it takes seconds to compile one. The native host runs them all.
FEW = [1, 2, 4, 8, 16]


@pytest.fixture(params=["own", "serial", "portable"])
def form(request: pytest.FixtureRequest) -> Iterator[str]:
    """The passes of a CPU adapter and those of a GPU."""
    if IN_TAB and request.param == "portable" and "every_length" not in request.node.name:
        if tg.device().software:
            pytest.skip("a CPU adapter takes seconds to compile each kernel; the native host runs them")
    with taking(request.param):
        yield request.param


def draw(*shape: int, seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)


def wide(x: Any) -> Any:
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def close(got: Any, want: Any, n: int, label: Any = "") -> None:
    """Within 4 eps log2 n of the exact result in relative L2, and of the dtype and shape that NumPy has for float32."""
    assert got.shape == want.shape, f"{label}: {got.shape}, NumPy {want.shape}"
    assert got.dtype == (np.complex64 if want.dtype.kind == "c" else np.float32), f"{label}: {got.dtype}"
    size = np.linalg.norm(want.ravel())
    error = np.linalg.norm((got - want).ravel()) / (size or 1.0)
    assert error <= 4 * EPS * max(1.0, np.log2(n)), f"{label}: {error:.3g} relative, n = {n}"


async def test_every_length(form: str) -> None:
    """L14: n = 1 .. 67 and more, primes and odd ones among them; complex and real, there and back."""
    lengths = FEW if IN_TAB and form == "portable" else LENGTHS
    for some in (lengths[k : k + 12] for k in range(0, len(lengths), 12)):
        calls = []
        for n in some:
            x = draw(2, n)
            r, h = x.real.copy(), x[:, : n // 2 + 1].copy()
            calls += [
                ("fft", x, n),
                ("ifft", x, n),
                ("fft", r, n),
                ("rfft", r, n),
                ("ihfft", r, n),
                ("irfft", h, n),
                ("hfft", h, n),
            ]
        got = await tg.fetch(*[getattr(tg.fft, name)(tg.asarray(x), n) for name, x, n in calls])
        for g, (name, x, n) in zip(got, calls, strict=True):
            close(g, getattr(np.fft, name)(wide(x), n), n, (name, n))


@pytest.mark.limits
async def test_lengths_with_padding_and_cropping_along_axes(form: str) -> None:
    """L14: n= longer and shorter than the axis, of every function, along each axis of a batch."""
    x = draw(3, 10, 5)
    r = x.real.copy()
    calls = []
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        data = r if name in ("rfft", "ihfft") else x
        for axis in (0, 1, -1):
            calls += [(name, data, n, axis) for n in (1, 2, 5, 7, 8, 16, 17, 20)]
    got = await tg.fetch(*[getattr(tg.fft, f)(tg.asarray(d), n, axis) for f, d, n, axis in calls])
    for g, (name, data, n, axis) in zip(got, calls, strict=True):
        close(g, getattr(np.fft, name)(wide(data), n, axis), n, (name, n, axis))


@pytest.mark.limits
async def test_views_are_read_in_place(form: str) -> None:
    """Transposed, stepped, reversed, broadcast and shifted operands, of even and odd lengths, complex and real."""
    views = {
        "turned": lambda a: a.T,
        "stepped": lambda a: a[::2, ::3],
        "reversed": lambda a: a[::-1, ::-1],
        "shifted": lambda a: a[1:, 1:-1],
        "moved": lambda a: a.reshape(4, 4, -1)[:, 1:3].swapaxes(0, 2),
        "one": lambda a: a[3],
    }
    for x in (draw(16, 18), draw(16, 18).real.copy()):
        g = tg.asarray(x)
        names = ("fft", "ifft") if x.dtype.kind == "c" else ("fft", "rfft", "ihfft")
        calls = [(name, what, axis) for name in names for what in views for axis in (0, -1)]
        got = await tg.fetch(*[getattr(tg.fft, f)(views[what](g), axis=axis) for f, what, axis in calls])
        for one, (name, what, axis) in zip(got, calls, strict=True):
            seen = views[what](wide(x))
            close(one, getattr(np.fft, name)(seen, axis=axis), 18, (name, what, axis))
    x = draw(6)
    wanted = np.fft.fft(np.broadcast_to(wide(x), (4, 6)))
    close(await tg.fft.fft(tg.broadcast_to(tg.asarray(x), (4, 6))).numpy(), wanted, 6)
    close(await tg.fft.fft(tg.arange(12)).numpy(), np.fft.fft(np.arange(12)), 12)
    close(await tg.fft.rfft(tg.full((3, 8), 2.5)).numpy(), np.fft.rfft(np.full((3, 8), 2.5)), 8)


async def test_norms() -> None:
    """Each norm of each function; an unknown one raises ValueError."""
    x = draw(2, 12)
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2"):
        data = x.real.copy() if "rfft" in name and name[0] == "r" or name == "ihfft" else x
        for norm in (None, "backward", "ortho", "forward"):
            got = await getattr(tg.fft, name)(tg.asarray(data), norm=norm).numpy()
            close(got, getattr(np.fft, name)(wide(data), norm=norm), 24, (name, norm))
        with pytest.raises(ValueError, match="norm"):
            getattr(tg.fft, name)(tg.asarray(data), norm="both")


@pytest.mark.limits
async def test_several_axes(form: str) -> None:
    """fft2, fftn and their kin: default, given, repeated and no axes; s longer and shorter; -1 in s."""
    x = draw(4, 6, 5)
    cases: list[dict[str, Any]] = [
        {},
        {"axes": (0, 1)},
        {"axes": (-1, 0)},
        {"axes": (1,)},
        {"s": (3, 8), "axes": (0, 2)},
        {"s": (4, -1), "axes": (2, 1)},
        {"axes": (1, 1)},
        {"s": (2, 7), "axes": (-2, -1), "norm": "ortho"},
    ]
    for name in ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"):
        data = x.real.copy() if name[0] == "r" else x
        got = await tg.fetch(*[getattr(tg.fft, name)(tg.asarray(data), **case) for case in cases])
        for g, case in zip(got, cases, strict=True):
            close(g, getattr(np.fft, name)(wide(data), **case), 120, (name, case))
    for name in ("fftn", "fft2", "ifftn"):  # no axes: as it is
        assert np.array_equal(await getattr(tg.fft, name)(tg.asarray(x), axes=()).numpy(), x)


def test_bad_arguments_raise_at_the_call() -> None:
    """Shapes, axes, lengths, dtypes: errors that NumPy has too, before GPU work."""
    x = tg.ones((2, 3))
    for call in (
        lambda: tg.fft.fft(x, 0),
        lambda: tg.fft.fft(tg.zeros((2, 0))),
        lambda: tg.fft.irfft(tg.zeros((1,))),
        lambda: tg.fft.hfft(tg.zeros((3, 1))),
        lambda: tg.fft.fftn(x, s=(2,), axes=(0, 1)),
        lambda: tg.fft.irfft2(x[:, :1]),
        lambda: tg.fft.fftfreq(2.5),
    ):
        with pytest.raises(ValueError):
            call()
    for call in (lambda: tg.fft.fft(x, axis=2), lambda: tg.fft.fft(3.0), lambda: tg.fft.fftn(x, s=(2, 2, 2))):
        with pytest.raises(IndexError):
            call()
    for name in ("rfftn", "irfftn", "rfft2", "irfft2"):
        with pytest.raises(IndexError, match="axis"):
            getattr(tg.fft, name)(x, axes=())
    for call in (
        lambda: tg.fft.rfft(tg.ones((3,), dtype=tg.complex64)),
        lambda: tg.fft.fft(x, axis=(0, 1)),
        lambda: tg.fft.fft(x, n=2.0),
    ):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ZeroDivisionError):
        tg.fft.fftfreq(0)


async def test_dtypes_and_sizes_that_say_little() -> None:
    """bool, integers, float16 give complex64 (NumPy's rule for 32 bits), no elements none, one position itself."""
    for dtype in ("bool", "int8", "uint16", "int32", "uint32", "float16", "float32"):
        x = (np.arange(12).reshape(2, 6) % 5).astype(dtype)
        close(await tg.fft.fft(tg.asarray(x)).numpy(), np.fft.fft(x.astype(np.float64)), 6, dtype)
        close(await tg.fft.rfft(tg.asarray(x)).numpy(), np.fft.rfft(x.astype(np.float64)), 6, dtype)
        close(await tg.fft.irfft(tg.asarray(x)).numpy(), np.fft.irfft(x.astype(np.float64)), 10, dtype)
    assert tg.fft.fft(tg.ones((2, 8), dtype=tg.bfloat16)).dtype is tg.complex64
    for shape, axis in (((0, 4), 1), ((3, 0, 4), 2)):
        for name in ("fft", "rfft", "irfft"):
            got = await getattr(tg.fft, name)(tg.zeros(shape), axis=axis).numpy()
            assert got.shape == getattr(np.fft, name)(np.zeros(shape), axis=axis).shape
    assert (await tg.fft.fft(tg.asarray([2.5])).numpy()).tolist() == [2.5]
    assert (await tg.fft.rfft(tg.asarray([2.5, -1.0])).numpy()).tolist() == [1.5, 3.5]


async def test_special_values_spoil_their_own_line_only(form: str) -> None:
    """A NaN or an infinity makes its line NaN or infinite where NumPy's is, and no other line."""
    x = draw(4, 16)
    x[1, 3], x[3, 5] = np.nan, np.inf
    got = await tg.fft.fft(tg.asarray(x)).numpy()
    assert not np.isfinite(got[[1, 3]]).any(), "each result has every element of the line"
    close(got[::2], np.fft.fft(wide(x[::2])), 16)
    tiny = np.float32(1e-38) * np.ones(8, np.float32)
    assert abs((await tg.fft.fft(tg.asarray(tiny * 0 + np.float32(1e30))).numpy())[0] / 8e30 - 1) < 1e-6


@pytest.mark.limits
async def test_passes_over_columns() -> None:
    """Lengths of one, two and three passes in workgroup memory, of little of it; along both axes, real ones too."""
    gpu = engine.device()
    with taking("portable") if tg.device().software else taking("subgroups"):
        facts = engine.facts_of(gpu)
        gpu.facts = replace(facts, limits={**facts.limits, "maxComputeWorkgroupStorageSize": 1024})
        gpu.programs = None
        assert [len(fft_passes.shares(1 << k, False, gpu.facts)) for k in (7, 8, 10, 11, 13)] == [
            1,
            2,
            2,
            3,
            3,
        ]
        for n in (64, 4096) if IN_TAB else (64, 1024, 4096):
            x = draw(2, n, seed=3)
            close(await tg.fft.fft(tg.asarray(x)).numpy(), np.fft.fft(wide(x)), n, n)
            got = await tg.fft.ifft(tg.asarray(x.T.copy()), axis=0).numpy()
            close(got, np.fft.ifft(wide(x.T), axis=0), n, (n, "columns"))
            r = x.real.copy()
            close(await tg.fft.rfft(tg.asarray(r), n - 1).numpy(), np.fft.rfft(wide(r), n - 1), n, (n, "odd"))
            close(await tg.fft.irfft(tg.fft.rfft(tg.asarray(r))).numpy(), wide(r), n, (n, "there and back"))
            y = draw(n, 3, seed=4)
            close(
                await tg.fft.fft(tg.asarray(y), axis=0).numpy(), np.fft.fft(wide(y), axis=0), n, (n, "three")
            )


@pytest.mark.parametrize("memory", [16384, 32768, 49152])
async def test_steps_of_32(memory: int) -> None:
    """Lines of 1,024 positions in two steps: rows and columns, by what a workgroup's memory holds; all ends of them."""
    gpu = engine.device()
    if IN_TAB and memory not in (32768, engine.facts_of(gpu).limits["maxComputeWorkgroupStorageSize"]):
        pytest.skip("seconds for each kernel, or more memory than there is; the native host does it")
    with taking("portable") if tg.device().software else taking("subgroups"):
        facts = engine.facts_of(gpu)
        facts = gpu.facts = replace(facts, limits={**facts.limits, "maxComputeWorkgroupStorageSize": memory})
        gpu.programs = None
        rows, columns = (fft_passes.taken(1024, across, facts) for across in (False, True))
        assert rows == ({16384: 1}.get(memory, 2), 32, False, True)
        assert memory == 16384 or columns == ({32768: 4}.get(memory, 8), 32, True, True)
        x, y = draw(5, 1024), draw(1024, 11, seed=1)
        g, h = tg.asarray(x), tg.asarray(y)
        close(await tg.fft.fft(g).numpy(), np.fft.fft(wide(x)), 1024, "rows")
        close(await tg.fft.fft(h, axis=0).numpy(), np.fft.fft(wide(y), axis=0), 1024, "columns")
        if memory != 32768 or IN_TAB:
            return
        r, z = x.real.copy(), draw(1 << 19)
        close(await tg.fft.fft(tg.asarray(z)).numpy(), np.fft.fft(wide(z)), 1 << 19, "with twiddles")
        got = await tg.fft.ifft(g[::-1, :1000], 1024, norm="ortho").numpy()
        close(got, np.fft.ifft(wide(x)[::-1, :1000], 1024, norm="ortho"), 1024, "reversed, padded, scaled")
        close(
            await tg.fft.ifft(h[:, 3:], axis=0).numpy(), np.fft.ifft(wide(y)[:, 3:], axis=0), 1024, "shifted"
        )
        close(await tg.fft.rfft(tg.asarray(r)).numpy(), np.fft.rfft(wide(r)), 1024, "of reals")
        close(await tg.fft.irfft(g, 1024).numpy(), np.fft.irfft(wide(x), 1024), 1024, "to reals")
        close(await tg.fft.fft(g[:, :509]).numpy(), np.fft.fft(wide(x)[:, :509]), 1024, "as a convolution")
        angles = np.pi / 2048 * np.outer(2 * np.arange(1024) + 1, np.arange(1024))
        close(await tg.fft.dct(tg.asarray(r)).numpy(), 2 * wide(r) @ np.cos(angles), 1024, "cosines")
        r[2, 7] = np.nan
        got = await tg.fft.fft(tg.asarray(r)).numpy()
        assert np.isnan(got[2]).all() and not np.isnan(np.delete(got, 2, 0)).any()


async def test_beyond_a_binding(form: str) -> None:
    """Batches that a binding does not hold are cut along their lines; a line that it does not hold is refused."""
    gpu = engine.device()
    gpu.facts, gpu.programs = replace(engine.facts_of(gpu), binding=1 << 17), None
    x = draw(400, 100)
    g = tg.asarray(x)
    close(await tg.fft.fft(g).numpy(), np.fft.fft(wide(x)), 100)
    close(await tg.fft.ifft(g[::-1, 3:]).numpy(), np.fft.ifft(wide(x)[::-1, 3:]), 97, "a convolution")
    close(await tg.fft.rfft(tg.asarray(x.real.copy())).numpy(), np.fft.rfft(wide(x.real)), 100)
    close(await tg.fft.irfft(g, 64).numpy(), np.fft.irfft(wide(x), 64), 64)
    y = draw(90, 64, 5)
    close(await tg.fft.fft(tg.asarray(y), axis=1).numpy(), np.fft.fft(wide(y), axis=1), 64, "columns")
    with pytest.raises(tg.LimitError, match="binding limit"):
        await tg.fft.fft(tg.zeros((1, 1 << 15))).numpy()


async def test_launches() -> None:
    """What acceptance counts on a GPU: rows of 1,024 are one pass, 2^20 are two, a 2-D transform two."""
    if IN_TAB and tg.device().software:
        pytest.skip("seconds for each kernel; the native host does it")
    with taking("portable") if tg.device().software else taking("subgroups"):
        facts = engine.facts_of(engine.device())
        if facts.limits["maxComputeWorkgroupStorageSize"] >= 32768:
            assert fft_passes.shares(1 << 20, False, facts) == [1024, 1024]
        for shape, name, most in (
            ((64, 1024), "fft", 1),
            ((1, 1 << 16), "fft", 2),
            ((32, 16), "fft2", 2),
            ((8, 64), "rfft", 1),
            ((8, 64), "irfft", 1),
            ((8, 63), "dct", 1),
            ((2, 1 << 14), "rfft", 3),
        ):
            x = tg.asarray(np.ones(shape, "float32" if name in ("rfft", "dct") else "complex64"))
            await x.numpy()
            before = tg.memory()["launches"]
            out = getattr(tg.fft, name)(x)
            await out.numpy()
            assert tg.memory()["launches"] - before == most, (shape, name)


async def test_many_shapes_few_pipelines(form: str) -> None:
    """Lengths, batches, axes, strides and paddings compile nothing but the radices (or powers of two) they need."""
    for n in (8, 64, 105, 143, 17, 2, 3, 16, 32, 128):
        await tg.fft.fft(tg.ones((2, n), dtype=tg.complex64)).numpy()
    before = tg.memory()["pipelines"]
    for n in (24, 40, 56, 63, 77, 91, 19, 23, 29, 37, 8, 64):
        for batch in (1, 3):
            await tg.fft.fft(tg.ones((batch, n), dtype=tg.complex64)).numpy()
            await tg.fft.fft(tg.ones((batch, n + 3), dtype=tg.complex64), n).numpy()
    assert tg.memory()["pipelines"] - before <= 12
    before = tg.memory()["pipelines"]
    for n in (24, 40, 56, 63, 77, 91, 19, 23, 29, 37, 8, 64):
        await tg.fft.fft(tg.ones((5, n), dtype=tg.complex64)).numpy()
    assert tg.memory()["pipelines"] == before


async def test_frequencies_and_shifts() -> None:
    """fftfreq and rfftfreq within an ulp of NumPy's, fftshift and ifftshift exactly, over axes and odd lengths."""
    for n in (1, 2, 3, 8, 9, 1000):
        for name in ("fftfreq", "rfftfreq"):
            for d in (1.0, 0.1, 3):
                got = await getattr(tg.fft, name)(n, d).numpy()
                want = getattr(np.fft, name)(n, d)
                assert got.dtype == np.float32 and got.shape == want.shape
                assert np.all(np.abs(got - want) <= np.spacing(np.abs(want).astype(np.float32)))
    assert tg.fft.fftfreq(4, dtype=tg.float16).dtype is tg.float16
    for shape in ((5,), (4, 3), (2, 5, 6)):
        x = np.arange(np.prod(shape)).reshape(shape).astype(np.int32)
        for name in ("fftshift", "ifftshift"):
            for axes in (None, 0, -1, (0,), tuple(range(len(shape))), ()):
                got = await getattr(tg.fft, name)(tg.asarray(x), axes).numpy()
                assert np.array_equal(got, getattr(np.fft, name)(x, axes)), (name, shape, axes)
    assert tg.fft.fftshift(tg.zeros((3,), dtype=tg.uint8)).dtype is tg.uint8


def test_fast_lengths() -> None:
    """The next (previous) product of primes up to 13."""
    for n in range(1, 300):
        fast = [k for k in range(1, 600) if fft_passes.factors(k) is not None]
        assert tg.fft.next_fast_len(n) == next(k for k in fast if k >= n)
        assert tg.fft.prev_fast_len(n) == max(k for k in fast if k <= n)
    with pytest.raises(ValueError):
        tg.fft.prev_fast_len(0)


async def test_numpy_calls() -> None:
    """numpy.fft's functions with GPU arrays are ours, out= as well."""
    x = draw(4, 6)
    g = tg.asarray(x)
    made = np.fft.fft(g, n=8, axis=0, norm="ortho")
    assert isinstance(made, tg.Array)
    close(await made.numpy(), np.fft.fft(wide(x), 8, 0, "ortho"), 8)
    close(await np.fft.irfftn(g).numpy(), np.fft.irfftn(wide(x)), 40)
    assert np.array_equal(await np.fft.fftshift(g).numpy(), np.fft.fftshift(x))
    room = tg.zeros((4, 6), dtype=tg.complex64)
    np.fft.fft2(g, out=room)
    close(await room.numpy(), np.fft.fft2(wide(x)), 24)


async def test_everything_is_lazy_and_traced() -> None:
    """Nothing is computed at the call; a jitted function replays."""
    x = draw(3, 20)
    spectrum = tg.jit(lambda a: tg.abs(tg.fft.fft(a * 2.0)) ** 2)
    for k in range(3):
        got = await spectrum(tg.asarray(x + k)).numpy()
        want = np.abs(np.fft.fft(2 * wide(x + k))) ** 2
        assert np.linalg.norm(got - want) <= 8 * EPS * np.log2(20) * np.linalg.norm(want)
    before = tg.memory()["launches"]
    kept = tg.fft.ifft(tg.fft.fft(tg.asarray(x)))
    assert tg.memory()["launches"] == before
    close(await kept.numpy(), wide(x), 400)


@pytest.mark.slow
@pytest.mark.big
@pytest.mark.parametrize(
    "n", [1 << 20, 1 << 21, 1 << 22, 65537, 1009, 1155, 3 * 5 * 7 * 11 * 13 * 16, 1000003]
)
async def test_long(n: int) -> None:
    """L13: 2^20 .. 2^22, long primes and products of small ones."""
    x = draw(n)
    close(await tg.fft.fft(tg.asarray(x)).numpy(), np.fft.fft(wide(x)), n, n)
    r = x.real.copy()
    back = tg.fft.irfft(tg.fft.rfft(tg.asarray(r)), n)
    close(await back.numpy(), wide(r), n, (n, "there and back"))


@pytest.mark.parametrize(
    ("n", "d"), [(256, 1 / 8000), (8, 0.1), (1000, 1e-3), (17, 3.0), (4096, 1 / 44100), (5, -2.0)]
)
async def test_frequencies_are_the_rounded_ones(n: int, d: float) -> None:
    """Exactly where n d or 1 / (n d) is a float32, else within a unit in the last place."""
    for ours, theirs in ((tg.fft.fftfreq, np.fft.fftfreq), (tg.fft.rfftfreq, np.fft.rfftfreq)):
        want, got = theirs(n, d), await ours(n, d).numpy()
        if any(float(np.float32(x)) == x for x in (n * d, 1 / (n * d))):
            np.testing.assert_array_equal(got, want.astype(np.float32))
        else:
            assert np.all(np.abs(got - want) <= np.spacing(np.abs(want).astype(np.float32)))
