"""How a process and its child exchange messages: pickled, each after its length, over a pipe.

Both ends are ours and run the same checkout; nothing that a reader sent is ever unpickled.
"""

import pickle
import struct
from dataclasses import dataclass
from typing import Any

HEADER = struct.Struct("!Q")
PART, RESULT, ERROR = "part", "result", "error"


@dataclass(frozen=True)
class Reply:
    """What a child says.

    Attributes:
        kind: PART of an answer with more to come, the RESULT, or the ERROR that was raised in its place.
        content: the value, or the exception.
        cpu_seconds: the processor time that the child has used since it started.
        peak_bytes: the most memory that it has had at once.
    """

    kind: str
    content: Any
    cpu_seconds: float
    peak_bytes: int


def packed(content: object) -> bytes:
    """The message for `content`: 8 bytes of length, then the pickle."""
    data = pickle.dumps(content, protocol=5)
    return HEADER.pack(len(data)) + data


def first_message(received: bytearray) -> tuple[Any, bool]:
    """Take the first message out of what was received; and whether there was a whole one."""
    if len(received) < HEADER.size:
        return None, False
    end = HEADER.size + HEADER.unpack_from(received)[0]
    if len(received) < end:
        return None, False
    content = pickle.loads(memoryview(received)[HEADER.size : end].tobytes())  # noqa: S301 -- our own process wrote it
    del received[:end]
    return content, True
