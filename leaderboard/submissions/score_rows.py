"""Writing many scores at once, without an object for each: a large table has hundreds of thousands.

Five thousand systems on 57 tasks took most of a minute as objects; so they take seconds.
"""

from collections.abc import Iterable

from django.db import connection

from config.backends.query_limits import bounded

# (submission id, task id, value or None, reason or "", number of instances or None, standard error or None)
ScoreRow = tuple[int, int, float | None, str, int | None, float | None]
TABLE = "leaderboard_score"
COLUMNS = ("submission_id", "task_id", "value", "missing_reason", "n_instances", "standard_error")


def insert_scores(rows: Iterable[ScoreRow]) -> None:
    """Insert scores; the database's own constraints hold. Call inside the transaction that stores the submissions.

    Args:
        rows: submission id, task id, value or None, reason why there is none (else empty), number of
            instances, standard error.
    """
    quote = connection.ops.quote_name
    target = f"{quote(TABLE)} ({', '.join(quote(column) for column in COLUMNS)})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # COPY goes past Django's own cursor: its errors would be psycopg's, and its wait without a bound.
            with connection.wrap_database_errors, bounded(connection), cursor.copy(f"COPY {target} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            marks = ", ".join(["%s"] * len(COLUMNS))
            cursor.executemany(f"INSERT INTO {target} VALUES ({marks})", list(rows))  # noqa: S608 -- names of our own
