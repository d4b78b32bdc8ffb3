"""A whole site from SQLite's file into PostgreSQL, table by table: for a site that outgrew the file it began in."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.apps import apps
from django.core.management.color import no_style
from django.db import DatabaseError, connection, connections, models, transaction
from django.db.backends.sqlite3.base import DatabaseWrapper

SOURCE = "the SQLite file"  # the name of its connection
ROWS_AT_ONCE = 2000


class MoveError(Exception):
    """What keeps rows from being moved, in words for an operator."""


def fill_from_sqlite(file: Path) -> None:
    """Put every row of an SQLite file into the PostgreSQL database of the settings, in one transaction.

    The database has all tables, and no rows but those that migrations wrote, which give way. Each value is read and
    written by its model's field, as the site does. Rows are streamed: memory does not grow with them.

    Args:
        file: an SQLite database with the very migrations of the other.

    Raises:
        MoveError: PostgreSQL refuses a row; the message names the table.
    """
    # One model for every table that has one, those of many-to-many relations too.
    models_and_meta = [(model, model._meta) for model in apps.get_models(include_auto_created=True)]  # noqa: SLF001 -- documented
    models_by_table = {about.db_table: model for model, about in models_and_meta if about.managed and not about.proxy}
    with _reading(file), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # reading may take its time
        for table in models_by_table:
            cursor.execute(f"DELETE FROM {_quoted(table)}")  # noqa: S608 -- our own tables
        for table, model in models_by_table.items():
            fields = model._meta.concrete_fields  # noqa: SLF001 -- documented
            columns = ", ".join(_quoted(field.column) for field in fields)
            queryset: models.QuerySet = models.QuerySet(model, using=SOURCE)  # no manager's: that could leave rows out
            rows = queryset.order_by("pk").values_list(*[field.attname for field in fields])
            try:
                copying = cursor.copy(f"COPY {_quoted(table)} ({columns}) FROM STDIN")
                with connection.wrap_database_errors, copying as copy:
                    for row in rows.iterator(chunk_size=ROWS_AT_ONCE):
                        pairs = zip(fields, row, strict=True)
                        copy.write_row([field.get_db_prep_save(value, connection) for field, value in pairs])
            except DatabaseError as error:
                raise MoveError(f"{table}: {' '.join(str(error).split())[:500]}") from error
        for statement in connection.ops.sequence_reset_sql(no_style(), list(models_by_table.values())):
            cursor.execute(statement)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")  # or the first minutes would be planned without knowing how large the tables are


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """A connection to the file under the name `SOURCE`, in one transaction, so that all is read from one moment."""
    wrapper = DatabaseWrapper(connection.settings_dict | {"NAME": str(file), "OPTIONS": {}}, SOURCE)
    connections[SOURCE] = wrapper
    try:
        with closing(wrapper), transaction.atomic(using=SOURCE):
            yield
    finally:
        del connections[SOURCE]


def _quoted(name: str | None) -> str:
    return connection.ops.quote_name(str(name))
