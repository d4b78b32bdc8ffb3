"""The memory limit of the container or systemd unit of this process."""

from pathlib import Path

REST = 128 * 2**20  # what a worker needs beside the job: its main process, and a health check now and then


def memory_limit(group: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """The least limit of this process's control group and of those around it, in bytes; None where there is none.

    Control groups of version 2 alone are read, as Docker and systemd make them today.
    """
    try:
        lines = group.read_text().splitlines()
    except OSError:
        return None
    path = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), None)
    if path is None:
        return None
    folder, limits = root / path, []
    for place in (folder, *folder.parents):
        if place != root and root not in place.parents:
            break
        try:
            text = (place / "memory.max").read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            limits.append(int(text))
    return min(limits, default=None)


def job_memory(wanted: int, limit: int | None) -> int:
    """What one job may take, in bytes: what is wanted, or what the limit leaves of it, so that a job that asks for too
    much fails alone, and is not killed together with its worker."""
    return wanted if limit is None else min(wanted, max(limit - REST, limit // 2))
