"""Which engine version came first. During an upgrade, processes of both versions run side by side."""

import re

from ranking_engine import __version__ as engine_version


def is_older(version: str) -> bool:
    """Whether `version` came before this process's own engine version, as `0.9.1` came before `0.10`."""
    return _order(version) < _order(engine_version)


def _order(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"[0-9]+", version)]
