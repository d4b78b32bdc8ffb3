"""A query that was compiled once finds what Django's own finds, each time for the parameters of that time."""

import threading

from django.db import connection
from django.db.models import F, Value
from django.test.utils import CaptureQueriesContext

from leaderboard.common.prepared import PreparedQuery
from leaderboard.models import Benchmark

KEY, NUMBER = "?", -1


def prepared():
    rows = Benchmark.objects.select_related("publication__revision").annotate(more=F("id") + Value(NUMBER))
    return PreparedQuery(lambda: rows.filter(key=KEY)[:1])


def facts(benchmark):
    """Every column of it and of what it refers to, with their types."""
    related = [benchmark, benchmark.publication, benchmark.publication and benchmark.publication.revision]
    return [
        {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields} for row in related if row
    ]


def test_it_finds_the_row_that_the_parameters_name_with_all_its_values(make):
    query, benchmarks = prepared(), [make.published(), make.benchmark()]
    for benchmark in [*benchmarks, *benchmarks]:
        row = query.first({KEY: benchmark.key, NUMBER: 7})
        own = Benchmark.objects.select_related("publication__revision").get(pk=benchmark.pk)
        assert (facts(row), row.more) == (facts(own), benchmark.pk + 7)
        assert len(facts(row)) == (3 if benchmark is benchmarks[0] else 1)


def test_it_asks_once_and_what_was_found_can_be_changed(make):
    query, benchmark = prepared(), make.published()
    query.first({KEY: benchmark.key})
    with CaptureQueriesContext(connection) as queries:
        row = query.first({KEY: benchmark.key})
        assert row.publication.revision.number == 1
    assert len(queries) == 1
    row.name = "Other"
    row.save()
    assert query.first({KEY: benchmark.key}).name == "Other"


def test_a_parameter_is_a_value_and_never_another_parameter_or_a_part_of_the_query(make):
    query = prepared()
    make.benchmark()
    for key in (KEY, "%s", "' OR 1 = 1 --", "", "no-such-benchmark"):
        assert query.first({KEY: key, NUMBER: 0}) is None


def test_threads_ask_with_connections_of_their_own(make_committed):
    query, benchmark = prepared(), make_committed.benchmark()
    query.first({KEY: benchmark.key})
    names = []

    def ask():
        names.append(query.first({KEY: benchmark.key}).name)
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names == [benchmark.name] * 4
