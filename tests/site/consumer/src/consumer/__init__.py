"""What a user of tabgpu might publish: one function on the GPU."""

import tabgpu as tg


def rms(values: object) -> tg.Array:
    """The root of the mean square, lazily."""
    x = tg.asarray(values)
    return tg.sqrt(tg.mean(x * x))


def label(count: int) -> str:
    """A number for people; its package comes from PyPI, not from Pyodide."""
    import humanize

    return humanize.intcomma(count)
