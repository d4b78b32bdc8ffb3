"""What a factory wrote for one test, written again for the next one that asks for the same.

Accepting scores and computing a board takes longer than most tests of what is then on a page, and many tests begin with
the same boards. The statements that the site's own services sent are kept, and sent again with the same values, as long
as nothing but the same calls of a factory came before them in a test: then they make the same rows with the same keys.
Moments are those of the first time.
"""

import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.models import Model
from django.utils.translation import get_language

from leaderboard.models import Benchmark, Score, User
from leaderboard.submissions.score_rows import COLUMNS, TABLE

MAX_KEPT = 300  # calls, each with some hundred kilobytes of a board at most
WRITES = ("INSERT", "UPDATE", "DELETE")
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Written:
    """What one call wrote.

    Attributes:
        statements: each with its values, and whether it has many rows of them.
        last_keys: the greatest primary key by table, once all are written.
        n_numbers: how many numbers the factory took for names.
        result: the class and the key of what the call returned.
    """

    statements: list[tuple[str, Any, bool]]
    last_keys: dict[str, int | None]
    n_numbers: int
    result: tuple[type[Model], int]


_seen: OrderedDict[Key, Written | None] = OrderedDict()


class Replays:
    """The calls of one factory in one test."""

    def __init__(self, patches: pytest.MonkeyPatch) -> None:
        self._patches = patches
        self._calls: Key | None = ()
        self._depth = 0
        self._statements: list[tuple[str, Any, bool]] = []

    def call(self, factory: Any, method: Callable[..., Model], args: tuple, fields: dict[str, Any]) -> Model:
        """Call a method of a factory, or write what it wrote when it was called so before."""
        if self._patches._setattr or self._patches._setitem:  # what is patched may change what is written
            self._calls = None
        if self._depth or self._calls is None:
            return method(factory, *args, **fields)
        try:
            call = (method.__name__, _described(args), _described(fields))
            self._calls = (hash(self._calls), _state_of_settings(), call)
        except TypeError:  # something whose value cannot be told
            self._calls = None
            return method(factory, *args, **fields)
        key, written = self._calls, _seen.get(self._calls)
        if written is not None:
            return self._write_again(factory, written)
        before, self._statements = factory.n_numbers, []
        n_scores = Score.objects.count()
        self._depth += 1
        try:
            result = method(factory, *args, **fields)
        finally:
            self._depth -= 1
        is_second = key in _seen
        _seen[key] = None
        if is_second and isinstance(result, Model):
            self._statements += _copied_scores(n_scores)
            tables = _tables_of(self._statements)
            _seen[key] = Written(
                self._statements, _last_keys(tables), factory.n_numbers - before, (type(result), result.pk)
            )
        while len(_seen) > MAX_KEPT:
            _seen.popitem(last=False)
        return result

    def _write_again(self, factory: Any, written: Written) -> Model:
        self._depth += 1
        try:
            with connection.cursor() as cursor:
                for sql, values, is_many in written.statements:
                    (cursor.executemany if is_many else cursor.execute)(sql, values)
        finally:
            self._depth -= 1
        assert _last_keys(written.last_keys) == written.last_keys, "the rows have other keys than before"
        for _ in range(written.n_numbers):
            factory.next_number()
        model, number = written.result
        return model._base_manager.get(pk=number)

    def watch(self, execute: Callable[..., Any], sql: str, values: Any, many: bool, context: Mapping[str, Any]) -> Any:
        """Note what a call writes; what a test writes itself ends the calls that can be told apart."""
        if sql.lstrip().startswith(WRITES):
            if self._depth:
                self._statements.append((sql, list(values) if many else values, many))
            else:
                self._calls = None
        return execute(sql, values, many, context)


@contextmanager
def replayed_calls(patches: pytest.MonkeyPatch):
    """Watch a test's connection, if nothing but what was migrated is in its database yet."""
    if Benchmark.objects.exists() or User.objects.exists():
        yield None
        return
    _restart_sequences()
    replays = Replays(patches)
    with connection.execute_wrapper(replays.watch):
        yield replays


def replayed(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a factory that goes through its `replays`, where it has any."""

    @functools.wraps(method)
    def call(factory: Any, *args: Any, **fields: Any) -> Any:
        if factory.replays is None:
            return method(factory, *args, **fields)
        return factory.replays.call(factory, method, args, fields)

    return call


def _described(value: Any) -> Any:
    """Something hashable that tells a value apart from others.

    Raises:
        TypeError: there is nothing of the kind.
    """
    if isinstance(value, Model):
        return (type(value), value.pk)
    if isinstance(value, Mapping):
        return tuple((key, _described(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return (type(value), *(_described(item) for item in value))
    text = repr(value)
    if " at 0x" in text or callable(value):
        raise TypeError(text)
    return (type(value), text)


def _state_of_settings() -> Key:
    """The language, and every setting that a test has changed."""
    changed: dict[str, str] = {}
    holder = settings._wrapped
    while hasattr(holder, "default_settings"):
        changed = {name: repr(value) for name, value in vars(holder).items() if name.isupper()} | changed
        holder = holder.default_settings
    return (get_language(), *sorted(changed.items()))


def _copied_scores(n_before: int) -> list[tuple[str, Any, bool]]:
    """The statement that inserts the scores which PostgreSQL took by COPY, past Django's cursor."""
    rows = [] if settings.IS_SQLITE else list(Score.objects.order_by("pk").values_list(*COLUMNS)[n_before:])
    marks = ", ".join(["%s"] * len(COLUMNS))
    return [(f'INSERT INTO "{TABLE}" ({", ".join(COLUMNS)}) VALUES ({marks})', rows, True)] if rows else []


def _tables_of(statements: list[tuple[str, Any, bool]]) -> list[str]:
    quoted = {sql.split('"')[1] for sql, _, _ in statements if sql.lstrip().startswith("INSERT") and '"' in sql}
    return sorted(quoted & _numbered_tables().keys())


@functools.cache
def _numbered_tables() -> dict[str, str]:
    """The column with the number that a database gives each row, by table."""
    models = apps.get_models(include_auto_created=True)
    numbered = [model._meta for model in models if model._meta.managed and model._meta.auto_field is not None]
    return {meta.db_table: meta.auto_field.column for meta in numbered if meta.auto_field}


def _last_keys(tables) -> dict[str, int | None]:
    if not tables:
        return {}
    columns = _numbered_tables()
    selects = [f'SELECT \'{table}\', max("{columns[table]}") FROM "{table}"' for table in tables]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(selects))
        return dict(cursor.fetchall())


_sequences: dict[str, tuple[int, bool]] = {}


def _restart_sequences() -> None:
    """Give rows the numbers that they have in every test: a sequence of PostgreSQL is not rolled back."""
    if settings.IS_SQLITE:
        return
    with connection.cursor() as cursor:
        if not _sequences:
            cursor.execute(
                "SELECT quote_ident(schemaname) || '.' || quote_ident(sequencename), "
                "coalesce(last_value, start_value), last_value IS NOT NULL FROM pg_sequences"
            )
            _sequences.update({name: (value, is_called) for name, value, is_called in cursor.fetchall()})
        rows = ", ".join(f"('{name}', {value}, {is_called})" for name, (value, is_called) in _sequences.items())
        cursor.execute(
            f"SELECT setval(name::regclass, value, is_called) FROM (VALUES {rows}) AS sequence(name, value, is_called)"
        )
