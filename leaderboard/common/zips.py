"""Zips whose bytes are the same whenever their contents are."""

import io
import zipfile
from collections.abc import Mapping


def zip_entry(name: str) -> zipfile.ZipInfo:
    """An entry of this name, to be compressed. Its time is the oldest that a zip can state, not that of packing."""
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def zip_of(folder: str, files: Mapping[str, bytes]) -> bytes:
    """A zip of one folder with these files, by their names."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(zip_entry(f"{folder}/{name}"), content)
    return packed.getvalue()
