"""Bodies, read strictly: their size first, then their encoding, then what JSON leaves open."""

import json
import math
import re
from typing import Any, NoReturn

from django.conf import settings
from django.core.exceptions import SuspiciousOperation, TooManyFilesSent
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, MultiPartParser

from leaderboard.api.protocol.problems import ApiError
from leaderboard.common.middleware import is_utf8
from ranking_engine.files.json_bounds import n_values

MAX_LEVELS = 20
MAX_VALUES = 600_000  # keys included: each becomes an object of some hundred bytes
FORM_BYTES = 1_000_000  # of a form beside its files
_TEXT_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


def read_bytes(stream: Any, context: dict[str, Any] | None, limit: int) -> bytes:  # noqa: ANN401
    """The body's bytes, which are read only where their stated number is at most `limit`.

    Raises:
        ApiError: they are too many.
    """
    length = (context or {})["request"].META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > limit:
        raise ApiError(413, f"The body has {length[:20]} bytes; at most {limit:,} are taken.")
    body: bytes = stream.read(limit + 1)
    if len(body) > limit:
        raise ApiError(413, f"The body has more than the {limit:,} bytes that are taken.")
    return body


def check_charset(media_type: str | None) -> None:
    """Check in which charset a body is, if its media type states one.

    Raises:
        ApiError: it is not UTF-8.
    """
    parts = [part.partition("=") for part in (media_type or "").split(";")[1:]]
    parameters = {name.strip().lower(): value.strip().strip('"') for name, _, value in parts}
    charset = parameters.get("charset", "utf-8")
    if not is_utf8(charset):
        raise ApiError(415, f"The charset {charset[:40]!r} is not read; send UTF-8.")


class StrictJSONParser(BaseParser):
    """JSON in UTF-8, without NaN and Infinity, without a key twice, without numbers that are too large."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:  # noqa: ANN401
        """The body's content.

        Raises:
            ApiError: it is not such JSON.
        """
        check_charset(media_type)
        data = read_bytes(stream, parser_context, settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            message = f"byte 0x{data[error.start]:02x} at position {error.start} is not UTF-8"
            raise ApiError(400, f"The body is not JSON: {message}.", code="not_json") from error
        return strict_json(text)


def strict_json(text: str) -> Any:  # noqa: ANN401
    """The content of a JSON text.

    Raises:
        ApiError: it says something that JSON has no word for, or says it twice.
    """
    if not text.strip():
        raise ApiError(400, "The body is empty.", code="not_json")
    if n_values(text, enough=MAX_VALUES) > MAX_VALUES:
        raise ApiError(413, f"The JSON has more than {MAX_VALUES:,} values; send them in parts.", code="not_json")
    # Refuse deep nesting before the parser goes into it.
    depth = 0
    for part in _TEXT_OR_BRACKET.finditer(text):
        depth += _STEPS.get(part[0], 0)
        if depth > MAX_LEVELS:
            raise ApiError(400, f"The JSON is nested more than {MAX_LEVELS} levels deep.", code="not_json")
    try:
        return json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_unique, parse_float=_finite, parse_int=_whole
        )
    except json.JSONDecodeError as error:
        message = f"The body is not JSON: {error.msg} at line {error.lineno}, character {error.colno}."
        detail = {"line": error.lineno, "message": error.msg}
        raise ApiError(400, message, code="not_json", details=[detail]) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ApiError(400, f"{name} is no JSON; write null where a score is missing.", code="not_json")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ApiError(400, f"The number {text[:40]} is too large.", code="not_json")
    return value


def _whole(text: str) -> int | float:
    return int(text) if len(text) < 16 else _finite(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise ApiError(400, f"The key {key[:60]!r} appears twice in one object.", code="not_json")
        content[key] = value
    return content


class CSVParser(BaseParser):
    """A table; what it says is for `ranking_engine.files.tables` to read."""

    media_type = "text/csv"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:  # noqa: ANN401
        """The body's bytes."""
        check_charset(media_type)
        return read_bytes(stream, parser_context, settings.UPLOAD_BYTES)


class BoundedFormParser(MultiPartParser):
    """A form whose length is checked before it is read."""

    def form_of(self, stream: Any, media_type: str | None, parser_context: Any, limit: int) -> Any:  # noqa: ANN401
        """The fields and files of a form.

        Args:
            stream, media_type, parser_context: as `parse` has them.
            limit: bytes that the body may have.

        Raises:
            ApiError: they are too many bytes, or no form.
        """
        check_charset(media_type)
        length = parser_context["request"].META.get("CONTENT_LENGTH") or "0"
        if not length.isdecimal() or int(length) > limit:
            raise ApiError(413, f"The body has {length[:20]} bytes; at most {limit:,} are taken.")
        try:
            return super().parse(stream, media_type, parser_context)
        except TooManyFilesSent as error:
            raise ApiError(400, f"The form has more than {settings.DATA_UPLOAD_MAX_NUMBER_FILES:,} files.") from error
        except (ParseError, SuspiciousOperation, UnicodeError) as error:
            raise ApiError(400, f"The form cannot be read: {str(error)[:200]}") from error


class FilesParser(BoundedFormParser):
    """Files with the fields that go with them, as a form sends them: `files` as often as there are files."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:  # noqa: ANN401
        """The same as a JSON body says, with the files' bytes.

        Raises:
            ApiError: they are too many bytes, or no form.
        """
        form = self.form_of(stream, media_type, parser_context, settings.IMPORT_BYTES + FORM_BYTES)
        body: dict[str, Any] = dict(form.data.items())
        if "mapping" in body:
            body["mapping"] = strict_json(body["mapping"])
        if body.get("create_systems") in ("true", "false"):
            body["create_systems"] = body["create_systems"] == "true"
        files = [(file.name, file.read()) for name in form.files for file in form.files.getlist(name)]
        if "names" in body:  # Django leaves folders out of the names of files
            names = strict_json(body.pop("names"))
            if not isinstance(names, list) or not all(isinstance(name, str) and len(name) <= 255 for name in names):
                raise ApiError(400, "`names` is no list of texts of at most 255 characters.")
            if len(names) != len(files):
                raise ApiError(400, f"`names` has {len(names)} entries; {len(files)} files came with them.")
            files = [(name, data) for name, (_, data) in zip(names, files, strict=True)]
        return body | {"files": files}


class PredictionsParser(BoundedFormParser):
    """A form with one file for all tasks, as `table`, or files of single tasks, each as `file:` and its task."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:  # noqa: ANN401
        """The fields, and the files' names and bytes by the name of their field.

        Raises:
            ApiError: they are too many bytes, or no form.
        """
        form = self.form_of(stream, media_type, parser_context, settings.PREDICTIONS_BYTES + FORM_BYTES)
        several = [name for name in form.files if len(form.files.getlist(name)) > 1]
        if several:
            raise ApiError(400, f"The form has several files {several[0][:60]!r}; a field has one.")
        body: dict[str, Any] = dict(form.data.items())
        if "metadata" in body:
            body["metadata"] = strict_json(body["metadata"])
        if body.get("trial") in ("true", "false"):
            body["trial"] = body["trial"] == "true"
        files = {name: form.files.getlist(name)[0] for name in form.files}
        return body | {"files": {name: (file.name, file.read()) for name, file in files.items()}}
