"""Who replaces scores of other people is told whose they are, before anything is submitted."""

import pytest

from leaderboard.access.audience import audience_of
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.queries import other_submitters
from leaderboard.submissions.rows import SubmittedRow
from tests.markup import compact


@pytest.fixture
def shared(make):
    """A board with systems of its owner, and one each of Ada and Bob."""
    benchmark = make.published(submission_policy="open")
    for name, by in (("Of Ada", make.user("Ada")), ("Of Bob", make.user("Bob"))):
        make.submitted(benchmark, name, ["1"] * 5, by=by)
    return make.publish(benchmark)


def draft_page(client, benchmark, names: list[str], source: str) -> str:
    owner = benchmark.memberships.get(role="owner").user
    scores = {task.key: "2" for task in benchmark.tasks.all()}
    draft = make_draft(audience_of(owner, benchmark), [SubmittedRow(name, scores) for name in names], source=source)
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    return compact(client.get(f"/drafts/{draft.uuid}/"))


def test_a_table_names_the_submitters_of_what_it_replaces(shared, client):
    own = next(iter(shared.systems.exclude(name__startswith="Of").values_list("name", flat=True)))
    page = draft_page(client, shared, ["Of Ada", "Of Bob", own, "New"], "csv")
    assert "This replaces scores that other people submitted:" in page
    notice = page.partition("This replaces scores that other people submitted:")[2].partition("</div>")[0]
    names = notice.partition("</p>")[0].removeprefix("</strong>").strip()
    assert names in ("Ada (1 system), Bob (1 system).", "Bob (1 system), Ada (1 system).")
    assert page.count("on the board, submitted by") == 2


def test_a_form_names_the_submitter_whose_scores_it_replaces(shared, client):
    page = draft_page(client, shared, ["Of Bob"], "form")
    assert "This replaces the scores that <strong>Bob</strong> submitted for this system." in page


def test_your_own_scores_and_new_systems_are_replaced_without_a_warning(shared, client):
    own = next(iter(shared.systems.exclude(name__startswith="Of").values_list("name", flat=True)))
    for names, source in (([own, "New"], "csv"), ([own], "form"), (["Newer"], "form")):
        assert "This replaces" not in draft_page(client, shared, names, source)


def test_where_names_are_hidden_no_submitter_is_named(shared, make):
    keys = list(shared.systems.values_list("key", flat=True))
    assert set(other_submitters(audience_of(make.user(), shared), keys).values()) >= {"Ada", "Bob"}
    type(shared).objects.filter(pk=shared.pk).update(score_view="own")
    shared.refresh_from_db()
    assert other_submitters(audience_of(make.user(), shared), keys) == {}
