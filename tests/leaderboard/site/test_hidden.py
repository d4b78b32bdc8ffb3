"""What owners hide is on no page and in no answer: scores, ranks of others, names. Every route is asked."""

import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone

from leaderboard.access.audience import audience_of, readable_benchmark
from leaderboard.accounts.organisations.founding import found_organisation, move_in
from leaderboard.accounts.tokens import create_token
from leaderboard.benchmarks.releases import freeze_revision
from leaderboard.computing.rankings import site_rules
from leaderboard.models import ApiToken, Benchmark, Job
from leaderboard.models.submissions import Source
from leaderboard.submissions.drafts import make_draft
from leaderboard.submissions.following.addresses import follow_address
from leaderboard.submissions.lifecycle import accept_batch, withdraw_submission
from leaderboard.submissions.preview.draft import preview_draft
from leaderboard.submissions.preview.table import preview_table
from leaderboard.submissions.rows import SubmittedRow
from leaderboard.submissions.uploads import Upload, check_upload
from ranking_engine import MISSING_POLICIES, RULES, ScoreMatrix, rank
from ranking_engine.files.problems import InputError
from tests.factories import Factory, audience_of_draft

# Figures and names that stand nowhere else.
SECRET = {"Zebrafish": [71.31007, 62.11003], "Axolotl": [12.73009, 93.17001]}
OWN = [33.57011, 44.91013]
TIME_OF_DAY = re.compile(r"\d\d:\d\d:\d\d\.\d+")  # its seconds can be one of the figures by chance
FIGURES = ["71.31", "62.11", "12.73", "93.17"]
WAY_BACK = re.compile(r'"/account/(?:login|signup)/\?next=[^"]*"')
HIDING = {
    "ranks": {"score_view": "ranks"},
    "own": {"score_view": "own"},
    "anonymous": {"anonymous_until": True},
}
# The proposer is a stranger with a submission that waits; staff see what everyone sees (`permissions/table.txt`).
RESTRICTED = ["anonymous", "member", "submitter", "proposer"]


class Hidden:
    """A benchmark that hides something, and somebody of every kind."""

    def __init__(self, make: Factory, hiding: str) -> None:
        self.said, self.tokens = {}, {}
        self.benchmark = make.benchmark(SECRET, n_tasks=2, submission_policy="moderated")
        owner = self.benchmark.memberships.get(role="owner").user
        self.people = {"owner": owner, "stranger": make.user(), "submitter": make.user("Sub")}
        self.people |= {role: make.member(self.benchmark, role) for role in ("member", "moderator")}
        self.people |= {"staff": make.user(is_staff=True), "proposer": make.user()}
        mine = make.pending(self.benchmark, {"Mine": OWN}, by=self.people["submitter"])
        accept_batch(mine, actor=owner)
        # A submission that waits gives no right to the system that it names.
        make.pending(self.benchmark, {"Zebrafish": [1.0, 1.0]}, by=self.people["proposer"])
        self.mine = mine
        self.benchmark = make.publish(self.benchmark, studies=True)
        freeze_revision(self.benchmark, author=owner, number=2, name="Frozen")
        self.organisation = found_organisation(owner, key=f"people-{self.benchmark.pk}", name="People")
        move_in(self.benchmark, self.organisation, author=owner)
        address = {"address": "https://results.example/scores.csv", "kind": "file", "every_minutes": 60}
        self.followed = follow_address(self.benchmark, author=owner, **address)
        fields = {name: timezone.now() + timedelta(days=1) if v is True else v for name, v in HIDING[hiding].items()}
        Benchmark.objects.filter(pk=self.benchmark.pk).update(**fields)
        self.benchmark.refresh_from_db()

    def client(self, kind: str) -> Client:
        client = Client(raise_request_exception=False)
        if kind != "anonymous":
            client.force_login(self.people[kind], backend="django.contrib.auth.backends.ModelBackend")
        return client

    def token(self, kind: str) -> dict[str, str]:
        if kind == "anonymous":
            return {}
        name = f"t{ApiToken.objects.count()}"
        _, secret = create_token(self.people[kind], name=name, scopes=["read", "submit", "manage"], days=30)
        return {"HTTP_AUTHORIZATION": f"Token {secret}"}

    def paths(self) -> list[str]:
        """Every address that names a benchmark, a system, a rule or a submission, and the lists."""
        foreign = self.benchmark.batches.exclude(pk=self.mine.pk).earliest("pk")
        paths = []
        for name, keys in routes():
            for system in ("zebrafish", "mine"):
                values = {"key": self.benchmark.key, "system_key": system, "rule_key": "borda", "rule": "borda",
                          "release_key": "frozen", "number": 2, "uuid": foreign.uuid,
                          "extension": "json", "table": "scores", "task": "task-1",
                          "organisation_key": self.organisation.key}  # fmt: skip
                if set(keys) <= set(values):
                    paths.append(reverse(name, kwargs={key: values[key] for key in keys}))
        board = reverse("board", args=[self.benchmark.key])
        queries = ["scores=1", "sort=name", "q=zebra", "policy=median", "revision=1", "group=baseline", "mark=baseline"]
        # Downloads, comparisons and what is computed on demand, asked for as the pages ask for them.
        here = {"history": ["format=csv"], "history_compare": ["from=1&to=2", "from=1&to=2&format=csv"],
                "head_to_head": ["a=Zebrafish&b=Mine", "a=Zebrafish&b=Mine&format=csv", "format=csv"],
                "agreement": ["format=csv&table=ranks", "format=csv&table=tau", "format=csv&table=figures",
                              "pin=zebrafish"],
                "what_if": ["weights=task-1:3", "weights=task-1:0&rule=mean"], "prospects": ["format=csv"],
                "feed": ["digest=week"], "api:scores": ["format=csv", "format=csv&long=true", "revision=1"],
                "api:rankings": ["missing=worst", "weights=task-1:0", "revision=1"],
                "api:agreement": ["top=1&least=1", "format=csv"],
                "api:prospects": ["format=csv"], "api:systems": ["q=zebra", "revision=1"]}  # fmt: skip
        key = self.benchmark.key
        paths += [f"{reverse(name, args=[key])}?{query}" for name, questions in here.items() for query in questions]
        paths += [f"{reverse('system', args=[key, 'mine'])}?rival=zebrafish",
                  reverse("api:followed", args=[key, self.followed.uuid]),
                  f"{reverse('api:ranking', args=[key, 'mean'])}?format=csv&weights=task-1:0"]  # fmt: skip
        files = [f"/api/v1/benchmarks/{self.benchmark.key}/{route}/?format={kind}"
                 for route in ("scores", "board", "systems", "rankings/borda", "margins")
                 for kind in ("csv", "tex", "md", "preflib")]  # fmt: skip
        return sorted({*paths, *files, *(f"{board}?{query}" for query in queries),
                       f"{board}board.csv?scores=1&revision=2",
                       f"{board}board.md?scores=1", f"{board}board.tex?pin=zebrafish&tag=x"})  # fmt: skip


def routes():
    """(name, arguments) of every route but the admin's and the accounts'."""

    def walk(resolver, prefix="", before=()):
        for pattern in resolver.url_patterns:
            here = (*before, *pattern.pattern.regex.groupindex)
            if hasattr(pattern, "url_patterns"):
                yield from walk(pattern, f"{pattern.namespace}:" if pattern.namespace else prefix, here)
            elif pattern.name and not prefix.startswith("admin") and not pattern.name.startswith("account"):
                yield prefix + pattern.name, here

    return list(walk(get_resolver()))


@pytest.fixture(scope="module")
def hidden(django_db_setup, django_db_blocker):
    """One benchmark for each way of hiding, in a transaction that is rolled back."""
    with django_db_blocker.unblock(), transaction.atomic():
        make = Factory()
        yield {hiding: Hidden(make, hiding) for hiding in HIDING}
        transaction.set_rollback(True)


def said(world: Hidden, kind: str) -> dict[str, str]:
    """The body of every address, in lower case."""
    if kind not in world.said:
        cache.clear()
        client, token = world.client(kind), world.token(kind)
        answers = {path: client.get(path, **(token if path.startswith("/api/") else {})) for path in world.paths()}
        # A picture is no text; `test_other_sites.py` holds what it is drawn from.
        world.said[kind] = {
            path: TIME_OF_DAY.sub("", answer.getvalue().decode(errors="replace").lower())
            for path, answer in answers.items()
        }
        # The feed of all tells of the other worlds, too.
        feed, mark = reverse("feed_of_all"), f"benchmark/{world.benchmark.key}/"
        entries = [part for part in world.said[kind][feed].split("<entry>") if mark in part]
        assert entries
        world.said[kind][feed] = "".join(entries)
    return world.said[kind]


@pytest.mark.parametrize("kind", RESTRICTED)
@pytest.mark.parametrize("hiding", HIDING)
def test_no_address_tells_a_hidden_score(hidden, hiding, kind):
    bodies = said(hidden[hiding], kind)
    assert len(bodies) > 40
    assert {path for path, body in bodies.items() for figure in FIGURES if figure in body} == set()


@pytest.mark.parametrize("kind", RESTRICTED)
@pytest.mark.parametrize("hiding", ["own", "anonymous"])
def test_no_address_tells_a_hidden_name(hidden, hiding, kind):
    bodies = said(hidden[hiding], kind)
    parts = ("?q=zebra", "/zebrafish/")  # an address that says the name itself may repeat it
    bodies = {path: WAY_BACK.sub("", body) for path, body in bodies.items()}  # so may the link that signs in
    leaks = {path for path, body in bodies.items() if "axolotl" in body or ("zebrafish" in body and not
            any(part in path for part in parts))}  # fmt: skip
    assert leaks == set()


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
    bodies = said(hidden[hiding], "submitter")
    key = hidden[hiding].benchmark.key
    assert "33.57" in bodies[f"/b/{key}/systems/mine/"]
    assert "mine" in bodies[f"/b/{key}/"]


def test_ranks_without_scores_show_the_ranks_and_names_of_all(hidden):
    body = said(hidden["ranks"], "member")[f"/b/{hidden['ranks'].benchmark.key}/"]
    assert {name in body for name in ("zebrafish", "axolotl", "mine")} == {True}


def test_own_score_boards_show_strangers_nothing_and_count_nobody(hidden):
    world = hidden["own"]
    for kind in ("anonymous", "proposer"):
        body = said(world, kind)[f"/b/{world.benchmark.key}/"]
        assert "none of your systems is on this board" in body
        assert 'class="place">' not in body
        assert "3 systems" not in body


def test_pseudonyms_stay_the_same_and_give_away_no_order_of_names(hidden):
    world = hidden["anonymous"]
    key = world.benchmark.key
    rows = [said(world, kind)[f"/b/{key}/board.csv?scores=1&revision=2"] for kind in ("anonymous", "proposer")]
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


@pytest.mark.parametrize("hiding", HIDING)
def test_the_hash_of_hidden_scores_is_nowhere(hidden, hiding):
    world = hidden[hiding]
    hashes = [text for text in world.benchmark.revisions.values_list("input_hash", flat=True) if text]
    assert hashes
    for kind in RESTRICTED:
        bodies = said(world, kind)
        assert {path for path, body in bodies.items() for text in hashes if text in body} == set()
    page = world.client("owner").get(f"/b/{world.benchmark.key}/releases/frozen/")
    assert hashes[0] in page.content.decode()


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
