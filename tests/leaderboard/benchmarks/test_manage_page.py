"""The page of a benchmark's settings, in two tabs at once."""

import re

from leaderboard.benchmarks.forms import SettingsForm
from leaderboard.models import Benchmark
from tests.markup import compact

STALE = "Someone changed the settings after you opened this page. Open it again, and make your changes there."


def sent(form: SettingsForm) -> dict[str, str]:
    """What a browser sends of a form that no one changed."""
    values = {field.html_name: field.value() for field in form}
    return {name: "on" if value is True else value for name, value in values.items() if value not in (None, False)}


def token_of(page) -> str:
    return re.search(r'name="token" value="(\w+)"', page.content.decode())[1]


def test_a_page_that_was_opened_before_someone_changed_settings_changes_nothing(client, make):
    benchmark = make.benchmark({"A": [1.0]})
    client.force_login(benchmark.memberships.get().user)
    path = f"/b/{benchmark.key}/manage/"
    token, before = token_of(client.get(path)), sent(SettingsForm(instance=benchmark))
    other = before | {"visibility": "private", "description": "Ours alone.", "token": token}
    assert client.post(path, other).status_code == 302
    for _ in range(2):  # a second try has the same token
        page = client.post(path, before | {"tags": "speech", "token": token})
        assert (page.status_code, STALE in compact(page), token_of(page)) == (400, True, token)
    stored = Benchmark.objects.get()
    assert (stored.visibility, stored.description, stored.tags) == ("private", "Ours alone.", [])
    again = sent(SettingsForm(instance=stored)) | {"tags": "speech", "token": token_of(client.get(path))}
    assert client.post(path, again).status_code == 302
    stored.refresh_from_db()
    assert (stored.visibility, stored.tags) == ("private", ["speech"])
