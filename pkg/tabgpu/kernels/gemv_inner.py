"""The unrolled form of gemv.wgsl's marked block: a variable per sum; not which variants are used."""

ROOM = 16384  # bytes of workgroup memory for the sums


def gemv_inner(nt: int, lanes: int, outs: int, vecs: int, along_k: bool, ahead: int) -> str:
    """WGSL for the marked block. `ahead` fours of k are read before any is multiplied."""
    head: list[str] = []
    if along_k:
        sums = [f"s{o}_{v}" for o in range(outs) for v in range(vecs)]
        head += [f"let r{o} = m0 + min(o + {o}u, outputs - 1u) * mo;" for o in range(outs)]
    else:
        sums = [f"s{v}" for v in range(vecs)]
        # Whole vec4s end at a multiple of 4; scalars may stand in for outputs that are not there.
        head += ["let r0 = m0 + select(o, min(o, outputs - 4u), M_VEC) * mo;"]
    head += [f"let q{v} = x0 + min({v}u, last) * xv;" for v in range(vecs)]
    head += [f"var {s} = vec4<T>();" for s in sums]

    def read(u: int, at: str) -> list[str]:
        text = [f"let k{u} = {at};"]
        if along_k:
            text += [f"let m{u}_{o} = m_four(r{o} + k{u} * mk, mk, end - k{u});" for o in range(outs)]
        else:
            for j in range(4):
                text.append(
                    f"let m{u}_{j} = select(vec4<T>(), m_four(r0 + (k{u} + {j}u) * mk, mo, 4u), k{u} + {j}u < end);"
                )
        return text + [f"let x{u}_{v} = x_four(q{v} + k{u} * xk, xk, end - k{u});" for v in range(vecs)]

    def multiply(u: int) -> list[str]:
        if along_k:
            return [f"s{o}_{v} += m{u}_{o} * x{u}_{v};" for o in range(outs) for v in range(vecs)]
        return [f"s{v} += m{u}_{j} * x{u}_{v}.{'xyzw'[j]};" for j in range(4) for v in range(vecs)]

    step = 4 * lanes
    out = [*head, "var k = begin + 4u * lane;"]
    if ahead > 1:
        out += [f"for (; k + {step * (ahead - 1)}u < end; k += {step * ahead}u) {{"]
        for u in range(ahead):
            out += ["  " + line for line in read(u, f"k + {u * step}u")]
        for u in range(ahead):
            out += ["  " + line for line in multiply(u)]
        out += ["}"]
    out += [f"for (; k < end; k += {step}u) {{"]
    out += ["  " + line for line in read(0, "k") + multiply(0)]
    out += ["}"]
    if along_k:
        out += [f"let t{k} = ({s}.x + {s}.y) + ({s}.z + {s}.w);" for k, s in enumerate(sums)]
    else:
        out += [f"let t{k} = {s};" for k, s in enumerate(sums)]
    if lanes > 1:
        out = _added(out, len(sums), nt, lanes, along_k)
    final = [f"t{k}" if lanes == 1 else f"u{k}" for k in range(len(sums))]
    if along_k:
        stores = [f"put({final[o * vecs + v]}, z, {v}u, o + {o}u);" for o in range(outs) for v in range(vecs)]
    else:
        stores = [f"put4({final[v]}, z, {v}u, o);" for v in range(vecs)]
    if lanes > 1:
        stores = ["if (lane == 0u) {", *("  " + s for s in stores), "}"]
    return "\n".join("  " + line for line in out + stores) + "\n"


def declarations(nt: int, lanes: int, outs: int, vecs: int, along_k: bool) -> str:
    """The workgroup memory that the block needs."""
    if lanes == 1:
        return ""
    n = min(outs * vecs if along_k else vecs, _room(nt, along_k))
    return f"var<workgroup> part: array<array<{'T' if along_k else 'vec4<T>'}, {nt}>, {n}>;\n"


def _room(nt: int, along_k: bool) -> int:
    return max(1, ROOM // (nt * (4 if along_k else 16)))


def _added(out: list[str], n: int, nt: int, lanes: int, along_k: bool) -> list[str]:
    """The sums of all lanes in u0, u1, ..; as many at a time as workgroup memory holds."""
    apart = 1 if along_k else nt // lanes
    room = min(n, _room(nt, along_k))
    kind = "T" if along_k else "vec4<T>"
    out += [f"var u{k} = {kind}();" for k in range(n)]
    for first in range(0, n, room):
        some = range(first, min(first + room, n))
        if first:
            out += ["workgroupBarrier();"]
        out += [f"part[{k - first}][li] = t{k};" for k in some]
        half = lanes // 2
        while half:
            out += ["workgroupBarrier();", f"if (lane < {half}u) {{"]
            out += [f"  part[{k - first}][li] += part[{k - first}][li + {half * apart}u];" for k in some] + [
                "}"
            ]
            half //= 2
        out += ["if (lane == 0u) {", *(f"  u{k} = part[{k - first}][li];" for k in some), "}"]
    return out
