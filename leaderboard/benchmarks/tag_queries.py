"""The tags of benchmarks."""

from django.db import connection
from django.db.models import QuerySet

from leaderboard.models import Benchmark


def tags_in(benchmarks: QuerySet[Benchmark], *, most: int) -> list[str]:
    """The tags that most of these benchmarks have, by name.

    Args:
        benchmarks: whose.
        most: how many tags.
    """
    among, parameters = benchmarks.order_by().values("pk").query.sql_with_params()
    items = "jsonb_array_elements_text" if connection.vendor == "postgresql" else "json_each"
    item = "tag" if connection.vendor == "postgresql" else "tag.value"
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {item}, COUNT(*) FROM leaderboard_benchmark, {items}(leaderboard_benchmark.tags) AS tag "  # noqa: S608
            f"WHERE leaderboard_benchmark.id IN ({among}) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %s",
            [*parameters, most],
        )
        return sorted(str(name) for name, _ in cursor.fetchall())
