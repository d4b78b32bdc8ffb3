"""Counts the rows that statements bring from the database, whatever asks for them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection


class RowsRead:
    """The number of rows that each statement on one table returned."""

    def __init__(self, table: str) -> None:
        self.table = table
        self.numbers: list[int] = []

    def __call__(self, execute: Callable, sql: str, parameters: Any, many: bool, context: dict[str, Any]) -> Any:
        """Execute the statement; of one that reads the table first, ask again how many rows it has."""
        if sql.startswith("SELECT") and f'FROM "{self.table}"' in sql:
            execute(f"SELECT COUNT(*) FROM ({sql}) AS counted", parameters, many, context)
            self.numbers.append(context["cursor"].fetchone()[0])
        return execute(sql, parameters, many, context)


@contextmanager
def rows_read(table: str) -> Iterator[RowsRead]:
    """While the context is open, statements that read the table are counted."""
    counted = RowsRead(table)
    with connection.execute_wrapper(counted):
        yield counted
