"""The worker's script: offers `mean` to the page."""

from mean import mean  # noqa: F401  # exported by name

__export__ = ["mean"]
