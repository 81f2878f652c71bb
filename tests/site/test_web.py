"""The pages of web/, as a person opens them: from a sub-path, without COOP and COEP (P04), with and without WebGPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tabgpu.host import browser as host_browser

ROOT = Path(__file__).resolve().parents[2]

PREFIX = "/some/sub-path/"
LIMIT = 120_000  # ms for a page to finish; about 8 s on two quiet cores
SETTLED = "document.body.dataset.state === 'done' || document.body.dataset.state === 'failed'"


@pytest.fixture(scope="module")
def web(serve) -> str:
    """The URL of web/ with what a site has beside it: pyodide/, and PyScript from npm as pyscript/."""
    server = serve(ROOT / "web", prefix=PREFIX)
    # Made once: pages fetch the wheel and its hash apart, and an edit of the tree in between would part them.
    server.documents = {path: (lambda data=make(): data) for path, make in server.documents.items()}
    server.folders.append((PREFIX + "pyscript/", ROOT / "node_modules" / "@pyscript" / "core" / "dist"))
    return server.url + PREFIX


@pytest.fixture
def page(chromium) -> Iterator[object]:
    page = chromium.new_page()
    page.set_default_timeout(LIMIT)
    yield page
    page.close()


@pytest.fixture(scope="module")
def without_webgpu(chromium) -> Iterator[object]:
    """A browser with WebGPU switched off."""
    args = [a for a in host_browser.flags("default", []) if "webgpu" not in a]
    browser = chromium.browser_type.launch(
        executable_path=host_browser.find_browser(None, playwright=False),
        args=[*args, "--disable-features=WebGPU,WebGPUService", "--disable-gpu"],
        chromium_sandbox=False,
    )
    yield browser
    browser.close()


def colours(page, canvas: str) -> int:
    """How many different colours a canvas shows."""
    return page.evaluate(
        """(id) => {
          const canvas = document.getElementById(id);
          const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          return new Set(new Uint32Array(data.buffer)).size;
        }""",
        canvas,
    )


def shown(page) -> None:
    """The demo's result is complete and right."""
    assert page.locator("body").get_attribute("data-state") == "done", page.inner_text("body")
    assert page.inner_text("#adapter strong") not in ("", "unnamed adapter")
    facts = page.inner_text("#facts")
    assert "599 of 599" in facts and "96.49 %" in facts and "578 of 599; NumPy: 578" in facts
    assert colours(page, "matrix") > 20 and colours(page, "misread") > 20
    assert "599 of 599 predictions are equal" in page.text_content("#output")


def test_the_demo_in_the_page_and_in_a_worker(web, page) -> None:
    urls, errors = [], []
    page.on("request", lambda request: urls.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(web)
    page.wait_for_function("document.querySelectorAll('#steps li').length === 4")  # progress on the way
    page.wait_for_function(SETTLED)
    shown(page)
    assert not page.evaluate("crossOriginIsolated") and not page.workers
    page.get_by_label("in a worker").check()
    page.wait_for_function("document.body.dataset.state === 'busy'")
    page.wait_for_function(SETTLED)
    shown(page)
    assert [w.url for w in page.workers] == [web + "worker.js"]
    assert not errors
    away = [u for u in urls if not u.startswith((web, "blob:", "data:"))]
    assert not away  # no CDN, nothing outside the sub-path


def test_an_error_of_the_script_is_shown_as_text(web, page) -> None:
    bad = "<img src=x onerror='window.hacked = 1'>"
    script = f'print("<b>{bad}</b>")\nraise ValueError("{bad}")\n'
    page.route("**/digits.py", lambda route: route.fulfill(body=script, content_type="text/x-python"))
    page.goto(web)
    page.wait_for_function(SETTLED)
    assert page.inner_text("#problem") == "The demo did not finish"
    assert page.inner_text("#reason") == f"ValueError: {bad}"
    assert 'File "digits/digits.py", line 2' in page.text_content("#trace")
    assert f"<b>{bad}</b>" in page.text_content("#output")
    assert not page.is_visible("#help")
    assert page.evaluate("[document.querySelectorAll('main img, main b').length, window.hacked]") == [0, None]
    assert page.is_enabled("#again")


def test_a_missing_pyodide_says_what_to_do(web, page) -> None:
    page.route("**/pyodide.mjs", lambda route: route.fulfill(status=404, body="not here"))
    page.goto(web)
    page.wait_for_function(SETTLED)
    assert "./build.sh serve" in page.inner_text("#reason")


def test_without_webgpu_the_demo_says_what_to_do(web, without_webgpu) -> None:
    page = without_webgpu.new_page()
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    for place in ("page", "worker"):
        page.goto(f"{web}?in={place}")
        page.wait_for_function(SETTLED)
        assert page.inner_text("#problem") == "No WebGPU in this browser"
        assert re.search("navigator.gpu is missing|gave no adapter", page.inner_text("#reason"))
        assert page.is_visible("#help") and "--enable-unsafe-webgpu" in page.inner_text("#help")
    assert not [u for u in urls if "pyodide" in u]  # nothing large is loaded in vain
    page.close()


def test_the_plain_page(web, page) -> None:
    page.goto(web + "examples/plain/")
    page.wait_for_function("!document.getElementById('out').textContent.startsWith('loading')")
    assert re.fullmatch(r".+: 1\.4936\d\d", page.inner_text("#out"))  # erf(1) sqrt(pi)


def test_the_plain_page_without_webgpu(web, without_webgpu) -> None:
    page = without_webgpu.new_page()
    page.set_default_timeout(LIMIT)
    page.goto(web + "examples/plain/")
    page.wait_for_function("!document.getElementById('out').textContent.startsWith('loading')")
    last = page.inner_text("#out").strip().splitlines()[-1]
    assert "NoAdapterError" in last and "chrome://gpu" in last
    page.close()


def test_the_pyscript_page_and_its_worker(web, page) -> None:
    page.goto(web + "examples/pyscript/")
    page.wait_for_function(
        "['page', 'worker'].every((id) => !document.getElementById(id).textContent.startsWith('loading'))"
    )
    assert not page.evaluate("crossOriginIsolated")
    for place in ("page", "worker"):
        assert re.fullmatch(r".+: 1\.4936\d\d", page.inner_text(f"#{place}"))
