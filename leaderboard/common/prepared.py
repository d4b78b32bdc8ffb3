"""Queries that are compiled once in a process: of what nearly every page asks, compiling takes longer than asking.

Django makes the text of a query again for each request, though it is the same except for a key or a reader.
"""

from collections.abc import Callable, Mapping
from copy import copy
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Generic, TypeVar

from django.db import connections
from django.db.models import Model, QuerySet
from django.db.models.query import ModelIterable

M = TypeVar("M", bound=Model)


class PreparedQuery(Generic[M]):
    """A query of whole rows, and of what they refer to, that differs from one time to the next by parameters alone."""

    def __init__(self, make: Callable[[], QuerySet[M]]) -> None:
        """Remember how the query is made.

        Args:
            make: makes it with a value of its own, which is nowhere else in it, in the place of each parameter. A value
                has to be sent to the database as it is: a text or a number.
        """
        self._make = make

    @cached_property
    def _compiled(self) -> tuple[str, Any, str, tuple[object, ...]]:
        rows = self._make()
        compiler: Any = rows.query.get_compiler(using=rows.db)
        return rows.db, compiler, *compiler.as_sql()

    def first(self, parameters: Mapping[object, object]) -> M | None:
        """The first row; None where there is none.

        Args:
            parameters: what to ask with, by the value that has its place.
        """
        return next(iter(self.rows(parameters)), None)

    def rows(self, parameters: Mapping[object, object]) -> list[M]:
        """All rows, as `first`."""
        database, compiled, sql, places = self._compiled
        compiler = copy(compiled)  # of this thread, with its connection
        compiler.connection = connections[database]
        compiler.as_sql = lambda: (sql, tuple(parameters.get(place, place) for place in places))
        query = SimpleNamespace(get_compiler=lambda using: compiler)
        rows: Any = SimpleNamespace(db=database, query=query, _known_related_objects={})
        return list(ModelIterable(rows))
