"""Kernels of orthogonal factorisations that the package can make: trees of reflectors, columns, rotations."""

from __future__ import annotations

from collections.abc import Iterator

from tabgpu.routines import beside_eye, jacobi, qr, qr_columns

QR_FORMS = {
    "f": (qr.Form(256, 32, 256), qr.Form(128, 32, 256), qr.Form(128, 32, 128), qr.Form(64, 16, 16)),
    "c": (qr.Form(128, 32, 256), qr.Form(64, 16, 128), qr.Form(64, 16, 16)),
}


def orthogonal() -> Iterator[tuple[str, str, str]]:
    """(label, WGSL, access)."""
    for kind, forms in QR_FORMS.items():
        yield f"beside_eye {kind}", *beside_eye.start_text(("beside_eye", kind, 256))
        for form in forms:
            yield f"qr_panel {kind} {form}", *qr.panel_text(("qr_panel", kind, form))
            for back in (False, True):
                yield f"qr_apply {kind} {form} {back}", *qr.apply_text(("qr_apply", kind, form, back))
        for threads in (256, 16):
            yield f"qr_columns {kind} {threads}", *qr_columns.columns_text(("qr_columns", kind, threads))
        for most in (16, 32, 64) if kind == "f" else (16, 32):
            for threads in (256, 64, 16):
                if most == 64 and threads == 16:
                    continue
                for name in ("jacobi_gram", "jacobi_solve", "jacobi_rotate"):
                    yield (
                        f"{name} {kind} {most} {threads}",
                        *jacobi.jacobi_text((name, kind, most, threads, False)),
                    )
                if most < 64:
                    key = ("jacobi_solve", kind, most, threads, True)
                    yield f"jacobi_whole {kind} {most} {threads}", *jacobi.jacobi_text(key)
        yield f"jacobi_solve {kind} 128", *jacobi.jacobi_text(("jacobi_solve", kind, 32, 128, True))
        yield f"jacobi_solve {kind} few", *jacobi.jacobi_text(("jacobi_solve", kind, most, 16, False))
    yield "jacobi_judge", *jacobi.judge_text(("jacobi_judge", 64))
