"""The forms of attention.wgsl's marked block, written out, and the table of tiles; not which of them a shape takes."""

from __future__ import annotations

from typing import NamedTuple


class Tile(NamedTuple):
    """bm queries x bn keys a workgroup; ty x tx threads, each bm / ty queries x bn / tx keys, then as many queries x
    dims / tx dimensions of values. dims: the most dimensions that queries and values may have."""

    dims: int
    bm: int
    bn: int
    ty: int
    tx: int

    @property
    def name(self) -> str:
        return f"t{self.bm}x{self.bn}d{self.dims}"

    @property
    def threads(self) -> int:
        return self.ty * self.tx

    @property
    def shared(self) -> int:
        """vec4s of the part of the memory that holds keys, then weights."""
        return self.bn * max(self.dims, self.bm) // 4

    @property
    def memory(self) -> int:
        """Bytes of workgroup memory."""
        return 16 * (self.dims * self.bm // 4 + self.shared + self.bn * self.dims // 4)


# The fastest first of those that a device can hold, for each class of dimensions.
TILES = (
    Tile(32, 64, 32, 16, 8),
    Tile(32, 64, 64, 8, 8),
    Tile(32, 32, 32, 8, 8),
    Tile(64, 64, 64, 16, 16),
    Tile(64, 64, 64, 8, 16),
    Tile(64, 64, 32, 16, 8),
    Tile(64, 32, 16, 8, 8),
    Tile(128, 64, 16, 16, 8),
    Tile(128, 32, 32, 8, 16),
    Tile(128, 32, 16, 8, 8),
    Tile(128, 16, 8, 4, 8),
    Tile(256, 16, 16, 4, 16),
    Tile(256, 16, 8, 4, 8),
)


def tiles(t: Tile, checks: bool, cheap: bool) -> tuple[str, str]:
    """(declarations, block). checks: every score has to pass `masked`. cheap: reads are short texts, and the next keys
    and values are read into registers before the current ones are used."""
    d4, m4 = t.dims // 4, t.bm // 4
    rows, keys, cols = range(t.bm // t.ty // 4), range(t.bn // t.tx), range(t.dims // t.tx // 4)
    lines = range(4 * len(rows))
    ks, vs = t.dims * m4, t.dims * m4 + t.shared
    turn = min(8, d4, t.tx) - 1  # neighbouring threads meet different banks
    twist = min(8, m4, t.tx) - 1
    passes = range(-(-t.bn * d4 // t.threads))
    row = [f"{r * t.ty}u + ty" for r in rows]

    out = [f"let tx = li % {t.tx}u;", f"let ty = li / {t.tx}u;", f"let first = tile * {t.bm}u;"]
    out += ["let scale = bitcast<f32>(P[2].x);", "let steps = (P[0].w + 3u) / 4u;"]
    out += ["let least = seen(first, at);", f"let most = seen(min(first + {t.bm - 1}u, P[0].x - 1u), at);"]
    out += ["let end = min(begin + P[1].w, most);"]
    out += [f"for (var b = li; b < {m4 * d4}u; b += {t.threads}u) {{"]
    out += [f"  let r = b / {d4}u;", f"  let d = b % {d4}u * 4u;"]
    out += [f"  let x{j} = q_four(first + r * 4u + {j}u, d, at) * scale;" for j in range(4)]
    out += [
        f"  mem[(d + {j}u) * {m4}u + r] = vec4f(x0.{c}, x1.{c}, x2.{c}, x3.{c});"
        for j, c in enumerate("xyzw")
    ]
    out += ["}"]
    out += [f"var o{i}_{c} = vec4f();" for i in lines for c in cols]
    for r in rows:
        out += [f"var m{r} = vec4f(FLOOR);", f"var l{r} = vec4f();", f"let r{r} = first + ({row[r]}) * 4u;"]
        out += [f"let n{r} = vec4u({', '.join(f'seen(r{r} + {j}u, at)' for j in range(4))});"]
        if checks:
            at = [f"mask_row(min(r{r} + {j}u, P[0].x - 1u), at)" for j in range(4)]
            out += [f"let w{r} = vec4u({', '.join(at)});"]
    keep_k = f"mem[{ks}u + Y * {d4}u + (X ^ (Y & {turn}u))] = "
    keep_v = f"mem[{vs}u + Y * {d4}u + X] = "
    loop = f"for (var e = li; e < {t.bn * d4}u; e += {t.threads}u) {{ let x = e % {d4}u; let y = e / {d4}u; "

    def numbered(text: str, p: int) -> str:
        return text.replace("X", f"x{p}").replace("Y", f"y{p}")

    def kept(text: str, name: str) -> list[str]:
        made = [f"{numbered(text, p)}{name}{p};" for p in passes]
        if t.bn * d4 % t.threads:
            made[-1] = f"if (y{passes[-1]} < {t.bn}u) {{ {made[-1]} }}"
        return made

    read_k, read_v = "k_four(K + Y, X * 4u, at);", "v_four(k0 + Y, X * 4u, at);"
    if cheap:
        for p in passes:
            out += [
                f"let x{p} = (li + {p * t.threads}u) % {d4}u;",
                f"let y{p} = (li + {p * t.threads}u) / {d4}u;",
            ]
        out += [f"var a{p} = {numbered(read_k, p).replace('K', 'begin')}" for p in passes]
    out += [f"for (var k0 = begin; k0 < end; k0 += {t.bn}u) {{"]
    if cheap:
        body = [*kept(keep_k, "a"), "workgroupBarrier();"]
        body += [f"let b{p} = {numbered(read_v, p)}" for p in passes]
    else:
        text = (keep_k + read_k).replace("K", "k0").replace("X", "x").replace("Y", "y")
        body = [f"{loop}{text} }}", "workgroupBarrier();"]
    body += [f"var s{r}_{j} = vec4f();" for r in rows for j in keys]
    body += ["for (var d = 0u; d < steps; d++) {", f"  let w = d ^ (tx & {turn}u);"]
    body += [f"  let k{j} = mem[{ks}u + ({j * t.tx}u + tx) * {d4}u + w];" for j in keys]
    for c, x in enumerate("xyzw"):
        body += [f"  let q{c}_{r} = mem[(d * 4u + {c}u) * {m4}u + {row[r]}];" for r in rows]
        body += [f"  s{r}_{j} += q{c}_{r} * k{j}.{x};" for r in rows for j in keys]
    body += ["}"]
    key = [f"k0 + {j * t.tx}u + tx" for j in keys]
    if checks:  # through arrays, so that they are compiled once
        cells = [(r, j) for r in rows for j in keys]
        body += [f"var s = array<vec4f, {len(cells)}>({', '.join(f's{r}_{j}' for r, j in cells)});"]
        body += [
            f"for (var e = 0u; e < {len(cells)}u; e++) {{",
            f"  let key = k0 + e % {len(keys)}u * {t.tx}u + tx;",
        ]
        row_of = "w0" if len(rows) == 1 else f"select(w0, w1, e >= {len(keys)}u)"
        body += [f"  s[e] = masked(s[e], {row_of}, vec4u(key));", "}"]
        body += [f"s{r}_{j} = s[{e}];" for e, (r, j) in enumerate(cells)]
    body += [f"if (k0 + {t.bn}u > least) {{"]
    body += [
        f"  s{r}_{j} = select(s{r}_{j}, vec4f(HIDDEN), vec4u({key[j]}) >= n{r});" for r in rows for j in keys
    ]
    body += ["}"]
    # The greatest of each row, over the threads that share it, through the memory of the values.
    for r in rows:
        top = f"s{r}_0"
        for j in keys[1:]:
            top = f"max({top}, s{r}_{j})"
        body += [f"var t{r} = max(m{r}, {top});", f"mem[{vs}u + tx * {m4}u + {row[r]}] = t{r};"]
    body += ["workgroupBarrier();", f"for (var x = 0u; x < {t.tx}u; x++) {{"]
    body += [f"  t{r} = max(t{r}, mem[{vs}u + x * {m4}u + {row[r]}]);" for r in rows]
    body += ["}"]
    for r in rows:
        body += [f"let g{r} = expo(m{r} - t{r});", f"m{r} = t{r};"]
        body += [f"let p{r}_{j} = expo(s{r}_{j} - t{r});" for j in keys]
        body += [f"l{r} = l{r} * g{r} + ({' + '.join(f'p{r}_{j}' for j in keys)});"]
        body += [
            f"mem[{ks}u + ({j * t.tx}u + tx) * {m4}u + (({row[r]}) ^ (tx & {twist}u))] = p{r}_{j};"
            for j in keys
        ]
    body += [f"o{i}_{c} *= g{i // 4}.{'xyzw'[i % 4]};" for i in lines for c in cols]
    body += ["workgroupBarrier();"]
    if cheap:
        body += [*kept(keep_v, "b"), "workgroupBarrier();", f"if (k0 + {t.bn}u < end) {{"]
        body += [f"  a{p} = {numbered(read_k, p).replace('K', f'k0 + {t.bn}u')}" for p in passes]
        body += ["}"]
    else:
        text = (keep_v + read_v).replace("X", "x").replace("Y", "y")
        body += [f"{loop}{text} }}", "workgroupBarrier();"]
    step = twist + 1
    body += [f"for (var x = 0u; x < {t.bn}u; x += {step}u) {{"]
    for j in range(step):
        body += ["  {"]
        body += [f"    let p{r} = mem[{ks}u + (x + {j}u) * {m4}u + (({row[r]}) ^ {j}u)];" for r in rows]
        body += [f"    let v{c} = mem[{vs}u + (x + {j}u) * {d4}u + {c * t.tx}u + tx];" for c in cols]
        body += [f"    o{i}_{c} += p{i // 4}.{'xyzw'[i % 4]} * v{c};" for i in lines for c in cols]
        body += ["  }"]
    body += ["}", "workgroupBarrier();"]
    out += ["  " + line for line in body] + ["}"]
    out += [f"mem[{vs}u + tx * {m4}u + {row[r]}] = l{r};" for r in rows]
    out += ["workgroupBarrier();"]
    for r in rows:
        out += [f"var h{r} = vec4f();"]
        out += [f"for (var x = 0u; x < {t.tx}u; x++) {{ h{r} += mem[{vs}u + x * {m4}u + {row[r]}]; }}"]
    for i in lines:
        r, x = i // 4, "xyzw"[i % 4]
        out += [
            f"leave(r{r} + {i % 4}u, ({c * t.tx}u + tx) * 4u, o{i}_{c}, m{r}.{x}, h{r}.{x}, chunk, at);"
            for c in cols
        ]
    return f"var<workgroup> mem: array<vec4f, {t.memory // 16}>;\n", _block(out)


def few(rows: int, threads: int, dims: int, checks: bool) -> tuple[str, str]:
    """(declarations, block): up to 8 rows a workgroup. A thread scores a key, then adds up values of a vec4 of
    dimensions; keys and values are read once and stay out of workgroup memory."""
    d4 = dims // 4
    fours, each = range(-(-rows // 4)), range(rows)
    weights, tops, share = rows * d4, rows * d4 + len(fours) * threads, threads // 16
    out = [f"let first = tile * {rows}u;", "let steps = (P[0].w + 3u) / 4u;"]
    out += [f"let end = min(begin + P[1].w, seen(min(first + {rows - 1}u, P[0].x - 1u), at));"]
    out += [f"for (var b = li; b < {rows * d4}u; b += {threads}u) {{"]
    out += [f"  mem[b] = q_four(first + b / {d4}u, b % {d4}u * 4u, at) * bitcast<f32>(P[2].x);", "}"]
    for f in fours:
        at = [f"first + {4 * f + j}u" for j in range(4)]
        out += [f"let n{f} = vec4u({', '.join(f'seen({r}, at)' for r in at)});"]
        if checks:
            out += [f"let w{f} = vec4u({', '.join(f'mask_row(min({r}, P[0].x - 1u), at)' for r in at)});"]
        out += [f"var m{f} = vec4f(FLOOR);", f"var l{f} = vec4f();"]
    out += [f"var o{i} = vec4f();" for i in each]
    out += [
        "workgroupBarrier();",
        f"for (var k0 = begin; k0 < end; k0 += {threads}u) {{",
        "  let key = k0 + li;",
    ]
    body = [f"var a{i} = vec4f();" for i in each]
    body += ["for (var d = 0u; d < steps; d++) {", "  let y = k_four(key, d * 4u, at);"]
    body += [*(f"  a{i} += mem[{i * d4}u + d] * y;" for i in each), "}"]
    for f in fours:
        four = [f"dot(a{4 * f + j}, vec4f(1.0f))" if 4 * f + j < rows else "0.0f" for j in range(4)]
        body += [f"var s{f} = vec4f({', '.join(four)});"]
        if checks:
            body += [f"s{f} = masked(s{f}, w{f}, vec4u(min(key, P[0].z - 1u)));"]
        body += [f"s{f} = select(s{f}, vec4f(HIDDEN), vec4u(key) >= n{f});"]
        body += [f"mem[{weights + f * threads}u + li] = s{f};"]
    body += [
        "workgroupBarrier();",
        *_joined("t", "max(t, {})", "vec4f(HIDDEN)", fours, weights, tops, threads),
    ]
    for f in fours:
        body += [
            f"let t{f} = max(m{f}, h{f});",
            f"let g{f} = expo(m{f} - t{f});",
            f"let p{f} = expo(s{f} - t{f});",
        ]
        body += [
            f"m{f} = t{f};",
            f"l{f} = l{f} * g{f} + p{f};",
            f"mem[{weights + f * threads}u + li] = p{f};",
        ]
    body += [f"o{i} *= g{i // 4}.{'xyzw'[i % 4]};" for i in each]
    body += ["workgroupBarrier();"]
    body += [f"for (var x = li / {d4}u; x < min({threads}u, end - k0); x += {threads // d4}u) {{"]
    body += [f"  let y = v_four(k0 + x, li % {d4}u * 4u, at);"]
    body += [f"  let q{f} = mem[{weights + f * threads}u + x];" for f in fours]
    body += [*(f"  o{i} += q{i // 4}.{'xyzw'[i % 4]} * y;" for i in each), "}", "workgroupBarrier();"]
    out += ["  " + line for line in body] + ["}"]
    out += [f"mem[{weights + f * threads}u + li] = l{f};" for f in fours]
    out += ["workgroupBarrier();", *_joined("t", "t + {}", "vec4f()", fours, weights, tops, threads)]
    for i in each:
        out += ["workgroupBarrier();", f"mem[{weights}u + li] = o{i};", "workgroupBarrier();"]
        out += [f"if (li < {d4}u) {{", f"  for (var x = {d4}u; x < {threads}u; x += {d4}u) {{"]
        x = "xyzw"[i % 4]
        out += [f"    o{i} += mem[{weights}u + x + li];", "  }"]
        out += [f"  leave(first + {i}u, li * 4u, o{i}, m{i // 4}.{x}, h{i // 4}.{x}, chunk, at);", "}"]
    return f"var<workgroup> mem: array<vec4f, {tops + len(fours) * share}>;\n", _block(out)


def _joined(name: str, join: str, start: str, fours: range, held: int, tops: int, threads: int) -> list[str]:
    """h0, h1: what the threads hold of each four of rows, joined in two steps; behind it the memory may be written."""
    share = threads // 16
    out = [f"if (li < {len(fours) * share}u) {{", f"  var {name} = {start};"]
    out += [f"  for (var x = 0u; x < 16u; x++) {{ {name} = {join.format(f'mem[{held}u + li * 16u + x]')}; }}"]
    out += [f"  mem[{tops}u + li] = {name};", "}", "workgroupBarrier();"]
    for f in fours:
        out += [f"var h{f} = {start};", f"for (var x = 0u; x < {share}u; x++) {{"]
        out += [f"  h{f} = {join.replace(name, f'h{f}').format(f'mem[{tops + f * share}u + x]')};", "}"]
    return out


def serial(rows: int, fours: int, checks: bool, cheap: bool) -> str:
    """The block of a form without workgroup memory, for CPU adapters. A thread takes rows and 16 keys at a time, so
    that it multiplies more often than it reads, and goes through the keys once for each 4 * fours dimensions of
    values. cheap: reads are short texts, to be written out."""
    each, quads = range(rows), range(4)
    out = [f"let first = (tile * NT + li) * {rows}u;", "let scale = bitcast<f32>(P[2].x);"]
    out += [f"let end = min(begin + P[1].w, seen(min(first + {rows - 1}u, P[0].x - 1u), at));"]
    for i in each:
        out += [f"let r{i} = min(first + {i}u, P[0].x - 1u);", f"let x{i} = r{i} / P[0].y;"]
        out += [f"let q{i} = at.q + x{i} * P[12].x + (r{i} - x{i} * P[0].y) * P[12].y;"]
    # An array a row: compilers that make choices of dynamic indices take as long as arrays are large.
    out += [*(f"var o{i}: array<vec4f, {fours}>;" for i in each), f"var s: array<vec4f, {4 * rows}>;"]
    out += [f"var m: array<f32, {rows}>;", f"var l: array<f32, {rows}>;", f"var g: array<f32, {rows}>;"]
    out += [f"for (var e = 0u; e < P[1].x; e += {4 * fours}u) {{"]
    out += [f"  let part = min({fours}u, (P[1].x - e + 3u) / 4u);"]
    out += [f"  for (var i = 0u; i < {rows}u; i++) {{ m[i] = FLOOR; l[i] = 0.0f; }}"]
    out += [f"  for (var c = 0u; c < part; c++) {{ {' '.join(f'o{i}[c] = vec4f();' for i in each)} }}"]
    out += ["  for (var key = begin; key < end; key += 16u) {"]
    body = []
    for j in quads:
        body += [f"let keys{j} = min(vec4u(key + {4 * j}u) + vec4u(0u, 1u, 2u, 3u), vec4u(at.n - 1u));"]
        body += [
            f"let k{j} = vec4u(at.k) + keys{j} * P[13].y;",
            f"let v{j} = vec4u(at.v) + keys{j} * P[13].w;",
        ]
    body += [f"var a{i}_{j} = vec4f();" for i in each for j in quads]
    body += [
        "for (var d = 0u; d < P[0].w; d += 4u) {",
        "  let left = P[0].w - d;",
        "  let step = d * P[13].z;",
    ]
    body += _reads("y", [f"q{i} + d * P[12].z" for i in each], "q_quad({}, P[12].z, left)", cheap)
    body += _reads(
        "b", [f"k{j}.{x} + step" for j in quads for x in "xyzw"], "k_quad({}, P[13].z, left)", cheap
    )
    for j in quads:
        for c in "xyzw":
            body += [f"  let c{j}{c} = vec4f({', '.join(f'b{4 * j + x}.{c}' for x in range(4))});"]
        for c in "xyzw":
            body += [f"  a{i}_{j} += y{i}.{c} * c{j}{c};" for i in each]
    body += ["}"]
    body += [f"s[{4 * i + j}] = a{i}_{j} * scale;" for i in each for j in quads]
    body += [
        f"for (var i = 0u; i < {rows}u; i++) {{",
        "  let row = min(first + i, P[0].x - 1u);",
        "  let n = seen(row, at);",
    ]
    for j in quads:
        score = f"s[4u * i + {j}u]"
        if checks:
            score = f"masked({score}, vec4u(mask_row(row, at)), keys{j})"
        hidden = f"vec4u(key + {4 * j}u) + vec4u(0u, 1u, 2u, 3u) >= vec4u(n)"
        body += [f"  let s{j} = select({score}, vec4f(HIDDEN), {hidden});"]
    body += ["  let most = max(max(s0, s1), max(s2, s3));"]
    body += ["  let top = max(max(m[i], most.x), max(max(most.y, most.z), most.w));"]
    body += ["  var total = vec4f();", "  var p: vec4f;"]
    body += [f"  p = expo(s{j} - top); total += p; s[4u * i + {j}u] = p;" for j in quads]
    body += [
        "  g[i] = expo(vec4f(m[i] - top)).x;",
        "  l[i] = l[i] * g[i] + dot(total, vec4f(1.0f));",
        "  m[i] = top;",
        "}",
    ]
    body += [f"let g{i} = g[{i}];" for i in each]
    body += [f"let p{i}_{j} = s[{4 * i + j}];" for i in each for j in quads]
    body += ["for (var c = 0u; c < part; c++) {", "  let d = e + 4u * c;", "  let left = P[1].x - d;"]
    body += ["  let step = d * P[14].x;"]
    body += [f"  var t{i} = vec4f();" for i in each]
    body += _reads(
        "w", [f"v{j}.{x} + step" for j in quads for x in "xyzw"], "v_quad({}, P[14].x, left)", cheap
    )
    body += [
        f"  t{i} += p{i}_{j}.{x} * w{4 * j + k};" for j in quads for k, x in enumerate("xyzw") for i in each
    ]
    body += [*(f"  o{i}[c] = o{i}[c] * g{i} + t{i};" for i in each), "}"]
    out += ["    " + line for line in body] + ["  }"]
    out += ["  for (var c = 0u; c < part; c++) {"]
    out += [f"    leave(first + {i}u, e + 4u * c, o{i}[c], m[{i}], l[{i}], chunk, at);" for i in each]
    out += ["  }"]
    return _block([*out, "}"])


def _reads(name: str, places: list[str], read: str, cheap: bool) -> list[str]:
    """NAME0, NAME1, ..: quads from places; not cheap: in a loop, so that what decodes them is compiled once."""
    if cheap:
        return [f"  let {name}{k} = {read.format(place)};" for k, place in enumerate(places)]
    n = len(places)
    out = [f"  var {name}_at = array<u32, {n}>({', '.join(places)});", f"  var {name}_of: array<vec4f, {n}>;"]
    out += [f"  for (var x = 0u; x < {n}u; x++) {{ {name}_of[x] = {read.format(f'{name}_at[x]')}; }}"]
    return out + [f"  let {name}{k} = {name}_of[{k}];" for k in range(n)]


# Joins what chunks left of a row: word 6 is 1 here, word 7 their number.
MERGE = """  let x = tile * NT + li;
  let r = x / P[4].w;
  let d = x % P[4].w;
  if (r >= P[0].x) {
    return;
  }
  let step = P[3].x * P[0].x * (P[4].w + 1u);
  let from_ = (at.z * P[0].x + r) * (P[4].w + 1u);
  var m = FLOOR;
  for (var c = 0u; c < P[1].w; c++) {
    m = max(m, parts[from_ + c * step + P[4].w].x);
  }
  var o = vec4f();
  var l = 0.0f;
  for (var c = 0u; c < P[1].w; c++) {
    let y = parts[from_ + c * step + P[4].w];
    let w = expo(vec4f(y.x - m)).x;
    o += w * parts[from_ + c * step + d];
    l += w * y.y;
  }
  leave(r, d * 4u, o, m, l, 0u, at);
"""


def _block(lines: list[str]) -> str:
    return "\n".join("  " + line for line in lines) + "\n"
