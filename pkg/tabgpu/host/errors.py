"""The host command's failures, each with its own exit status; the in-tab exceptions live in tabgpu.errors."""

from __future__ import annotations


class HostError(Exception):
    """A failure of the host command itself; `status` is the exit status of the process."""

    status = 1


class NoBrowserError(HostError):
    status = 120


class NoAdapterError(HostError):
    status = 121


class PageCrashError(HostError):
    status = 122


class GpuUnusedError(HostError):
    status = 123


class TabTimeoutError(HostError):
    status = 124
