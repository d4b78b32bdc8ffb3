"""What bodies and answers are made of: serializers that read strictly, say what is wrong where, and render fast."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, cached_property
from itertools import islice
from typing import Any, ClassVar, TypeVar

from rest_framework import serializers as s
from rest_framework.fields import empty

from leaderboard.api.protocol.problems import wrong_body
from leaderboard.common.form_fields import NOTE_LENGTH
from ranking_engine.files.problems import SHOWN_PROBLEMS
from ranking_engine.text.characters import line_problem, lines_problem

T = TypeVar("T")
MAX_WHOLE = 2**31 - 1
IS_MISSING = {"required": "it is missing"}
LEFT_OUT = object()  # in an answer: what need not be there, and is not
ITSELF = None  # the key, among the problems of a list's items, of those of the list


def kind_of(value: Any) -> str:  # noqa: ANN401
    """What a value of a body is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"the text {value[:30]!r}"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else f"the number {str(value)[:30]}"


def problems_of(detail: Any, place: str = "") -> list[dict[str, str]]:  # noqa: ANN401
    """What is wrong with a body, each with its place, such as `systems[0].scores.qnli`.

    Args:
        detail: of a validation error: messages, or by field or number what is wrong with the existing objects.
        place: of what the detail is about.
    """
    if not isinstance(detail, dict):
        return [{"place": place, "message": str(message)} for message in detail]
    problems: list[dict[str, str]] = []
    for key, inner in detail.items():
        if key is ITSELF:
            here = place
        elif isinstance(key, int):
            here = f"{place}[{key}]"
        else:
            here = f"{place}.{key[:60]}" if place else key[:60]
        problems += problems_of(inner, here)
        if len(problems) >= SHOWN_PROBLEMS:
            break
    return problems[:SHOWN_PROBLEMS]


def read_text(value: Any, most: int, *, is_line: bool = True) -> str:  # noqa: ANN401
    """A text that can be stored: one line, unless it may have several.

    Raises:
        ValidationError: it is none.
    """
    if not isinstance(value, str):
        raise s.ValidationError(f"expected a text, found {kind_of(value)}")
    if len(value) > most:
        raise s.ValidationError(f"{len(value)} characters; at most {most} are kept")
    if problem := line_problem(value) if is_line else lines_problem(value):
        raise s.ValidationError(f"it {problem}")
    return value


def read_number(value: Any) -> float:  # noqa: ANN401
    """A number, which stays whole if it is.

    Raises:
        ValidationError: it is none.
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    hint = "; write the number without quotation marks" if isinstance(value, str) else ""
    raise s.ValidationError(f"expected a number or null, found {kind_of(value)}{hint}")


def read_each(
    items: Iterable[tuple[Hashable, Any]], read: Callable[[Any], T]
) -> tuple[dict[Hashable, T], dict[Hashable, Any]]:
    """What each of several values says, by its key, and what is wrong, which stops at as many as are told."""
    values: dict[Hashable, T] = {}
    problems: dict[Hashable, Any] = {}
    for key, value in items:
        try:
            values[key] = read(value)
        except s.ValidationError as error:
            problems[key] = error.detail
            if len(problems) >= SHOWN_PROBLEMS:
                break
    return values, problems


class Strict:
    """Of a field of a body: `to_internal_value` alone says what is read, and nothing is converted in passing.

    What is missing is read as null where the field is needed, unless it has a message for it.
    """

    def __init__(self, *args: Any, absent: Any = empty, **kwargs: Any) -> None:  # noqa: ANN401
        """A field; with `absent` it may be left out, and that is then its value."""
        self.absent = absent
        if absent is not empty:
            kwargs.setdefault("required", False)
        kwargs["error_messages"] = {"required": ""} | kwargs.get("error_messages", {})
        super().__init__(*args, **kwargs)

    def run_validation(self, data: Any = empty) -> Any:  # noqa: ANN401
        """What the value says.

        Raises:
            ValidationError: it cannot be read.
        """
        if data is None and self.allow_null:  # type: ignore[attr-defined]
            return None
        return self.to_internal_value(data)  # type: ignore[attr-defined]


class StrictText(Strict):
    """A text of at most `most` characters in one line, unless it may have several."""

    def __init__(self, *, most: int = 5000, is_line: bool = True, **kwargs: Any) -> None:  # noqa: ANN401
        """A text; with `max_length` in place of `most` the schema states how long it may be."""
        self.most, self.is_line = kwargs.get("max_length", most), is_line
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:  # noqa: ANN401
        """The text."""
        return read_text(data, self.most, is_line=self.is_line)


class Text(StrictText, s.CharField):
    """A text."""


class ReasonText(Text):
    """Why, in several lines if need be; empty where it is left out, unless it is `needed`, which says so in words."""

    def __init__(self, *, needed: str = "", most: int = NOTE_LENGTH, **kwargs: Any) -> None:  # noqa: ANN401
        self.needed = needed
        more: dict[str, Any] = {"error_messages": {"required": needed}} if needed else {"absent": ""}
        super().__init__(most=most, is_line=False, **more, **kwargs)

    def to_internal_value(self, data: Any) -> str:  # noqa: ANN401
        """The reason, without what surrounds it."""
        reason = super().to_internal_value(data).strip()
        if self.needed and not reason:
            raise s.ValidationError(self.needed)
        return reason


class Truth(Strict, s.BooleanField):
    """True or false."""

    def to_internal_value(self, data: Any) -> bool:  # noqa: ANN401
        """Which of both."""
        if not isinstance(data, bool):
            raise s.ValidationError(f"expected true or false, found {kind_of(data)}")
        return data


class Sure(Truth):
    """That someone knows that something cannot be undone."""

    def to_internal_value(self, data: Any) -> bool:  # noqa: ANN401
        """True, or an error."""
        if data is not True:
            raise s.ValidationError("say true: this cannot be undone")
        return True


class ScoreField(Strict, s.FloatField):
    """A number, or null where that is allowed."""

    def to_internal_value(self, data: Any) -> float:  # noqa: ANN401
        """The number."""
        return read_number(data)


class Whole(Strict, s.IntegerField):
    """A whole number that is not negative, or one of `among`; narrower bounds are for the model to check."""

    def __init__(self, *, among: Sequence[int] = (), **kwargs: Any) -> None:  # noqa: ANN401
        """A number; with `among` only these are taken."""
        self.among = among
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> int:  # noqa: ANN401
        """The number."""
        if self.among and (isinstance(data, bool) or data not in self.among):
            raise s.ValidationError(f"expected one of {', '.join(map(str, self.among))}, found {kind_of(data)}")
        if isinstance(data, int) and not isinstance(data, bool) and 0 <= data <= MAX_WHOLE:
            return data
        raise s.ValidationError(f"expected a whole number from 0 to {MAX_WHOLE:,}, found {kind_of(data)}")


class Moment(Strict, s.DateTimeField):
    """A time with its zone, as ISO 8601."""

    def to_internal_value(self, data: Any) -> datetime:  # noqa: ANN401
        """The time, in UTC."""
        text, messages = _text_or_messages(data, 40)
        try:
            at = datetime.fromisoformat(text)
            if at.tzinfo:
                return at.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        raise s.ValidationError([*messages, f"{text[:40]!r} is no time with its zone; write 2026-12-31T12:00:00Z"])


class ChoiceText(Strict, s.ChoiceField):
    """One of several texts."""

    def to_internal_value(self, data: Any) -> str:  # noqa: ANN401
        """The text."""
        text, messages = _text_or_messages(data, 60)
        if text in self.choices:
            return text
        raise s.ValidationError([*messages, f"{text[:40]!r}; expected one of {', '.join(self.choices)}"])


def _text_or_messages(value: Any, most: int) -> tuple[str, list[str]]:  # noqa: ANN401
    """A text, or an empty one with what is wrong with it, for fields that then say what they expected instead."""
    try:
        return read_text(value, most), []
    except s.ValidationError as error:
        return "", [str(message) for message in error.detail]


class StrictList(Strict):
    """A list, whose entries beyond `most` are not read; `words` say what was expected.

    Fewer than `least` are refused by what reads the list, which knows what they are; here it is for the schema.
    """

    most: int | None = None
    least: int | None = None
    words = "a list"
    child: Any

    def to_internal_value(self, data: Any) -> list[Any]:  # noqa: ANN401
        """Every entry, read."""
        if not isinstance(data, list):
            raise s.ValidationError(f"expected {self.words}, found {kind_of(data)}")
        values, problems = read_each(enumerate(data[: self.most]), self.child.run_validation)
        if self.most is not None and len(data) > self.most:
            problems = {ITSELF: [f"{len(data)} entries; at most {self.most} are taken"]} | problems
        if problems:
            raise s.ValidationError(problems)  # type: ignore[arg-type]
        return list(values.values())


class Listing(StrictList, s.ListField):
    """A list of values."""

    def __init__(self, *, most: int | None = None, least: int | None = None, **kwargs: Any) -> None:  # noqa: ANN401
        self.most, self.least = most, least
        super().__init__(**kwargs)


class ShapeList(StrictList, s.ListSerializer):
    """A list of objects of one shape, which says how many of it are taken at most."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.most, self.words = self.child.most, self.child.words


class Shape(Strict, s.Serializer):
    """An object of a body or of an answer; the same fields are what is read, what is rendered and what is documented.

    Of a body no field but those that are stated is taken, and all problems are told at once. In an answer a field is
    what `value_of_<its name>` returns where the class has such a method, else what a dict or an object has under its
    name, or its `source`. Numbers and texts of an answer pass as they are: a page may have a million of them.
    """

    most: int | None = None
    words = "a list"
    is_question: ClassVar[bool] = False  # whether what it reads only asks, and is stored nowhere

    class Meta:
        list_serializer_class = ShapeList

    @classmethod
    def read(cls, data: Any, **context: Any) -> dict[str, Any]:  # noqa: ANN401
        """The values of a body, by field; fields that are left out are not there unless they say what then holds.

        Args:
            data: the body.
            context: what its fields are checked against, if anything.

        Raises:
            ApiError: it has another shape.
        """
        try:
            values: dict[str, Any] = cls(context=context).run_validation(data)
        except s.ValidationError as error:
            raise wrong_body(problems_of(error.detail), is_question=cls.is_question) from error
        return values

    def to_internal_value(self, data: Any) -> Any:  # noqa: ANN401
        """The values of an object, by field."""
        given: dict[str, Any] = data if isinstance(data, dict) else {}
        message = f"there is no such field; the fields are {', '.join(self.fields)}"
        unknown = (name for name in given if name not in self.fields)
        problems: dict[Hashable, Any] = {name: [message] for name in islice(unknown, SHOWN_PROBLEMS)}
        if given is not data:
            problems[ITSELF] = [f"expected an object, found {kind_of(data)}"]
        values: dict[str, Any] = {}
        for name, field in self.fields.items():
            absent = getattr(field, "absent", empty)
            if name not in given and absent is not empty:
                values[name] = absent
            elif name in given or (field.required and not field.error_messages["required"]):
                try:
                    values[name] = field.run_validation(given.get(name))
                except s.ValidationError as error:
                    problems[name] = error.detail
            elif field.required and given is data:
                problems[name] = [field.error_messages["required"]]
        for name, message in self.further_problems(data, values):
            problems[name] = [*problems.get(name, []), message]
        if problems:
            raise s.ValidationError(problems)  # type: ignore[arg-type]
        return values

    def further_problems(self, data: Any, values: Mapping[str, Any]) -> Iterable[tuple[str, str]]:  # noqa: ANN401
        """What is wrong beside single fields, each with the name of a field.

        Args:
            data: what was sent, an object or not.
            values: those that could be read, by field.
        """
        return ()

    @classmethod
    def render(cls, content: Any) -> dict[str, Any]:  # noqa: ANN401
        """An answer of this shape.

        Args:
            content: a dict or an object with what the fields name.
        """
        return _renderer(cls).to_representation(content)

    def to_representation(self, instance: Any) -> dict[str, Any]:  # noqa: ANN401
        """The object's fields as plain values."""
        answer = {}
        for name, value_of, represent in self._steps:
            value = value_of(instance)
            if value is not LEFT_OUT:
                answer[name] = value if value is None or represent is None else represent(value)
        return answer

    @cached_property
    def _steps(self) -> list[tuple[str, Callable[[Any], Any], Callable[[Any], Any] | None]]:
        """Of every field its name, where its value is found, and what is made of that, where anything is."""
        fields: Mapping[str, Any] = self.fields
        return [(name, self._value_of(name, field), _represent(field)) for name, field in fields.items()]

    def _value_of(self, name: str, field: Any) -> Callable[[Any], Any]:  # noqa: ANN401
        if method := getattr(self, f"value_of_{name}", None):
            return method
        first, *further = field.source.split(".")
        is_needed = field.required

        def value_of(instance: Any) -> Any:  # noqa: ANN401
            if not isinstance(instance, dict):
                value = getattr(instance, first)
            else:
                value = instance[first] if is_needed else instance.get(first, LEFT_OUT)
            for part in further:
                if value is not None:
                    value = getattr(value, part)
            return value

        return value_of


@cache
def _renderer(shape: type[Shape]) -> Shape:
    """An instance that renders: to make one takes far longer than to render an object."""
    return shape()


def _represent(field: Any) -> Callable[[Any], Any] | None:  # noqa: ANN401
    """What makes a value of a field one of JSON; None where it is one."""
    if isinstance(field, s.ListField | s.DictField):
        return None if _represent(field.child) is None else field.to_representation
    is_made = isinstance(field, s.BaseSerializer | s.DateTimeField | s.UUIDField)
    return field.to_representation if is_made else None
