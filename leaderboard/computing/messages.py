"""How a process and its child exchange messages: pickled, each after its length, over a pipe.

A pickle can call any function by its name. A child reads what strangers uploaded, with libraries that may have holes,
so that its parent does not trust it: of a reply it builds plain values, arrays, and our own records and exceptions.
"""

import enum
import importlib
import io
import pickle
import struct
from dataclasses import dataclass, is_dataclass
from typing import Any

HEADER = struct.Struct("!Q")
OURS = ("ranking_engine", "leaderboard")
PLAIN = {
    "builtins": {"bytearray", "complex", "frozenset", "range", "set", "slice"},
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "numpy": {"dtype", "ndarray"},
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "numpy.linalg": {"LinAlgError"},
}
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


def is_plain(module: str, name: str) -> bool:
    """Whether what has this name only holds values: building it calls nothing that acts."""
    if name in PLAIN.get(module, ()):
        return True
    if module != "builtins" and module.partition(".")[0] not in OURS:
        return False
    kind: object = importlib.import_module(module)
    for part in name.split("."):
        kind = getattr(kind, part, None)
    if not isinstance(kind, type) or kind.__module__ != module:
        return False
    return issubclass(kind, Exception) or (
        module != "builtins" and (is_dataclass(kind) or issubclass(kind, (enum.Enum, tuple)))
    )


def plain_error(error: Exception) -> Exception:
    """The exception, or one of the nearest plain class that it is derived from, with its text."""
    nearest = next(kind for kind in type(error).__mro__ if is_plain(kind.__module__, kind.__qualname__))
    if nearest is type(error):
        return error
    return RuntimeError(f"{type(error).__name__}: {error}") if nearest is Exception else nearest(str(error))


class PlainUnpickler(pickle.Unpickler):
    """Refuses a pickle that names anything else than what `is_plain` allows."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 -- as its base
        """What has this name.

        Raises:
            UnpicklingError: it is no plain value.
        """
        if not is_plain(module, name):
            raise pickle.UnpicklingError(f"a child's reply names {module}.{name}, which is no plain value")
        return super().find_class(module, name)


def first_message(received: bytearray, *, is_reply: bool = False) -> tuple[Any, bool]:
    """Take the first message out of what was received; and whether there was a whole one.

    Args:
        received: what was read so far.
        is_reply: a child wrote it.

    Raises:
        UnpicklingError: a reply names something that is no plain value.
    """
    if len(received) < HEADER.size:
        return None, False
    end = HEADER.size + HEADER.unpack_from(received)[0]
    if len(received) < end:
        return None, False
    data = memoryview(received)[HEADER.size : end].tobytes()
    del received[:end]
    if is_reply:
        return PlainUnpickler(io.BytesIO(data)).load(), True
    return pickle.loads(data), True  # noqa: S301 -- a parent wrote it
