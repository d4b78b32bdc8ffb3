"""What a web server tells of itself and of its machine: requests, cache, memory, disk. None of it asks the database."""

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector

from config.monitoring import meters
from config.processes import web_server


def families() -> Iterator[Metric]:
    """The numbers for Prometheus."""
    name = os.environ.get(meters.FOLDER_VARIABLE)
    folder = Path(name) if name else None  # where the processes of this server count together
    if folder is None:
        yield from meters.REGISTRY.collect()
    else:
        collector: Any = MultiProcessCollector  # it has no types
        with web_server.reading(folder):
            counted = list(collector(CollectorRegistry(), str(folder)).collect())
        yield from counted
    description = (
        "Resident memory of this web server's processes, without the children that compute on demand: all, largest."
    )
    memory = GaugeMetricFamily("plurank_web_memory_bytes", description, labels=["of"])
    pids = [os.getpid()] if folder is None else web_server.pids(folder)
    taken = []
    for pid in pids:
        with suppress(OSError, IndexError, ValueError):  # the platform does not say, or the process has ended
            taken.append(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
    memory.add_metric(["all"], sum(taken))
    memory.add_metric(["largest"], max(taken, default=0))
    yield memory
    disk = shutil.disk_usage(settings.VAR)
    yield GaugeMetricFamily("plurank_disk_free_bytes", "Free space on the disk of PLURANK_VAR.", disk.free)
    yield GaugeMetricFamily("plurank_disk_size_bytes", "The size of the disk of PLURANK_VAR.", disk.total)
