"""Fields of models for texts that people write. `ranking_engine.text.characters` says what may be in them."""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext

from ranking_engine.catalogue.registry import read_variants
from ranking_engine.files.metadata import read_fields
from ranking_engine.text.characters import refused_in_line, refused_in_lines


def is_line(text: str) -> None:
    """Raise a ValidationError unless `text` is one line without control and invisible characters."""
    if character := refused_in_line(text):
        problem = gettext("It holds the invisible or control character %(character)s; leave it out.")
        raise ValidationError(problem % {"character": character}, code="control_character")


def is_lines(text: str) -> None:
    """Raise a ValidationError where `text` holds control characters other than tabs and line breaks."""
    if character := refused_in_lines(text):
        problem = gettext("It holds the control character %(character)s; leave it out.")
        raise ValidationError(problem % {"character": character}, code="control_character")


def _are_lines(texts: Sequence[str]) -> None:
    """Raise a ValidationError unless each of `texts` is one line."""
    for text in texts:
        is_line(str(text))


class _Plain:
    """For migrations a plain field: what the check refuses is no matter of the database's."""

    plain: ClassVar[type[models.Field]]

    def deconstruct(self) -> Any:  # noqa: ANN401
        """As of the plain field."""
        name, _, args, kwargs = super().deconstruct()  # type: ignore[misc]
        return name, f"django.db.models.{self.plain.__name__}", args, kwargs


class LineField(_Plain, models.CharField):
    """One line that someone writes."""

    plain = models.CharField
    default_validators = [is_line]


class LinesField(_Plain, models.TextField):
    """Several lines that someone writes."""

    plain = models.TextField
    default_validators = [is_lines]


class ListedField(_Plain, models.JSONField):
    """A list of lines that someone writes, such as tags."""

    plain = models.JSONField
    default_validators = [_are_lines]


class VariantsField(ListedField):
    """Keys of variants of rules; `clean` brings what someone writes into the form and the order that are stored."""

    def to_python(self, value: Any) -> list[str]:  # noqa: ANN401
        """The keys.

        Raises:
            ValidationError: there are too many, or one is no variant.
        """
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise ValidationError(gettext("It is no list of texts."))
        try:
            return list(read_variants(value))
        except ValueError as problem:
            raise ValidationError(f"{problem}.") from problem


class FieldsField(_Plain, models.JSONField):
    """Fields of the systems' metadata; `clean` brings what someone declares into the form that is stored."""

    plain = models.JSONField

    def to_python(self, value: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        """The declarations.

        Raises:
            ValidationError: there are too many, or one is no field.
        """
        try:
            return [field.declaration for field in read_fields(value)]
        except ValueError as problem:
            raise ValidationError(f"{problem}.") from problem
