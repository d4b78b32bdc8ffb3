"""Lookups that Django does not have."""

import json
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field, ForeignObject, JSONField, Lookup
from django.db.models.sql.compiler import SQLCompiler


@ForeignObject.register_lookup  # which takes none of those of Field
@Field.register_lookup
class Among(Lookup):
    """`field__among=values`: like `__in`, with one parameter however many values there are.

    `__in` writes a parameter for each value. SQLite and PostgreSQL end at some 30,000 to 65,000 of them, and long
    before that each statement is parsed again. Here the values travel as one array (PostgreSQL) or one JSON text
    (SQLite), and the index of the field is used for any number of them.
    """

    lookup_name = "among"
    prepare_rhs = False

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:
        """The condition for SQLite."""
        column, parameters = self.process_lhs(compiler, connection)
        condition = f"{column} IN (SELECT value FROM json_each(%s))"  # noqa: S608 -- the column of a field
        return condition, (*parameters, json.dumps(list(self.rhs)))

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:
        """The condition for PostgreSQL."""
        column, parameters = self.process_lhs(compiler, connection)
        field = self.lhs.output_field
        return f"{column} = ANY(%s::{field.rel_db_type(connection)}[])", (*parameters, list(self.rhs))


@JSONField.register_lookup
class HasItem(Lookup):
    """`field__has_item=text`: whether a stored list holds this text; `contains` asks that of PostgreSQL alone."""

    lookup_name = "has_item"
    prepare_rhs = False

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:
        """The condition for SQLite."""
        column, parameters = compiler.compile(self.lhs)
        return f"EXISTS (SELECT 1 FROM json_each({column}) WHERE value = %s)", (*parameters, self.rhs)  # noqa: S608

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[Any, ...]]:
        """The condition for PostgreSQL."""
        column, parameters = compiler.compile(self.lhs)
        return f"{column} @> to_jsonb(%s::text)", (*parameters, self.rhs)
