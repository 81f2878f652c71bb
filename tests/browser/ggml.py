"""GGML's block formats in plain NumPy, weight by weight as documented: the oracle of the quant tests, also in the tab.

tests/torch/test_quant_reference.py compares it with the gguf package.
"""

from __future__ import annotations

import json
import struct

import numpy as np

SIZES = {
    "F32": (1, 4), "F16": (1, 2), "BF16": (1, 2), "Q8_0": (32, 34), "Q4_0": (32, 18), "Q4_1": (32, 20),
    "Q5_0": (32, 22), "Q5_1": (32, 24), "Q2_K": (256, 84), "Q3_K": (256, 110), "Q4_K": (256, 144),
    "Q5_K": (256, 176), "Q6_K": (256, 210),
}  # fmt: skip
QUANTISED = [name for name in SIZES if name[0] == "Q"]
# Where a block has its float16 scales, in bytes.
SCALES = {
    "Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q2_K": [80, 82], "Q3_K": [108],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
}  # fmt: skip


def random_bytes(name: str, shape: tuple[int, ...], seed: int = 0, scale: float = 0.01) -> bytes:
    """Bytes of a tensor: any codes, scales of either sign about `scale` (some of them float16 denormals, some 0)."""
    rng = np.random.default_rng(seed)
    block, each = SIZES[name]
    n = int(np.prod(shape)) // block
    if name not in SCALES:
        x = rng.standard_normal(n).astype(np.float32)
        return floats(name, x)
    raw = rng.integers(0, 256, (n, each), dtype=np.uint8)
    for at in SCALES[name]:
        d = (rng.standard_normal(n) * scale).astype(np.float16)
        d[::7] = np.float16(3e-6)
        d[3::11] = 0
        raw[:, at : at + 2] = d.view(np.uint8).reshape(n, 2)
    return raw.tobytes()


def floats(name: str, x: np.ndarray) -> bytes:
    """float32 values as the bytes of F32, F16 or BF16."""
    if name == "BF16":
        bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).tobytes()
    return np.ascontiguousarray(x, np.float16 if name == "F16" else np.float32).tobytes()


def _half(raw: np.ndarray, at: int) -> np.ndarray:
    return np.ascontiguousarray(raw[:, at : at + 2]).view(np.float16).astype(np.float32)


def _bit(value: np.ndarray, at: np.ndarray | int, mask: int) -> np.ndarray:
    return (value.astype(np.int32) >> at) & mask


def decode(name: str, data: bytes, shape: tuple[int, ...]) -> np.ndarray:
    """float32 weights of a tensor's bytes."""
    if name == "BF16":
        return (np.frombuffer(data, np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(shape)
    if name in ("F16", "F32"):
        return (
            np.frombuffer(data, np.float16 if name == "F16" else np.float32).astype(np.float32).reshape(shape)
        )
    block, each = SIZES[name]
    raw = np.frombuffer(data, np.uint8).reshape(-1, each)
    e = np.arange(block)
    f = np.float32
    if name == "Q8_0":
        out = _half(raw, 0) * raw[:, 2:].view(np.int8).astype(f)
    elif name in ("Q4_0", "Q4_1", "Q5_0", "Q5_1"):
        minimum, five = name.endswith("1"), name.startswith("Q5")
        head = 4 if minimum else 2
        q = _bit(raw[:, head + 4 * five + e % 16], 4 * (e // 16), 15)
        if five:
            q = q + 16 * _bit(raw[:, head + e // 8], e % 8, 1)
        if minimum:
            out = _half(raw, 0) * q.astype(f) + _half(raw, 2)
        else:
            out = _half(raw, 0) * (q - (16 if five else 8)).astype(f)
    elif name == "Q2_K":
        s = raw[:, e // 16]
        q = _bit(raw[:, 16 + 32 * (e // 128) + e % 32], 2 * (e // 32 % 4), 3)
        out = (_half(raw, 80) * (s & 15).astype(f)) * q.astype(f) - _half(raw, 82) * (s >> 4).astype(f)
    elif name == "Q3_K":
        s = e // 16
        code = (
            _bit(raw[:, 96 + s % 8], 4 * (s // 8), 15) + 16 * _bit(raw[:, 104 + s % 4], 2 * (s // 4), 3) - 32
        )
        q = _bit(raw[:, 32 + 32 * (e // 128) + e % 32], 2 * (e // 32 % 4), 3)
        q = q + 4 * _bit(raw[:, e % 32], e // 32, 1) - 4
        out = (_half(raw, 108) * code.astype(f)) * q.astype(f)
    elif name in ("Q4_K", "Q5_K"):
        j = e // 32
        late = j > 3
        a, b, c = (raw[:, 4 * part + 4 + j % 4].astype(np.int32) for part in range(3))
        scale = np.where(late, (c & 15) | (a >> 6) << 4, a & 63)
        least = np.where(late, (c >> 4) | (b >> 6) << 4, b & 63)
        q = _bit(raw[:, (16 if name == "Q4_K" else 48) + 32 * (e // 64) + e % 32], 4 * (e // 32 % 2), 15)
        if name == "Q5_K":
            q = q + 16 * _bit(raw[:, 16 + e % 32], j, 1)
        out = (_half(raw, 0) * scale.astype(f)) * q.astype(f) - _half(raw, 2) * least.astype(f)
    else:
        n, h, r = e // 128, e // 32 % 4, e % 32
        q = _bit(raw[:, 64 * n + 32 * (h % 2) + r], 4 * (h // 2), 15)
        q = q + 16 * _bit(raw[:, 128 + 32 * n + r], 2 * h, 3) - 32
        code = np.ascontiguousarray(raw[:, 192:208]).view(np.int8)[:, e // 16]
        out = (_half(raw, 208) * code.astype(f)) * q.astype(f)
    return out.astype(f).reshape(shape)


def encode(name: str, x: np.ndarray) -> bytes:
    """float32 values as a tensor's bytes in the formats that GGML rounds block by block (not the K ones)."""
    x = np.ascontiguousarray(x, np.float32)
    if name not in SCALES:
        return floats(name, x)
    f = np.float32
    b = x.reshape(-1, 32)
    if name == "Q8_0":
        d = np.abs(b).max(axis=1, keepdims=True) / f(127)
        scaled = b * _inverse(d)
        size = np.abs(scaled)
        q = np.sign(scaled) * (np.floor(size) + np.floor(f(2) * (size - np.floor(size))))
        return np.concatenate([_bytes(d), q.astype(np.int8).view(np.uint8)], axis=1).tobytes()
    top = 31 if name.startswith("Q5") else 15
    if name.endswith("1"):
        low = b.min(axis=1, keepdims=True)
        d = (b.max(axis=1, keepdims=True) - low) / f(top)
        q = np.trunc((b - low) * _inverse(d) + f(0.5))
        head = [_bytes(d), _bytes(low)]
    else:
        far = np.take_along_axis(b, np.abs(b).argmax(axis=1, keepdims=True), axis=1)
        d = far / f(-(top + 1) / 2)
        q = np.trunc(b * _inverse(d) + f(top / 2 + 1))
        head = [_bytes(d)]
    q = q.clip(0, top).astype(np.uint8)
    if top == 31:
        head.append(np.packbits(q >> 4, axis=1, bitorder="little"))
    return np.concatenate([*head, (q[:, :16] & 15) | ((q[:, 16:] & 15) << 4)], axis=1).tobytes()


def _inverse(d: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.where(d == 0, np.float32(0), np.float32(1) / d)


def _bytes(d: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return d.astype(np.float16).view(np.uint8)


# --- files ------------------------------------------------------------------------------------------------------------

KINDS = {
    "F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q5_0": 6, "Q5_1": 7, "Q8_0": 8, "Q2_K": 10, "Q3_K": 11, "Q4_K": 12,
    "Q5_K": 13, "Q6_K": 14, "I8": 24, "I16": 25, "I32": 26, "I64": 27, "F64": 28, "BF16": 30,
}  # fmt: skip


def _text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def _value(value: object) -> tuple[int, bytes]:
    if isinstance(value, bool):
        return 7, struct.pack("<?", value)
    if isinstance(value, int):
        return (10, struct.pack("<Q", value)) if value > 0xFFFFFFFF else (4, struct.pack("<I", value))
    if isinstance(value, float):
        return 12, struct.pack("<d", value)
    if isinstance(value, str):
        return 8, _text(value)
    assert isinstance(value, list)
    kind = _value(value[0])[0]
    return 9, struct.pack("<IQ", kind, len(value)) + b"".join([_value(v)[1] for v in value])


def gguf_file(tensors: dict[str, tuple[str, tuple[int, ...], bytes]], **metadata: object) -> bytes:
    """A GGUF file: name -> (format, shape, bytes), and its keys (`a__b` stands for a.b)."""
    align = int(metadata.get("general__alignment", 32))  # type: ignore[call-overload]
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        kind, raw = _value(value)
        head += _text(key.replace("__", ".")) + struct.pack("<I", kind) + raw
    data = b""
    for name, (kind, shape, raw) in tensors.items():
        dims = struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        head += _text(name) + dims + struct.pack("<IQ", KINDS[kind], len(data))
        data += raw + bytes(-len(raw) % align)
    return head + bytes(-len(head) % align) + data


def safetensors_file(tensors: dict[str, tuple[str, tuple[int, ...], bytes]], **metadata: str) -> bytes:
    """A safetensors file: name -> (dtype, shape, bytes)."""
    header: dict[str, object] = {"__metadata__": metadata} if metadata else {}
    at = 0
    for name, (kind, shape, raw) in tensors.items():
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [at, at + len(raw)]}
        at += len(raw)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"".join([raw for _, _, raw in tensors.values()])
