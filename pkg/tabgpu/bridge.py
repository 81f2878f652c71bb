"""The door to the host: loads bridge.js in a tab, bridge_native.py elsewhere. Alone imports `js` and `pyodide`."""

from __future__ import annotations

import asyncio
import json
import sys
from importlib import resources
from typing import Any

from . import blocking
from .errors import NoAdapterError

_HELP = (
    "WebGPU is on by default in Chrome and Edge 113, Safari 26 and Firefox 141 on some systems; the page must be https "
    "or localhost. On Linux or with a blocked driver, start Chromium with --enable-unsafe-webgpu (and "
    "--enable-features=Vulkan, or --use-webgpu-adapter=swiftshader for software rendering); in Firefox set "
    "dom.webgpu.enabled in about:config. chrome://gpu says why an adapter is refused"
)
TUNING = "tuning"  # the key of what `tg.tune()` found
_module: Any = None
_relay: Any = None


def in_browser() -> bool:
    """Whether Python runs in Pyodide."""
    return sys.platform == "emscripten"


def must_be_in_browser(what: str) -> None:
    """RuntimeError where there is no JavaScript."""
    if not in_browser():
        raise RuntimeError(
            f"{what}: this Python runs in no tab, so there is no JavaScript to give anything to"
        )


def callback(function: Any) -> Any:
    """A function that JavaScript may call as long as the page lives."""
    from pyodide.ffi import create_proxy

    return create_proxy(function)


def can_suspend() -> bool:
    """Whether a synchronous call may wait right here: in a tab JSPI, entered asynchronously; always in CPython."""
    if not in_browser():
        return True
    from pyodide.ffi import can_run_sync

    return bool(can_run_sync())


def run_sync(awaitable: Any) -> Any:
    """Waits for an awaitable without `await`; only where can_suspend()."""
    if in_browser():
        from pyodide.ffi import run_sync as run

        return blocking.wait(run, _boxed(awaitable))[0]
    from .native_waiting import run_sync as run_native

    return run_native(awaitable)


async def _boxed(awaitable: Any) -> list[Any]:
    """The result in a list, for it goes through JavaScript, where the float -0.0 would come back as the integer 0."""
    return [await awaitable]


def start(coroutine: Any) -> Any:
    """Work that several callers `await join(..)`; it outlives those that are cancelled."""
    if not in_browser():
        from .native_waiting import Shared

        return Shared(coroutine)
    task = blocking.spawn(coroutine)
    task.add_done_callback(lambda t: t.cancelled() or t.exception())  # seen: no warning if all are cancelled
    return task


def join(started: Any) -> Any:
    """An awaitable of what start() gave."""
    return asyncio.shield(started) if isinstance(started, asyncio.Future) else started


def js_exception() -> type[Exception]:
    """The class of exceptions that come from the other side of the bridge."""
    if in_browser():
        from pyodide.ffi import JsException

        return JsException  # type: ignore[no-any-return]
    from .bridge_native import HostError

    return HostError


# The elements of JavaScript's typed arrays, by the class's name.
_TYPED = {
    "Float32Array": "float32", "Int32Array": "int32", "Uint32Array": "uint32",
    "Int16Array": "int16", "Uint16Array": "uint16", "Int8Array": "int8", "Uint8Array": "uint8",
    "Uint8ClampedArray": "uint8",
}  # fmt: skip


def typed_array(value: Any) -> str:
    """The dtype of a JavaScript typed array that can go to the GPU as it lies; "" for anything else."""
    if type(value).__module__ != "pyodide.ffi" or not hasattr(value, "constructor"):
        return ""
    return _TYPED.get(str(value.constructor.name), "")


_new_bytes: Any = None


def blank(nbytes: int) -> bytearray:
    """Memory to read into. Large memory is not cleared first (a read of 256 MiB would take 6 ms longer)."""
    global _new_bytes
    if nbytes < 1 << 20:
        return bytearray(nbytes)
    if _new_bytes is None:
        try:
            import ctypes

            kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t)
            _new_bytes = kind(("PyByteArray_FromStringAndSize", ctypes.pythonapi))
        except (ImportError, AttributeError):  # a Python without
            _new_bytes = lambda _, n: bytearray(n)  # noqa: E731
    made: bytearray = _new_bytes(None, nbytes)
    return made


def ask(js: Any, name: str, *args: Any) -> Any:
    """An awaitable of what an asynchronous verb of the bridge gives; it is called now or when somebody awaits."""
    if _relay is None:
        return getattr(js, name)(*args)
    from .waking import Wake

    return Wake(lambda number: _relay(number, js, name, *args))


async def _relayed() -> Any:
    """Calls a verb and tells waking.py what it gives. A task goes on in a call that can wait, if there are such calls.

    The promise stays in JavaScript: one that comes to Python and back settles 0.1 ms later. Another is returned where
    there are arguments, which Pyodide keeps alive until it settles.
    """
    from pyodide.code import run_js

    from .waking import tell

    make = run_js("""async (tell) => {
      let call = tell;
      try { await tell.callPromising(0, 0, false); call = (...what) => tell.callPromising(...what); } catch {}
      return (number, bridge, name, ...args) => {
        const promise = bridge[name](...args), told = (value) => { call(number, value, false); };
        const done = promise.then(told, (error) => { call(number, error, true); });
        return args.some((x) => typeof x === "object") ? done : undefined;
      };
    }""")
    return await make(callback(tell))


async def _load() -> Any:
    global _module, _relay
    if _module is None:
        import js
        from pyodide.code import run_js

        package = resources.files(__package__)
        file = package / "bridge.js"
        if not file.is_file():  # a source tree instead of a wheel
            file = package / ".." / ".." / "js_bridge" / "bridge.js"
        source = file.read_text("utf-8")
        parts = run_js("(text) => new Blob([text], {type: 'text/javascript'})")(source)
        url = js.URL.createObjectURL(parts)
        try:
            _module = await run_js("(url) => import(url)")(url)
        finally:
            js.URL.revokeObjectURL(url)
        from pyodide import __version__ as version

        if (
            int(version.partition(".")[0]) >= 314
        ):  # 0.27 dies of calls that may suspend and do not come from its loop
            _relay = await _relayed()
    return _module


async def open_device(limits: dict[str, int], power: str, device: Any = None) -> tuple[Any, dict[str, Any]]:
    """The bridge object of a new device and its description; NoAdapterError says what to do where there is none."""
    if not in_browser():
        from . import bridge_native
        from .native_storage import recall

        native = bridge_native.open_device(limits, power, device)
        return native, json.loads(native.describe()) | {"tuning": recall(TUNING)}
    from pyodide.ffi import JsException

    module = await _load()
    options = json.dumps({"limits": limits, "powerPreference": power})
    remembered = module.recall(TUNING)  # found while the adapter is asked for
    try:
        opened = await (module.open(options) if device is None else module.open(options, device))
    except JsException as error:
        raise _refused(error) from None
    return opened, json.loads(opened.describe()) | {"tuning": str(await remembered)}


def _refused(error: Exception) -> NoAdapterError:
    """Why there is no adapter or no device, and what to do."""
    text = str(error)
    if "no-webgpu" in text:
        return NoAdapterError(f"this browser (or this page) has no navigator.gpu. {_HELP}")
    if "no-adapter" in text:
        return NoAdapterError(f"navigator.gpu offers no adapter. {_HELP}")
    return NoAdapterError(f"the adapter gave no device: {text}. {_HELP}")


async def request_adapter(power: str) -> Any:
    """WebGPU's adapter object; NoAdapterError."""
    if not in_browser():
        from .native_adapter import adapter

        return adapter(power)
    try:
        return await (await _load()).requestAdapter(power)
    except js_exception() as error:
        raise _refused(error) from None


async def device_of(adapter: Any) -> Any:
    """A new device of an adapter, with all that the adapter has."""
    if not in_browser():
        from .bridge_native import device_of as native_device_of

        return native_device_of(adapter, {})
    try:
        return await (await _load()).deviceOf(adapter)
    except js_exception() as error:
        raise _refused(error) from None


def about(adapter: Any) -> dict[str, str]:
    """What an adapter says of itself."""
    names = ("vendor", "architecture", "device", "description")
    if in_browser():
        return {name: str(getattr(adapter.info, name)) for name in names}
    return {name: str(adapter.info.get(name, "")) for name in names}


async def recall(key: str) -> str:
    """The text kept under a key; empty if there is none."""
    if in_browser():
        return str(await (await _load()).recall(key))
    from .native_storage import recall as recall_native

    return recall_native(key)


async def keep(key: str, text: str) -> bool:
    """Keeps a text beyond this process or page, or forgets it if it is empty; whether that worked."""
    if in_browser():
        return bool(str(await (await _load()).keep(key, text)))
    from .native_storage import keep as keep_native

    return keep_native(key, text)
