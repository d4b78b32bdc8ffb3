"""A loader of YAML with few words: texts, numbers, truths, nothing, lists and mappings.

YAML 1.1 knows more: dates, numbers to the base of 60, 8 and 2, mappings merged into others, bytes. Files of results
need none of that: dates are read as texts, and the rest is refused or a text, too. Numbers to the base of 60 are the
worst: reading `1:1:1:...` takes time that grows with the square of its length.
"""

import math
import re
from collections.abc import Callable
from typing import Any, ClassVar

import yaml

from ranking_engine.files.json_bounds import MAX_DEPTH
from ranking_engine.files.problems import InputError
from ranking_engine.importers.records import showable

MAX_VALUES = 100_000  # of one file; reading one takes ten times as long as in JSON
MAX_DIGITS = 400  # characters of a number: the longest float has some 310 before its point
TAG = "tag:yaml.org,2002:"
WORDS = {
    "null": ("", "~", "null", "Null", "NULL"),
    "bool": tuple(
        spelling
        for word in ("true", "false", "yes", "no", "on", "off")
        for spelling in (word, word.capitalize(), word.upper())
    ),
}
TRUE = frozenset({"true", "yes", "on"})
NUMBERS = {
    "int": re.compile(r"[+-]?[0-9]+\Z", re.ASCII),
    "float": re.compile(
        r"[+-]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?\Z"
        r"|[+-]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z",
        re.ASCII,
    ),
}
_CLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class PlainLoader(_CLoader):
    """Reads YAML; a key that appears twice and a tag that is none of these kinds are errors."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}
    yaml_constructors: ClassVar[dict[str | None, Any]] = {}


def _error(message: str, node: yaml.Node) -> yaml.constructor.ConstructorError:
    return yaml.constructor.ConstructorError(None, None, message, node.start_mark)


def _mapping(loader: Any, node: yaml.Node) -> dict[str, Any]:  # noqa: ANN401
    if not isinstance(node, yaml.MappingNode):
        raise _error("this is not a mapping", node)
    entries: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _error("a key is not text", key)
        if key.value in entries:
            raise _error(f"the key {key.value[:60]!r} appears twice", key)
        entries[key.value] = loader.construct_object(value, deep=True)
    return entries


def _list(loader: Any, node: yaml.Node) -> list[Any]:  # noqa: ANN401
    if not isinstance(node, yaml.SequenceNode):
        raise _error("this is not a list", node)
    return [loader.construct_object(value, deep=True) for value in node.value]


def _text(loader: Any, node: yaml.Node) -> str:  # noqa: ANN401
    return str(loader.construct_scalar(node))


def _nothing(loader: Any, node: yaml.Node) -> None:  # noqa: ANN401
    loader.construct_scalar(node)


def _truth(loader: Any, node: yaml.Node) -> bool:  # noqa: ANN401
    return _text(loader, node).lower() in TRUE


def _number(loader: Any, node: yaml.Node) -> int | float:  # noqa: ANN401
    text, kind = _text(loader, node), node.tag.removeprefix(TAG)
    if len(text) > MAX_DIGITS:
        raise _error("the number is too long", node)
    if not NUMBERS[kind].match(text):
        raise _error(f"{text[:60]!r} is not a number", node)
    if kind == "int":
        return int(text)
    if text[-1].isalpha():
        return math.nan if "nan" in text.lower() else -math.inf if text.startswith("-") else math.inf
    value = float(text)
    if math.isinf(value):
        raise _error("the number is too large", node)
    return value


for _kind, _words in WORDS.items():
    _spelling = re.compile(rf"(?:{'|'.join(map(re.escape, _words))})\Z")
    PlainLoader.add_implicit_resolver(f"{TAG}{_kind}", _spelling, sorted({word[:1] for word in _words}))
for _kind, _pattern in NUMBERS.items():
    PlainLoader.add_implicit_resolver(f"{TAG}{_kind}", _pattern, list("+-.0123456789"))
for _kind, _construct in {
    "null": _nothing, "bool": _truth, "int": _number, "float": _number, "str": _text, "timestamp": _text,
    "seq": _list, "map": _mapping,
}.items():  # fmt: skip
    PlainLoader.add_constructor(f"{TAG}{_kind}", _construct)
PlainLoader.add_constructor(None, yaml.constructor.SafeConstructor.construct_undefined)


def read_plain(text: str, refused: Callable[..., InputError]) -> Any:  # noqa: ANN401
    """What YAML holds, without aliases, and bounded in depth and size before anything is made of it.

    Args:
        text: of the file.
        refused: makes the error that says what is wrong, `refused(message, place)`.

    Raises:
        InputError: it is broken, or too deep or large.
    """
    try:
        depth = 0
        for number, event in enumerate(yaml.parse(text, Loader=PlainLoader)):
            place = f"line {event.start_mark.line + 1}" if event.start_mark else ""
            if isinstance(event, yaml.AliasEvent):
                raise refused("aliases are not supported; write the value itself", place)
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH:
                raise refused(f"nested deeper than {MAX_DEPTH} levels", place)
            if number > MAX_VALUES:
                raise refused(f"more than {MAX_VALUES:,} values", place)
        return yaml.load(text, Loader=PlainLoader)  # noqa: S506 -- a safe loader with fewer powers
    except InputError:
        raise
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise refused(f"not valid YAML: {showable(error.problem or '')}", f"line {line}") from error
    except (
        yaml.YAMLError,
        RecursionError,
        ValueError,
        TypeError,
        AttributeError,
        KeyError,
        OverflowError,
    ) as error:
        # Broken dates, numbers and tags come out of the constructors as errors of many kinds.
        raise refused(f"not readable as YAML: {showable(str(error))}") from error
