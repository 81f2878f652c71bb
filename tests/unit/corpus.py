"""Kernels of every kind that the package can make: what test_codegen and test_naga walk through."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from corpus_direct import direct
from corpus_eigen import eigenvalues
from corpus_fft import fourier
from corpus_image import image
from corpus_orthogonal import orthogonal
from corpus_science import science
from corpus_signal import signals
from corpus_windows import windows

import tabgpu as tg
from tabgpu import (
    codegen,
    codegen_attention,
    codegen_conv,
    codegen_index,
    codegen_product,
    codegen_rows,
    engine,
    kernels,
    lower_product,
)
from tabgpu.codegen import Region
from tabgpu.dtypes import ALL, BY_KIND, DType
from tabgpu.formats import FORMATS
from tabgpu.kernels import attention_inner, gemm_tiles, quant_forms, rows_functions, scan_forms
from tabgpu.kernels.gemm_tiles import Side
from tabgpu.launch import Launch
from tabgpu.ops import taking
from tabgpu.ops.rows import ROWS
from tabgpu.random import draws
from tabgpu.routines import conv_direct, radix


def launches(*arrays: tg.Array) -> list[Launch]:
    """What computing the arrays would launch; nothing is run."""
    ops = [a._cell.op for a in arrays]
    return [x for _, some in engine.prepare(engine.device(), ops) for x in some if x.kernel.access]


def operand(kind: str, shape: tuple[int, ...] = (6, 8)) -> tg.Array:
    dtype = BY_KIND.get(kind) or ALL[kind]
    return tg.asarray(np.ones(shape, "float32" if dtype.kind == "f" else dtype.name), dtype=dtype)


def rows() -> Iterator[tuple[str, list[Launch]]]:
    """Each row, for each kind it takes, flat (with one scalar operand where it may) and over strided views."""
    for name, row in ROWS.items():
        for kind in [*"biufc", "int8", "uint16", "float16", "bfloat16"]:
            operands = [operand(kind) for _ in range(row.nin)]
            if row.operand_kinds is not None:
                operands = [operand(kind if p == "*" else p) for p in row.operand_kinds]
            try:
                flat = row(*operands)
            except TypeError:
                continue
            strided = row(*[a.T for a in operands])
            yield f"{name} {kind}", launches(flat) + launches(strided)
            if flat.dtype.kind in "f":
                yield f"{name} {kind} then sum", launches((flat * 1.5).sum(axis=0) + 1)


def reductions() -> Iterator[tuple[str, list[Launch]]]:
    """Each reduction and kind in its classes: contiguous, strided, along, across, long, with prologue and tail."""
    shapes = [(6, 8), (3, 40), (2, 5, 7), (40000,), (40002, 3), (5, 40000), (64, 3000)]
    names = ["sum", "prod", "max", "min", "argmax", "argmin", "any", "mean"]
    for name, kind, shape in itertools.product(names, "biuf", shapes):
        whole = operand(kind, shape)
        for x in (whole, whole.T, tg.broadcast_to(operand(kind, shape[-1:]), shape), tg.logical_not(whole)):
            for axis in {0, x.ndim - 1}:
                out = getattr(tg, name)(x, axis=axis)
                behind = tg.arange(out.shape[-1] if out.ndim else 1)
                more = [out] if out.dtype.kind == "b" else [out, out + behind.astype(out.dtype)]
                yield f"{name} {kind} {shape} {axis}", launches(*more)
                del out
                yield f"{name} {kind} {shape} {axis}", launches(more.pop())


def extremes() -> Iterator[tuple[str, list[Launch]]]:
    """Reductions that methods and NaN forms use, and extremes with positions: in one pass and in two."""
    for kind, shape in itertools.product("iuf", [(6, 8), (40000,), (64, 3000)]):
        x = operand(kind, shape)
        both = [*tg.max_with_index(x, 0), *tg.min_with_index(x, -1)]
        yield f"with index {kind} {shape}", launches(*both)
        names = (
            ("fmax", "fmin") if kind == "f" else ("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm")
        )
        for name in names:
            yield f"{name}.reduce {kind} {shape}", launches(getattr(tg, name).reduce(x))


VIEWS = {
    "rows": lambda a, b: (a, b[:, :1], a[:1]),
    "shifted": lambda a, b: (a[:, 1:-1], b[::-1, 2:], a[1, 2:]),
    "stepped": lambda a, b: (a[:, ::2], b[:, ::2]),
    "turned": lambda a, b: (a.T, b.T, a.T[:1]),
    "turned and shifted": lambda a, b: (a[1:, 2:-1].T, b[1:, 1:-2].T, b.T[1:-2, 1:]),
    "both ways": lambda a, b: (a, b.T),
    "batches": lambda a, b: (tg.broadcast_to(a, (3, *a.shape)).mT, tg.ones((3, 1, 1)), b.T),
}


def strided() -> Iterator[tuple[str, list[Launch]]]:
    """Chains over views of every class and form, for each width of elements, of even and of ragged rows."""
    for name, n, (what, view) in itertools.product(
        ["bool", "int8", "float16", "float32", "complex64"], (36, 37), VIEWS.items()
    ):
        found = view(operand(name, (n, n)), operand(name, (n, n)))
        if len({x.shape[-2:] for x in found if x.ndim > 1 and 1 not in x.shape[-2:]}) > 1:
            found = found[:2]
        total = found[0]
        for x in found[1:]:
            total = tg.add(total, x)
        yield (
            f"{what} {name} {n}",
            launches(total) + launches(total.astype(tg.complex64), tg.add(total, True)),
        )


def random_numbers() -> Iterator[tuple[str, list[Launch]]]:
    """Each function of tg.random, flat and over a strided view."""
    key, view = tg.random.key(5), tg.ones((6, 8)).T
    made: list[Any] = [tg.random.uniform, tg.random.bits, tg.random.normal]
    cases = {f.__name__: f(key, (8, 6)) for f in made}
    cases |= {
        f"uniform {n}": tg.random.uniform(key, (8, 6), n, 2, 3) for n in ("float32", "float16", "bfloat16")
    }
    cases |= {f"unit {n}": tg.random.uniform(key, (8, 6), n) for n in ("float16", "bfloat16")}
    cases["integers"] = tg.random.integers(key, 7, shape=(8, 6))
    cases["bernoulli"] = tg.random.bernoulli(key, shape=(8, 6))
    cases["keys"] = tg.random.split(tg.asarray(key, dtype=tg.uint32), 4)
    for impl in ("philox4x32", "threefry2x32"):
        of = tg.random.key(5, impl)
        given = {"f": 2.5, "i": 7, "u": 3}
        tables = ((draws.quantile, draws._QUANTILES), (draws.draw, draws._DRAWS))
        for draw, table in tables:
            for name, kinds in table.items():
                cases[f"{draw.__name__} {name} {impl}"] = draw(
                    name, of, (8, 6), 5, *[given[k] for k in kinds]
                )
        cases[f"integers {impl}"] = tg.random.integers(of, 7, shape=(8, 6))
        cases[f"normal {impl}"] = tg.random.normal(of, (8, 6))
    for name, x in cases.items():
        yield f"random {name}", launches(x) + (launches(x + view) if x.shape == view.shape else [])


def copies() -> Iterator[tuple[str, list[Launch]]]:
    """Joining and padding, for each width of elements."""
    for name in ("bool", "float16", "float32", "complex64"):
        x = tg.zeros((6, 8), dtype=name) + tg.zeros((), dtype=name)
        yield f"concat {name}", launches(tg.concat([x, x.T[:, :6][:6]], axis=1))
        yield f"pad {name}", launches(tg.pad(x, 1), tg.pad(x, 3, mode="reflect"), tg.roll(x, 1, 0))
        y = operand(name, (6, 8))
        joined = [tg.concat([y, y[:2], tg.zeros((1, 8), dtype=name)]), tg.concat([y, y[:, 1:]], axis=1)]
        joined += [tg.stack([y, y], axis=2), tg.concat([y, y[:, :4]], axis=1), tg.concat([y] * 12)]
        yield f"joined {name}", launches(*joined)
        mapped = [tg.pad(y, ((4, 4), (4, 4)), mode=m) for m in ("constant", "edge", "symmetric", "wrap")]
        mapped += [tg.roll(y, (1, 4), (0, 1)), tg.roll(y, 3, 1), tg.roll(y.T, 1), tg.pad(y, ((0, 0), (4, 8)))]
        yield f"mapped {name}", launches(*mapped)


def lines() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access) of the row kernels: functions, phases, forms, dtypes."""
    ways = [
        (256, 256, 2, False),
        (256, 32, 1, False),
        (256, 32, 8, True),
        (64, 1, 0, False),
        (64, 1, 0, True),
    ]
    for name, phase, way in itertools.product(rows_functions.TABLE, codegen_rows.READS, ways):
        if (phase in ("value", "merge_value")) != (name == "logsumexp") and phase not in ("partial", "merge"):
            continue
        wg, lanes, items, across = way
        for kind, vector in itertools.product(("float32", "float16", "bfloat16"), (False, True)):
            target = ALL[kind] if vector and phase in ("whole", "apply") else ALL["float32"]
            for extra in {False, name == "layer_norm"}:
                sig = codegen_rows.Form(
                    name,
                    phase,
                    wg,
                    lanes,
                    items,
                    across,
                    vector,
                    ALL[kind],
                    target,
                    extra,
                    extra,
                    False,
                    items > 0,
                )
                yield f"{name} {phase} {kind} {way} {vector}", *codegen_rows.text(sig)


def products() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access) of each variant that gemm_tiles may choose, with an epilogue; not of the matrix units."""
    limits = {"maxComputeInvocationsPerWorkgroup": 256, "maxComputeWorkgroupStorageSize": 32768}
    sizes = [(1024, 1024), (512, 512), (300, 300), (100, 100), (16, 1000), (1000, 16), (8, 8), (5, 7)]
    sizes += [(1, 4096), (4096, 3), (2, 100), (1024, 1023)]
    orders = [(64, 1), (1, 64), (3, 7)]
    forms = {"f": ["", "float16", "bfloat16"], "i": [""], "u": [""]}
    seen = set()
    for (m, n), a, b, software, kind in itertools.product(sizes, orders, orders, [False, True], "fiu"):
        for form in forms[kind]:
            sides = [Side((0, 0, 0, *order), 0, form) for order in (a, b)]
            choice = gemm_tiles.choose(m, n, 64, 16, *sides, limits, software)
            shown = (choice.kernel, kind, form, *choice.params.items(), *choice.unroll.items())
            if shown in seen:
                continue
            seen.add(shown)
            add = next(fn for k, fn in ROWS["add"]._fns.items() if k[0] is BY_KIND[kind])
            nodes = ((add, (codegen.VALUE, 2)), (add, (0, 1)))
            outs = ((4, BY_KIND[kind]), (codegen.VALUE, BY_KIND[kind]))
            region = Region(((0, BY_KIND[kind], False),), nodes, outs, 1)
            walks = [lower_product.Walk(0, side.strides, form) for side in sides]
            kernel = lower_product.kernel_of(choice, kind, *walks, region, 2, 1)
            yield kernel.label, kernel.code, kernel.access
    for kind in "fiu":
        region = Region((), (), ((codegen.VALUE, BY_KIND[kind]),), 0)
        yield f"product_sum {kind}", *codegen_product.added(codegen_product.Sum(kind, 256, region, 0, 0))


def quantised() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access) of the kernels for quantised weights: each format in each of them, and in products."""
    for name in FORMATS:
        for gather in (False, True):
            yield f"quant_dequantize {name} {gather}", *quant_forms.dequantize(name, gather, 256)
        for bank, (wg, lanes, outs) in itertools.product(
            (False, True), ((64, 1, 1), (128, 8, 1), (128, 32, 4), (128, 128, 1))
        ):
            params = {"WG": wg, "LANES": lanes, "OUTS": outs}
            yield f"quant_matvec {name} {bank} {params}", *quant_forms.matvec(name, bank, params)
            if outs == 4 and FORMATS[name].block == 32:
                staged = quant_forms.matvec(name, bank, {**params, "STAGE": 64})
                yield f"quant_matvec_blocks {name} {bank}", *staged
        if name in quant_forms.ENCODERS:
            yield f"quant_encode {name}", *quant_forms.encode(name, 64)
        limits = {"maxComputeInvocationsPerWorkgroup": 256, "maxComputeWorkgroupStorageSize": 32768}
        for (m, n), order, software in itertools.product(
            [(1024, 1024), (100, 100), (5, 4096), (9, 7)], [(1, 512), (64, 1)], [False, True]
        ):
            a, b = lower_product.Walk(0, (0, 0, 0, 512, 1), "float32"), (0, 0, 0, *order)
            walks = [a, lower_product.Walk(0, b, f"quant.{name}")]
            choice = gemm_tiles.choose(m, n, 512, 1, *[w.side for w in walks], limits, software)
            region = Region((), (), ((codegen.VALUE, BY_KIND["f"]),), 0)
            kernel = lower_product.kernel_of(choice, "f", *walks, region, 0, 0)
            yield kernel.label, kernel.code, kernel.access


def convolutions() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access) of tiles and lone threads of each rank, with an epilogue: padding, phases, forms."""
    tiles: list[dict[str, Any]] = [
        {"BM": t.bm, "BN": t.bn, "BK": t.bk, "TM": t.tm, "TN": t.tn, "LX": t.lx, "SLICES": t.slices, "PAD": 0,
         "NT": t.threads, "ALONE": False, "A_ALONG_K": True, "B_ALONG_K": t.bm == 32}
        for t in gemm_tiles.TILES if "w" not in t.name
    ]  # fmt: skip
    blocks = ((1, 4, False), (2, 4, False), (4, 4, True), (1, 8, False), (4, 8, False), (8, 16, False))
    tiles += [{"BM": m, "BN": n, "NT": 64, "ALONE": True, "FOURS": f} for m, n, f in blocks]
    switches = itertools.cycle(itertools.product((True, False), (True, False), (True, False)))
    for tile, rank, (padded, phases, level) in itertools.product(
        tiles,
        (1, 2, 3),
        ((False, False, False), (True, False, True), (True, False, False), (True, True, False)),
    ):
        linear, vec, n4 = next(switches)
        kind, form = ("f", ("", "f16", "bf16")[rank - 1]) if padded else (("f", "i", "u")[rank - 1], "")
        params = {**tile, "RANK": rank, "PADDED": padded, "PHASES": phases, "LEVEL": level, "LONG": not vec}
        params |= {"A_LINEAR": linear, "A_VEC": vec and tile.get("FOURS", True), "N4": n4 and not phases}
        add = next(fn for k, fn in ROWS["add"]._fns.items() if k[0] is BY_KIND[kind])
        region = Region(((0, BY_KIND[kind], False),), ((add, (codegen.VALUE, 1)),), ((0, BY_KIND[kind]),), 0)
        sig = codegen_conv.Conv(kind, (form, form), tuple(params.items()), region, 2, 1)
        yield f"conv {kind} {form} {params}", *codegen_conv.convolution(sig)
    spans = [*conv_direct.SPANS, conv_direct.Span(4, 8, 16, 2, 4)]
    for span, columns, (kind, form) in itertools.product(spans, (4, 5), (("f", ""), ("i", ""), ("f", "f16"))):
        params = conv_direct.params(span, columns)
        params |= {"RANK": 2, "PADDED": kind == "f", "PHASES": False, "LEVEL": False, "LONG": columns == 5}
        params |= {"A_LINEAR": True, "A_VEC": columns == 4}
        bare = Region((), (), ((codegen.VALUE, BY_KIND[kind]),), 0)
        sig = codegen_conv.Conv(kind, (form, form), tuple(params.items()), bare, 0, 0)
        yield f"conv {span.name} {columns} {kind} {form}", *codegen_conv.convolution(sig)


def gathers() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access) of the copies for buffers larger than a binding."""
    for name, rank in itertools.product(["float32", "bool", "float16", "complex64"], range(7)):
        yield f"gather_{name}_rank{rank}", *codegen.gather(codegen.Gather(ALL[name], rank, 256))


def indexed() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access) of indexed reads and writes: dtypes, modes, ways to combine, with 0 to 2 index arrays."""
    modes = itertools.cycle(["raise", "wrap", "clip", "drop"])
    picked: list[tuple[DType, ...]] = [(), (ALL["int32"],), (ALL["uint8"], ALL["int16"])]
    for dtype, picks in itertools.product([d for d in ALL.values() if d.available], picked):
        mode = next(modes)
        for rank in (0, 1, 3):
            for form in ((False,) * 3, (True, False, False), (True, True, False), (True,) * 3):
                if rank > 1 or (form[0] and not form[1]) or (form[0] and rank):
                    gather = codegen_index.Gather(dtype, picks, mode, rank, 256, *form)
                    yield (
                        f"gather {dtype.name} {len(picks)} {mode} {rank} {form}",
                        *codegen_index.gather(gather),
                    )
        exprs = ["", *(found for of in taking.COMBINE.values() if (found := of.get(dtype.kind)))]
        for expr, constant, claimed in itertools.product(exprs, (False, True), (False, True)):
            if claimed and (expr or not picks):
                continue
            scatter = codegen_index.Scatter(dtype, picks, mode, 2, 256, expr, constant, claimed)
            yield f"scatter {dtype.name} {len(picks)} {expr} {constant}", *codegen_index.scatter(scatter)
        yield f"claim {len(picks)} {mode}", *codegen_index.claim(codegen_index.Claim(picks, mode, 2, 256))


def scans_and_sorts() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access) of scans, and of radix sorts by subgroups of several sizes."""
    for (name, kind), switch in itertools.product(scan_forms.COMBINE, ("", "TOTALS", "CARRY", "GATHER")):
        for lanes, r, quads in ((256, 2, True), (256, 1, False), (8, 1, True)):
            params = (("WG", 256), ("LANES", lanes), ("R", r))
            out = quads and switch != "TOTALS"
            made = scan_forms.Form("scan_tiles", name, kind, params, switch, quads, out)
            yield f"scan_{name}_{kind} {switch}", *scan_forms.text(made)
        for file in ("scan_columns", "scan_serial"):
            if file == "scan_columns" or switch != "GATHER":
                made = scan_forms.Form(file, name, kind, (("WG", 64),), switch)
                yield f"{file}_{name}_{kind} {switch}", *scan_forms.text(made)
    for payload, whole in itertools.product((0, 1, 2), (True, False)):
        for bits, sizes in ((8, (32, 32)), (7, (16, 64)), (5, (4, 128))):
            key = ("radix_scatter", 128, 8, bits, payload, whole, sizes)
            yield f"radix_scatter {key}", *radix.scatter_text(key)
    for quads in (True, False):
        yield f"radix_count {quads}", *radix.count_text(("radix_count", 128, 8, 8, quads))
    for step in range(3):
        yield f"radix_serial {step}", kernels.specialise("radix_serial", STEP=step), "rrrwww"


def attentions() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access) of attention: each tile and other block, dtypes, ways to read, masks, lengths, chunks."""
    blocks: list[tuple[Any, ...]] = [("tiles", *tile) for tile in attention_inner.TILES]
    blocks += [("few", rows, 128, dims) for rows, dims in ((1, 32), (2, 64), (4, 128), (8, 256))]
    blocks += [("serial", 16, rows, 16) for rows in (1, 4)]
    masks = itertools.cycle([("none", False, False), ("bool", True, False), ("float", False, True)])
    for block, name, vector in itertools.product(blocks, ("float32", "float16", "bfloat16"), (True, False)):
        for split in (False, True):
            mask, lengths, cap = next(masks)
            target = ALL[name] if vector else ALL["float32"]
            form = codegen_attention.Form(
                block, ALL[name], target, vector, vector, mask, lengths, cap, split, block[0] != "serial"
            )
            yield f"attention {form}", *codegen_attention.text(form)
    for name, four in (("float32", True), ("float16", True), ("float32", False)):
        form = codegen_attention.Form(
            ("merge", 64), ALL[name], ALL[name], False, four, "none", False, False, False, four
        )
        yield f"attention {form}", *codegen_attention.text(form)


def custom() -> Iterator[tuple[str, list[Launch]]]:
    """Kernels of a user's: fused, with several results, over whole arrays of each dtype, reductions."""
    both = tg.ElementwiseKernel("T x, U y", "U z, T w", "z = y; w = x;", "both")
    look = tg.ElementwiseKernel("T x, raw U y, float32 s", "U z, T w", "z = y[i % y.size]; w = x;", "look")
    last = tg.ReductionKernel("T x", "T y", "x", "b", "y = a", 0, "last")
    for kind, other in zip([*"biufc", "int8", "uint16", "float16", "bfloat16"], [*"fbcui", "float16", "int8", "c", "b"],
                           strict=True):  # fmt: skip
        x, y = operand(kind), operand(other)
        yield f"custom {kind} {other}", launches(*both(x, y)) + launches(*look(x.T, y, 2.0))
        if "c" not in (kind, other):
            yield f"custom reduction {kind}", launches(last(x, axis=0)) + launches(last(x, axis=1))


def everything() -> Iterator[tuple[str, str, str, int]]:
    """(name, WGSL, access, words of the launch) of every kernel above, each text once."""
    seen = set()
    for make in (rows, strided, reductions, extremes, random_numbers, copies, custom):
        for name, some in make():
            for x in some:
                if x.kernel.code not in seen:
                    seen.add(x.kernel.code)
                    yield f"{name}: {x.kernel.label}", x.kernel.code, x.kernel.access, len(x.words)
    for name, code, access in [
        *products(),
        *convolutions(),
        *gathers(),
        *indexed(),
        *lines(),
        *scans_and_sorts(),
        *attentions(),
        *windows(),
        *fourier(),
        *direct(),
        *eigenvalues(),
        *orthogonal(),
        *image(),
        *science(),
        *signals(),
    ]:
        yield name, code, access, 0


def handwritten() -> list[str]:
    """The .wgsl files that are whole kernels."""
    return kernels.names()


def as_it_stands(name: str) -> str:
    """A hand-written file with its defaults, and the library that it calls."""
    text = kernels.read(name)
    called = [file for file in kernels.called(text) if file not in kernels.uses(text)]
    return kernels.enabled(kernels.library(called) + "\n" + kernels.specialise(name))


def library() -> list[str]:
    """The .wgsl files of kernels/lib; not what users add."""
    return sorted(stem for stem in set(kernels.homes().values()) if not stem.startswith("user_"))


__all__: list[Any] = [
    "as_it_stands",
    "everything",
    "handwritten",
    "launches",
    "library",
    "products",
    "reductions",
    "rows",
]
