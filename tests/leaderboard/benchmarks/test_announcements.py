"""What owners tell readers above the board."""

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from leaderboard.benchmarks.announcements import (
    MAX_ANNOUNCEMENTS,
    MAX_LENGTH,
    announce,
    announcements_of,
    remove_announcement,
)
from leaderboard.models import AuditEntry
from tests.factories import owner_of
from tests.markup import compact


def texts(benchmark) -> list[str]:
    benchmark.refresh_from_db(fields=["announcements"])
    return [announcement.text for announcement in announcements_of(benchmark)]


def test_readers_see_the_newest_first_until_it_is_taken_down(make, client):
    benchmark = make.published()
    owner = owner_of(benchmark)
    announce(benchmark, " Round two is open: https://a.example/two <b> ", author=owner)
    announce(benchmark, "Round two is over.", author=owner)
    page = compact(client.get(f"/b/{benchmark.key}/"))
    assert page.index("Round two is over.") < page.index("Round two is open")
    assert '<a href="https://a.example/two" rel="nofollow">https://a.example/two</a> &lt;b&gt;' in page
    client.force_login(owner)
    moment = announcements_of(benchmark.__class__.objects.get(pk=benchmark.pk))[0].at.isoformat()
    path = f"/b/{benchmark.key}/manage/"
    assert f'value="{moment}"' in compact(client.get(path))
    sent = {"action": "remove", "moment": moment}
    assert client.post(f"{path}announcements/", sent)["Location"] == path
    assert texts(benchmark) == ["Round two is open: https://a.example/two <b>"]
    assert "Round two is over." not in compact(Client().get(f"/b/{benchmark.key}/"))
    entries = AuditEntry.objects.filter(benchmark=benchmark, field="announcement").order_by("pk")
    assert list(entries.values_list("before", "after"))[1:] == [
        ("", "Round two is over."), ("Round two is over.", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Write what"),
        ("  \n", "Write what"),
        ("x" * (MAX_LENGTH + 1), "at most 500"),
        ("a\x00b", "control character"),
    ],
)
def test_what_is_no_announcement_is_refused(make, text, problem):
    benchmark = make.benchmark({}, n_tasks=2)
    with pytest.raises(ValidationError, match=problem):
        announce(benchmark, text, author=owner_of(benchmark))
    assert texts(benchmark) == []


def test_there_are_few_of_them(make):
    benchmark = make.benchmark({}, n_tasks=2)
    for number in range(MAX_ANNOUNCEMENTS):
        announce(benchmark, f"Number {number}", author=owner_of(benchmark))
    with pytest.raises(ValidationError, match="take one down first"):
        announce(benchmark, "One more", author=owner_of(benchmark))
    with pytest.raises(ValidationError, match="taken down already"):
        remove_announcement(benchmark, "2020-01-01T00:00:00+00:00", author=owner_of(benchmark))
    assert len(texts(benchmark)) == MAX_ANNOUNCEMENTS
