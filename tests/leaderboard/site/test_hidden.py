"""What owners hide is told by no rule, preview, error or job: scores, ranks of others, names.

`test_hidden_differences.py` asks every route.
"""

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from leaderboard.access.audience import audience_of, readable_benchmark
from leaderboard.accounts.tokens import create_token
from leaderboard.computing.rankings import site_rules
from leaderboard.models import Benchmark, Job
from leaderboard.models.submissions import Source
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.lifecycle import accept_batch, withdraw_submission
from leaderboard.submissions.preview.draft import preview_draft
from leaderboard.submissions.preview.table import preview_table
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, check_upload
from ranking_engine import MISSING_POLICIES, RULES, ScoreMatrix, rank
from ranking_engine.files.problems import InputError
from tests.factories import audience_of_draft
from tests.leaderboard.site.hiding import HIDING, OWN, SECRET, Hidden


@pytest.fixture(scope="module")
def of_each(make_once):
    """One benchmark for each way of hiding."""
    return {hiding: Hidden(make_once, hiding, studies=False) for hiding in HIDING}


@pytest.fixture
def hidden(of_each, db):
    """The same; what a test does is taken back."""
    return of_each


def body_of(world: Hidden, kind: str, path: str) -> str:
    """What the page of a benchmark, or a file below it, says to somebody, in lower case."""
    return world.client(kind).get(f"/b/{world.benchmark.key}/{path}").getvalue().decode().lower()


@pytest.mark.parametrize("hiding", HIDING)
def test_moderators_and_owners_see_everything(hidden, hiding):
    world = hidden[hiding]
    for kind in ("owner", "moderator"):
        client, key = world.client(kind), world.benchmark.key
        assert "71.31" in client.get(f"/b/{key}/systems/zebrafish/").content.decode()
        content = client.get(f"/api/v1/benchmarks/{key}/scores/", **world.token(kind)).content.decode()
        assert "71.31" in content


@pytest.mark.parametrize("hiding", HIDING)
def test_a_submitter_sees_their_own_scores_and_ranks(hidden, hiding):
    assert "33.57" in body_of(hidden[hiding], "submitter", "systems/mine/")
    assert "mine" in body_of(hidden[hiding], "submitter", "")


def test_ranks_without_scores_show_the_ranks_and_names_of_all(hidden):
    body = body_of(hidden["ranks"], "member", "")
    assert {name in body for name in ("zebrafish", "axolotl", "mine")} == {True}


def test_own_score_boards_show_strangers_nothing_and_count_nobody(hidden):
    for kind in ("anonymous", "proposer"):
        body = body_of(hidden["own"], kind, "")
        assert "none of your systems is on this board" in body
        assert 'class="place">' not in body
        assert "3 systems" not in body


def test_pseudonyms_stay_the_same_and_give_away_no_order_of_names(hidden):
    file = "board.csv?scores=1&revision=2"
    rows = [body_of(hidden["anonymous"], kind, file) for kind in ("anonymous", "proposer")]
    assert rows[0] == rows[1]
    names = [line.split(",")[0] for line in rows[0].splitlines()[1:]]
    assert len(names) == 3
    assert all(name.startswith("system ") for name in names)


def test_a_pending_submission_proves_no_system_to_be_ones_own(hidden):
    world = hidden["ranks"]
    assert audience_of(world.people["proposer"], world.benchmark).proven_system_ids == frozenset()
    own = world.benchmark.systems.get(name="Mine").pk
    assert audience_of(world.people["submitter"], world.benchmark).proven_system_ids == {own}


def test_scores_that_somebody_else_withdrew_stay_theirs(make, client):
    benchmark = make.benchmark(SECRET, n_tasks=2, submission_policy="moderated")
    owner, first, second = benchmark.memberships.get(role="owner").user, make.user(), make.user()
    batch = make.pending(benchmark, {"Rival X": [33.33011, 44.44011]}, by=first)
    accept_batch(batch, actor=owner)
    make.publish(benchmark)
    withdraw_submission(make.submission_of(batch), actor=owner, reason="Wrong.")
    accept_batch(make.pending(benchmark, {"Rival X": OWN}, by=second), actor=owner)
    make.publish(benchmark)
    Benchmark.objects.filter(pk=benchmark.pk).update(score_view="ranks")
    assert (
        audience_of(second, benchmark).proven_system_ids
        == audience_of(first, benchmark).proven_system_ids
        == frozenset()
    )
    _, secret = create_token(second, name="t", scopes=["read"], days=30)
    client.force_login(second, backend="django.contrib.auth.backends.ModelBackend")
    key = benchmark.key
    for path in (f"/api/v1/benchmarks/{key}/systems/rival-x/", f"/api/v1/benchmarks/{key}/scores/",
                 f"/b/{key}/systems/rival-x/", f"/b/{key}/board.csv"):  # fmt: skip
        for number in (2, 3, 4):
            answer = client.get(f"{path}?scores=1&revision={number}", HTTP_AUTHORIZATION=f"Token {secret}")
            assert "33.33" not in answer.getvalue().decode(), (path, number)


@pytest.mark.parametrize("rule", [rule for rule in site_rules() if not RULES[rule].names_systems])
def test_no_reason_of_a_rule_names_a_system(rule):
    """But for those of the rules whose reasons are hidden with the names."""
    nan = float("nan")
    boards = [
        [[1, 2, nan], [nan, nan, nan], [2, 1, 1]], [[0, -1, 2], [1, 2, 0], [2, nan, 1]], [[1, 2, 3]],
        [[nan, 1, nan], [1, nan, nan], [nan, nan, 2]], [[1, 1, 1], [1, 1, 1], [1, 1, 1]],
    ]  # fmt: skip
    for board in boards:
        for policy in MISSING_POLICIES:
            names = [f"zebrafish{i}" for i in range(len(board))]
            ranking = rank(ScoreMatrix(board, system_names=names), rule, missing=policy)
            assert "zebrafish" not in " ".join([ranking.reason, *ranking.unranked_reasons.values()])


@pytest.mark.parametrize("hiding", HIDING)
def test_a_preview_of_made_up_scores_finds_out_nothing(hidden, hiding):
    world = hidden[hiding]
    tasks = [task.key for task in world.benchmark.tasks.all()]
    stranger = world.people["stranger"]
    row = SubmittedRow("Probe", dict(zip(tasks, ["71.31007", "62.11003"], strict=True)))
    draft = make_draft(audience_of(stranger, world.benchmark), [row], source=Source.FORM)
    preview = preview_draft(draft, audience_of_draft(draft))
    assert (preview.effects, preview.near_misses, {change.old_text for change in preview.rows}) == ([], [], {""})
    draft = make_draft(audience_of(stranger, world.benchmark), [row], source=Source.CSV)
    table = preview_table(draft, audience_of_draft(draft))
    assert (table.effects, table.n_unchanged, [line.n_changed for line in table.rows]) == ([], None, [None])


@pytest.mark.parametrize("hiding", ["own", "anonymous"])
@pytest.mark.parametrize(
    "row",
    [
        SubmittedRow("Zebrafishs", {"task-1": 1.0}),
        SubmittedRow(scores={"task-1": 1.0}, key="zebrafish"),
        SubmittedRow("Other", {"task-1": 1.0}, key="zebrafish"),
        SubmittedRow("zebra-fish", {"task-1": 1.0}),
    ],
)
def test_an_error_about_a_near_name_does_not_tell_the_name(hidden, hiding, row):
    world = hidden[hiding]
    for creates in (True, False):
        message = ""
        try:
            check_upload(
                audience_of(world.people["stranger"], world.benchmark), Upload(rows=[row], creates_systems=creates)
            )
        except InputError as error:
            message = str(error)
        assert "'Zebrafish'" not in message
        assert "did you mean" not in message


def test_what_does_not_say_that_it_hides_is_closed_to_restricted_viewers(hidden):
    world = hidden["ranks"]
    with pytest.raises(PermissionDenied, match="show its scores only to its moderators"):
        readable_benchmark(world.people["stranger"], world.benchmark.key)
    assert readable_benchmark(world.people["owner"], world.benchmark.key)[1].is_restricted is False
    assert (
        audience_of(world.people["stranger"], world.benchmark).level
        != audience_of(world.people["submitter"], world.benchmark).level
    )


@pytest.mark.parametrize("fields", [{"score_view": "own"}, {"anonymous_until": timezone.now() + timedelta(days=1)}])
def test_the_error_of_a_job_tells_nobody_what_is_hidden(make, client, fields):
    benchmark, uploader = make.benchmark(SECRET, n_tasks=2), make.user()
    make.accepted(benchmark, {"Mine": OWN}, by=uploader)
    message = "ValueError: the score 71.31007 of Zebrafish"
    Job.objects.filter(benchmark=benchmark, kind="rankings").update(state="failed", error=f"{message}\nTraceback")
    batch = benchmark.batches.get(uploader=uploader)
    pages = ["/status/", f"/b/{benchmark.key}/", f"/submissions/{batch.uuid}/"]
    client.force_login(uploader, backend="django.contrib.auth.backends.ModelBackend")
    assert [message in client.get(page).content.decode() for page in pages] == [True] * 3
    Benchmark.objects.filter(pk=benchmark.pk).update(**fields)
    assert [message in client.get(page).content.decode() for page in pages] == [False] * 3
    owner = benchmark.memberships.get(role="owner").user
    client.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    assert message in client.get(pages[1]).content.decode()
