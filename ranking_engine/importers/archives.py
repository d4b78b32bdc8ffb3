"""Zip archives, gzip files and logs of inspect_ai, unpacked in memory within bounds that are checked before the work.

Nothing is written: a path in an archive is a name that messages show.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO

from ranking_engine.files.extras import extra
from ranking_engine.files.workbooks import has_few_entries

MAX_RATIO = 200  # bytes unpacked for one packed; tables and JSON are seldom packed to less than a fiftieth
FREE_BYTES = 2**20  # that may be unpacked whatever the ratio
MAX_ENTRIES = 5_000
GZIP, ZIP = b"\x1f\x8b", (b"PK\x03\x04", b"PK\x05\x06")
OTHERS = (b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd")
LOG_HEADERS = ("header.json", "_journal/start.json")  # of a log of inspect_ai; the second while the run goes on
_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_ENCRYPTED = 1
_LOCAL_HEADER = struct.Struct("<26x2H")  # of which the lengths of the name and of what is behind it are needed
_WINDOW = 2**27  # bytes that Zstandard may look back


class ArchiveError(ValueError):
    """An archive that is not read; the message says why."""


def is_archive(data: bytes) -> bool:
    """Whether bytes are an archive or packed, of whatever kind."""
    return data.startswith((GZIP, *ZIP, *OTHERS)) or data[257:262] == b"ustar"


def unpacked(name: str, data: bytes, max_files: int, max_bytes: int) -> list[tuple[str, bytes]]:
    """Return the files in an archive, with the path of each in it.

    Args:
        name: of the archive.
        data: its bytes.
        max_files, max_bytes: how many files it may have, and how many bytes together.

    Raises:
        ArchiveError: it is damaged, encrypted, of a kind that is not read, or too large when it is unpacked.
    """
    if data.startswith(GZIP):
        most = min(max_bytes, max(FREE_BYTES, MAX_RATIO * len(data)))
        unpacker = zlib.decompressobj(wbits=31)
        try:
            content = unpacker.decompress(data, most + 1)
        except zlib.error as error:
            raise ArchiveError("the .gz file is damaged") from error
        if len(content) > most or unpacker.unconsumed_tail:
            _check_size(len(content) if len(content) > max_bytes else MAX_RATIO * len(data) + 1, len(data), max_bytes)
        if not unpacker.eof:
            raise ArchiveError("the .gz file is cut off")
        return [(name.removesuffix(".gz"), content)]
    if not data.startswith(ZIP):
        raise ArchiveError("of archives, only .zip and .gz are read; unpack it and choose its files")
    archive, entries = _opened(data)
    files = [entry for entry in entries if not entry.is_dir() and not is_hidden(entry.filename)]
    if len(files) > max_files:
        raise ArchiveError(f"{len(files):,} files in the archive; the limit is {max_files:,}")
    _check_size(sum(entry.file_size for entry in files), len(data), max_bytes)
    return [(f"{name}/{entry.filename}", _content(archive, data, entry)) for entry in files]


def log_header(data: bytes, max_bytes: int) -> bytes | None:
    """Return the header of a log of inspect_ai, which is a zip archive; None where it is no such log.

    Raises:
        ArchiveError: it is damaged or too large.
        ImportError: it is packed by Zstandard, and what unpacks that is not installed.
    """
    if not data.startswith(ZIP):
        return None
    archive, entries = _opened(data)
    by_name = {entry.filename: entry for entry in entries}
    header = next((by_name[name] for name in LOG_HEADERS if name in by_name), None)
    if header is None:
        return None
    _check_size(header.file_size, header.compress_size, max_bytes)
    return _content(archive, data, header)


def _opened(data: bytes) -> tuple[zipfile.ZipFile, Sequence[zipfile.ZipInfo]]:
    if not has_few_entries(data, MAX_ENTRIES):
        raise ArchiveError(f"more than {MAX_ENTRIES:,} entries in the archive")
    try:
        archive = zipfile.ZipFile(BytesIO(data))
        entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, struct.error, UnicodeError) as error:
        raise ArchiveError("the archive is damaged") from error
    if len(entries) > MAX_ENTRIES:
        raise ArchiveError(f"more than {MAX_ENTRIES:,} entries in the archive")
    return archive, entries


def _check_size(size: int, packed: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise ArchiveError(f"it unpacks to more than {max_bytes // 2**20} MB")
    if size > FREE_BYTES and size > MAX_RATIO * packed:
        raise ArchiveError(f"it unpacks to more than {MAX_RATIO} times its size")


def _content(archive: zipfile.ZipFile, data: bytes, entry: zipfile.ZipInfo) -> bytes:
    name = entry.filename[-60:]
    if entry.flag_bits & _ENCRYPTED:
        raise ArchiveError(f"{name!r} in the archive is encrypted")
    if entry.compress_type not in (_STORED, _DEFLATED, _ZSTANDARD):
        raise ArchiveError(f"{name!r} in the archive is packed in a way that is not read; use plain .zip")
    try:
        if entry.compress_type == _ZSTANDARD:  # which zipfile knows from Python 3.14 on
            content = _unzstandard(data, entry)
        else:
            with archive.open(entry) as file:
                content = file.read(entry.file_size + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise ArchiveError(f"{name!r} in the archive is damaged") from error
    if len(content) != entry.file_size:
        raise ArchiveError(f"{name!r} in the archive has another size than stated")
    return content


def _unzstandard(data: bytes, entry: zipfile.ZipInfo) -> bytes:
    """Unpack Zstandard, at most a byte more than the entry states; a ValueError says what is wrong."""
    header = data[entry.header_offset : entry.header_offset + _LOCAL_HEADER.size]
    if len(header) < _LOCAL_HEADER.size:
        raise ValueError("the header is cut off")
    start = entry.header_offset + _LOCAL_HEADER.size + sum(_LOCAL_HEADER.unpack(header))  # behind a name and extras
    raw = data[start : start + entry.compress_size]
    zstandard = extra("zstandard", "files")
    read: Callable[[int], bytes] = zstandard.ZstdDecompressor(max_window_size=_WINDOW).stream_reader(raw).read
    try:
        return read(entry.file_size + 1)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def is_hidden(path: str) -> bool:
    """Whether a file is one that programs put beside others, such as `.DS_Store`."""
    parts = path.replace("\\", "/").split("/")
    return parts[0] == "__MACOSX" or any(part.startswith(".") and part not in (".", "..") for part in parts)
