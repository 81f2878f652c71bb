"""web/examples/science in a page: its numbers beside NumPy and SciPy in float64, its pictures' pixels, its reads."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator

import numpy as np
import pytest

import example_references as ref

PREFIX = "/some/sub-path/"
LIMIT = 240_000  # ms; about 15 s on two quiet cores
SETTLED = "document.body.dataset.state !== 'busy'"
LAUNCHES = {"digits": 110, "photo": 40, "sound": 30, "option": 30}  # at most, on any adapter
CANVASES = {
    "axes": 100, "restored": 60, "scatter": 100, "explained": 30, "noisy": 5000, "gaussian": 5000, "median": 5000,
    "wiener": 5000, "wave": 20, "spectrum": 500, "paths": 100, "convergence": 50,
}  # fmt: skip

# All arrays that the page got, with the noise and the normal numbers behind them, as one .npz.
RESULTS = """
import base64, io
import numpy as np
import denoise, option_price, page
import tabgpu as tg

async def collected():
    arrays = {f"{n}_{k}": v for n, found in page.results.items() for k, v in found.items() if isinstance(v, np.ndarray)}
    noise = denoise.noisy(tg.zeros((320, 480, 3)), page.SIGMA)
    z = tg.random.default_rng(0).standard_normal(page.FUTURES)
    arrays["noise"], arrays["z"] = await tg.fetch(noise, z)
    file = io.BytesIO()
    np.savez(file, **arrays)
    return base64.b64encode(file.getvalue()).decode()

await collected()
"""
PIXELS = """(id) => {
  const canvas = document.getElementById(id), { width, height } = canvas;
  const data = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  let text = "";
  for (let k = 0; k < data.length; k += 8192) text += String.fromCharCode(...data.subarray(k, k + 8192));
  return [height, width, btoa(text)];
}"""


@pytest.fixture
def page(chromium) -> Iterator[object]:
    page = chromium.new_page()
    page.set_default_timeout(LIMIT)
    yield page
    page.close()


@pytest.fixture(scope="module")
def url(serve) -> str:
    server = serve(ref.ROOT / "web", prefix=PREFIX)
    # Made once: pages fetch the wheel and its hash apart, and an edit of the tree in between would part them.
    server.documents = {path: (lambda data=make(): data) for path, make in server.documents.items()}
    return server.url + PREFIX


def pixels(page, canvas: str) -> np.ndarray:
    """RGB of a canvas, (height, width, 3)."""
    height, width, data = page.evaluate(PIXELS, canvas)
    return np.frombuffer(base64.b64decode(data), np.uint8).reshape(height, width, 4)[..., :3]


def check_digits(got: dict[str, np.ndarray]) -> None:
    x, labels = ref.digits()
    want = ref.components(x)
    assert np.array_equal(got["labels"], labels)
    assert np.abs(got["axes"] - want["axes"][:11]).max() < 1e-3
    assert np.abs(got["scores"].T - want["scores"][:, :2]).max() < 1e-2
    assert np.abs(got["explained"] - np.cumsum(want["variance"]) / want["variance"].sum()).max() < 1e-5
    for at, k in enumerate((2, 8, 16, 32)):
        restored = ref.restored(want, k)
        assert np.abs(got["restored"][at] - restored[3]).max() < 1e-2
        assert got["errors"][at] == pytest.approx(np.sqrt(np.mean((x - restored) ** 2)), rel=1e-4)


def check_photo(got: dict[str, np.ndarray], noise: np.ndarray) -> None:
    clean = ref.photo()
    noisy = clean.astype(np.float32) + noise
    assert noise.std() == pytest.approx(0.1, rel=0.01)
    made = {
        "noisy": noisy,
        "gaussian": ref.gaussian(noisy),
        "median": ref.median(noisy),
        "wiener": ref.wiener(noisy, 0.1),
    }
    for at, (name, want) in enumerate(made.items()):
        assert got["psnr"][at] == pytest.approx(ref.psnr(clean, want), abs=1e-3), name
        assert got[name].shape == clean.shape and got[name].dtype == np.uint8
        assert np.abs(got[name] - np.clip(want, 0, 1) * 255).max() < 0.52, name
    assert got["psnr"][0] + 10 < got["psnr"][3] and got["psnr"][1] + 2 < got["psnr"][3]  # Wiener's does best


def check_sound(got: dict[str, np.ndarray]) -> None:
    rate, samples = ref.guitar()
    frequencies, times, level = ref.decibels(samples, rate)
    near = (level > level.max(axis=0) - 60)[:278]
    assert got["level"].shape == (278, 301) and np.allclose(got["times"], times)
    assert np.abs(got["level"] - level[:278])[near].max() < 0.02
    sounding = level.max(axis=0) > -60
    assert np.array_equal(
        got["loudest"][sounding], frequencies.astype(np.float32)[level.argmax(axis=0)][sounding]
    )
    pieces = samples[: 800 * (len(samples) // 800)].reshape(800, -1)
    assert np.array_equal(got["low"], pieces.min(axis=1)) and np.array_equal(got["high"], pieces.max(axis=1))


def check_option(got: dict[str, np.ndarray], z: np.ndarray) -> None:
    call = {"spot": 100.0, "strike": 105.0, "rate": 0.03, "volatility": 0.2, "years": 1.0}
    assert abs(z.mean()) < 0.01 and z.std() == pytest.approx(1, rel=0.01)
    worth = ref.futures(call, z.astype(np.float64))
    price, half = ref.confidence(worth)
    assert (got["price"], got["half"]) == pytest.approx((price, half), rel=1e-4)
    for k in (0, 100, 255):
        assert (got["mean"][k], got["band"][k]) == pytest.approx(
            ref.confidence(worth[: (k + 1) << 10]), rel=1e-4
        )
    assert abs(price - ref.formula(call)) < 2 * half  # in all but one of ten thousand
    assert got["paths"].shape == (40, 65) and (got["paths"][:, 0] == 100).all() and (got["paths"] > 0).all()


def check_pictures(page, got: dict[str, np.ndarray]) -> None:
    shown = {name: pixels(page, name) for name in CANVASES}
    for name, least in CANVASES.items():
        assert len(np.unique(shown[name] @ np.array([65536, 256, 1]))) > least, name
    for name in ("noisy", "gaussian", "median", "wiener"):  # byte by byte
        assert np.array_equal(shown[name], got[f"photo_{name}"]), name
    # After two seconds the string that sounds at 495 Hz is a bright line in the dark.
    height, width, _ = shown["spectrum"].shape
    column = shown["spectrum"][:, int(width * (58 + 788 * 2 / 3.53) / 860)].sum(axis=1)
    row = [round(height * (12 + 344 * (1 - kilohertz / 5.986)) / 400) for kilohertz in (0.495, 3.0)]
    assert column[row[0] - 3 : row[0] + 4].max() > 400 > 100 > column[row[1]]
    blue, orange = (
        (shown["convergence"] == colour).all(axis=2).sum() for colour in ((15, 98, 190), (234, 88, 12))
    )
    assert blue > 300 and orange > 300  # the estimate and the exact value


def test_the_four_examples_in_a_page(url, page) -> None:
    urls: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route("**/page.js", lambda route: route.abort())  # the demo itself
    page.goto(url)
    link = page.get_by_role("link", name="science on real data")
    page.goto(url + link.get_attribute("href"))
    page.wait_for_function(SETTLED)
    assert page.get_attribute("body", "data-state") == "done", page.inner_text("#step")
    saved = page.evaluate("async (code) => await pyodide.runPythonAsync(code)", RESULTS)
    got = dict(np.load(io.BytesIO(base64.b64decode(saved))))
    of = {n: {k.removeprefix(f"{n}_"): v for k, v in got.items() if k.startswith(f"{n}_")} for n in LAUNCHES}
    check_digits(of["digits"])
    check_photo(of["photo"], got["noise"])
    check_sound(of["sound"])
    check_option(of["option"], got["z"])
    check_pictures(page, got)
    for name, most in LAUNCHES.items():
        launches, read = page.inner_text(f"#{name}-spent").split(", ")[:2]
        assert 0 < int(launches.removesuffix(" launches")) <= most, launches
        assert read.startswith("1 read of "), read
    assert f"worth {of['option']['price']:.3f} ± {of['option']['half']:.3f} (95 %)" in page.inner_text(
        "#option-says"
    )
    assert "Black and Scholes' formula: 7.128." in page.inner_text("#option-says")
    assert f"Wiener's filter: {of['photo']['psnr'][3]:.2f} dB" in page.inner_text("#wiener-says")
    page.click("#again")
    page.wait_for_function(SETTLED)
    assert page.get_attribute("body", "data-state") == "done", page.inner_text("#step")
    again = [page.inner_text(f"#{name}-spent") for name in ("digits", "sound", "option")]
    assert not [said for said in again if "compiled" in said]
    assert not errors
    assert not [u for u in urls if not u.startswith((url, "blob:", "data:"))]  # nothing outside the sub-path


def test_without_webgpu_it_says_so(url, page) -> None:
    page.add_init_script("Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined })")
    page.goto(url + "examples/science/")
    page.wait_for_function(SETTLED)
    assert page.get_attribute("body", "data-state") == "failed"
    assert "no WebGPU" in page.inner_text("#step") and page.locator("#again").is_enabled()
