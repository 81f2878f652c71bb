"""The work of each item as a user of tabgpu writes it; tabgpu.mjs loads this into the page's Pyodide."""

import json
from collections.abc import Callable
from typing import Any

import js

import tabgpu as tg
from tabgpu import engine

LIVE = 2 << 30  # bytes of results kept alive before they are handed to the GPU and dropped
Operation = Callable[..., "tg.Array"]


def thousand(x: "tg.Array", b: "tg.Array") -> "tg.Array":
    for _ in range(1000):
        x = x + b
    return x


def layer_norm(x: "tg.Array", g: "tg.Array", b: "tg.Array") -> "tg.Array":
    return tg.nn.layer_norm(x, (x.shape[-1],), g, b)


def attention(causal: bool) -> Operation:
    return lambda q, k, v: tg.nn.scaled_dot_product_attention(q, k, v, is_causal=causal)


def resnet(x: "tg.Array", *weights: "tg.Array") -> "tg.Array":
    for w in weights:
        out, into, size, _ = w.shape
        stride = 2 if size == 3 and out > 64 else 1
        x = tg.nn.relu(tg.nn.conv2d(x, w, stride=stride, padding=size // 2))
    return x


def minilm(
    ids: "tg.Array", words: "tg.Array", places: "tg.Array", g: "tg.Array", z: "tg.Array", *layers: "tg.Array"
) -> "tg.Array":
    """layers: eight arrays for each layer, the first three joined by `joined`: six."""
    b, t = ids.shape
    width = words.shape[1]

    def norm(x: "tg.Array") -> "tg.Array":
        return tg.nn.layer_norm(x, (width,), g, z, 1e-12)

    x = norm(tg.nn.embedding(ids, words) + places)
    for k in range(0, len(layers), 6):
        qkv, out, first, second, out_bias, first_bias = layers[k : k + 6]
        heads = (x @ qkv).reshape(b, t, 3, 12, width // 12)
        y = tg.nn.scaled_dot_product_attention(*tg.unstack(tg.permute_dims(heads, (2, 0, 3, 1, 4))))
        y = tg.permute_dims(y, (0, 2, 1, 3)).reshape(b, t, width)
        x = norm(x + (y @ out + out_bias))
        x = norm(x + tg.nn.gelu(x @ first + first_bias) @ second)
    mean = tg.sum(x, axis=1)
    return mean / tg.sqrt(tg.sum(mean * mean, axis=-1, keepdims=True))


def joined(arrays: list["tg.Array"]) -> list["tg.Array"]:
    """The three matrices in front of each attention as one, as the page's example does."""
    made = arrays[:5]
    for k in range(5, len(arrays), 8):
        made += [tg.concat(arrays[k : k + 3], axis=1), *arrays[k + 3 : k + 8]]
    return made


def send() -> None:
    """Everything so far is on its way to the GPU; waits for nothing."""
    engine.flush()
    engine.device().submit()


def operation(spec: dict[str, Any]) -> tuple[Operation, str] | None:
    """The function of an item and how the table names it; None if tabgpu has none."""
    axis = spec.get("axis")
    found: dict[str, tuple[Operation, str]] = {
        "matmul": (lambda a, b: a @ b, "a @ b"),
        "matmul_f16": (lambda a, b: a @ b, "a @ b of float16"),
        "chain": (lambda a, b, c: tg.tanh(a * b + c) * 0.5, "tanh(a * b + c) * 0.5"),
        "sum": (lambda x: tg.sum(x, axis=axis), "sum"),
        "argmax": (lambda x: tg.argmax(x, axis=1), "argmax"),
        "cumsum": (lambda x: tg.cumsum(x, axis=1), "cumsum"),
        "sort": (lambda x: tg.sort(x), "sort"),
        "argsort": (lambda x: tg.argsort(x), "argsort"),
        "tiny": (thousand, "1000 x (x + b)"),
        "readback": (lambda x: tg.sum(x), "await a.item() of a settled scalar"),
        "copy": (lambda x: -x, "-x"),
    }
    if hasattr(tg.nn, "softmax"):
        found["softmax"] = lambda x: tg.nn.softmax(x, axis=-1), "nn.softmax"
    if hasattr(tg.nn, "conv2d"):
        found["conv"] = lambda x, w: tg.nn.conv2d(x, w, padding=1), "nn.conv2d"
        found["resnet"] = resnet, "twelve nn.conv2d and nn.relu"
    if hasattr(tg.nn, "layer_norm"):
        found["layernorm"] = layer_norm, "nn.layer_norm"
    if hasattr(tg.nn, "scaled_dot_product_attention"):
        found["minilm"] = minilm, "six layers of nn.layer_norm, scaled_dot_product_attention, gelu"
        found["attn"] = attention(bool(spec.get("causal"))), "nn.scaled_dot_product_attention"
    if hasattr(tg, "fft"):
        found["fft"] = tg.fft.fft, "fft.fft"
    return found.get(spec["kind"])


class Work:
    """One item: inputs on the GPU, the function, and the ways in which the page times it."""

    def __init__(self, text: str, peer: str, *inputs: Any) -> None:
        spec = json.loads(text)
        found = operation(spec)
        assert found is not None
        work, self.how = found
        f = work
        # `tg.jit` is to tabgpu what `jit` is to jax-js; the small adds are also measured without it.
        jitted = hasattr(tg, "jit") and (spec["kind"] != "tiny" or "+jit" in peer)
        self.jitted = jitted
        if jitted:
            f, self.how = tg.jit(f), f"jit: {self.how}"
        if peer.endswith("nofuse"):
            self.how += ", fuse=False"
        self.f = f
        self.half = spec["kind"] == "matmul_f16"
        self.complex = spec["kind"] == "fft"
        self.shapes = [spec["shapes"][k] for k in spec["names"]]
        self.inputs = self.uploaded(*inputs)
        if spec["kind"] == "minilm":
            self.inputs = joined(self.inputs)
        if spec["kind"] in ("minilm", "resnet"):  # a model's weights are its own
            self.inputs, weights = self.inputs[:1], self.inputs[1:]
            self.f = tg.jit(lambda x: work(x, *weights))
        if spec["kind"] == "copy":
            self.inputs = [tg.zeros(spec["n"], dtype=tg.float32) + 1.0]
            send()
        size = 1
        for n in spec["out"] if spec["kind"] != "copy" else [spec["n"]]:
            size *= n
        self.batch = max(1, LIVE // ((8 if self.complex else 4) * size))
        self.ran = self.launched = 0

    def uploaded(self, *inputs: Any) -> list["tg.Array"]:
        """Arrays of the page's Float32Arrays, which go to the GPU without a copy in Python's memory."""
        made = [tg.asarray(x).reshape(tuple(s)) for x, s in zip(inputs, self.shapes, strict=True)]
        if self.complex:
            return [tg.lax.complex(*made)]
        return [a.astype(tg.float16) for a in made] if self.half else made

    def many(self, k: int) -> None:
        """The operation k times. A call of a jitted function runs whatever becomes of its result, whose memory the next
        call may take. Other results stay alive until they are on their way to the GPU: a lazy library never computes
        what nobody names."""
        counters = engine.device().counters
        before = counters.launches
        f, inputs, batch = self.f, self.inputs, self.batch
        if self.jitted:
            for _ in range(k):
                f(*inputs)
        else:
            kept = []
            for _ in range(k):
                kept.append(f(*inputs))
                if len(kept) == batch:
                    send()
                    kept.clear()
        send()
        self.ran += k
        self.launched += counters.launches - before

    def launches(self) -> float:
        """Launches an operation so far. Below 1, the planner would have merged operations."""
        return self.launched / max(1, self.ran)

    def whole(self, *inputs: Any) -> Any:
        """End to end: the page's arrays to the GPU, the operation, the whole result back, as a promise."""
        y = self.f(*(self.uploaded(*inputs) if inputs else self.inputs))
        return (y.astype(tg.float32) if self.half else y).to_js()

    async def settle(self) -> None:
        """A scalar on the GPU, for `item`."""
        self.scalar = self.f(*self.inputs)
        send()

    async def item(self) -> float:
        """Milliseconds of reading that scalar, as Python sees it."""
        y, now = self.scalar, js.performance.now
        start = now()
        await y.item()
        return float(now() - start)


async def prepare(text: str, peer: str, *inputs: Any) -> Any:
    """The Work of an item, or why there is none."""
    if operation(json.loads(text)) is None:
        return "not offered"
    fuse = not peer.endswith("nofuse")
    if engine.current() is None or engine.device().config.fuse != fuse:
        await tg.init(fuse=fuse)
    if "+jit" in peer and not hasattr(tg, "jit"):
        return "not offered"
    return Work(text, peer, *inputs)
