"""The page of a signed-in user: drafts, submissions, notices, own benchmarks with their pending submissions."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Case, Count, F, Q, When
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from leaderboard.access.audience import DECIDING, UNDECIDED, audiences_of
from leaderboard.access.submitted_names import name_for_submitter
from leaderboard.access.waiting import open_requests, waiting_at
from leaderboard.accounts.organisations.queries import organisations_of
from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words, shortened
from leaderboard.models import (
    Batch,
    Benchmark,
    BenchmarkDraft,
    Draft,
    Membership,
    Notice,
    OrganisationMember,
    PredictionSubmission,
    Submission,
    User,
    VoteBatch,
)
from leaderboard.notifications.queries import visible_notices
from leaderboard.submissions.corrections import replaced_among
from leaderboard.submissions.queries import REPLACED_WORDS, STATE_WORDS
from leaderboard.submissions.quotas import why_not_now

MOST_LOOKED_AT = 500  # accepted systems of a submission of which the list says whether they were replaced
PAGE_BATCHES = 30
SHOWN_NOTICES, SHOWN_DRAFTS, SHOWN_BENCHMARKS, SHOWN_SENT = 5, 50, 200, 30
SHOWN_NAMES = 3


@dataclass(frozen=True)
class OwnDraft:
    """Something that was begun and not sent yet."""

    text: str
    url: str
    created_at: datetime
    expires_at: datetime
    why_not: str = ""  # why it cannot be sent now


@dataclass(frozen=True)
class OwnSent:
    """A submission, votes, or predictions of which no submission came."""

    text: str  # of a submission: its systems
    url: str
    benchmark_key: str  # empty where the benchmark is closed to its submitter now
    benchmark_name: str
    created_at: datetime
    state: str  # in words; of several systems with how many are in each
    is_open: bool  # whether someone has to decide about it, or it is still being scored
    may_withdraw: bool = False  # whether something of a submission is on a board


@dataclass(frozen=True)
class OwnBenchmark:
    """A benchmark that the user owns or moderates."""

    key: str
    name: str
    role: str
    visibility: str
    n_waiting: int  # submissions, batches of votes and requests to decide about
    n_requests: int  # of them, systems whose submitters ask to have them withdrawn
    is_archived: bool
    manage_url: str


@dataclass(frozen=True)
class Dashboard:
    """What the template reads."""

    drafts: list[OwnDraft]
    batches: list[OwnSent]  # those of this page
    batch_page: Page[Any]
    votes: list[OwnSent]
    predictions: list[OwnSent]
    benchmarks: list[OwnBenchmark]
    opened: list[Benchmark]  # of which the user is a member
    organisations: list[OrganisationMember]
    notices: list[Notice]
    n_unread: int
    most: int = SHOWN_SENT  # votes, and predictions, that are listed

    @property
    def has_sent_others(self) -> bool:
        """Whether the user sent anything that is not in the list of submissions."""
        return bool(self.votes or self.predictions)

    @property
    def n_waiting(self) -> int:
        """How much waits for the user on their benchmarks."""
        return sum(benchmark.n_waiting for benchmark in self.benchmarks)


def dashboard(user: User, page: str | None) -> Dashboard:
    """The page of a user; of what they sent to benchmarks that are closed to them now it says only what and when.

    Args:
        user: whose.
        page: of their submissions.
    """
    notices = visible_notices(user).order_by("-pk")
    rows = Batch.objects.filter(uploader=user).annotate(is_closed=_is_closed_to(user)).select_related("benchmark")
    batches = Paginator(rows.order_by("-created_at", "-pk"), PAGE_BATCHES).get_page(page)
    votes = VoteBatch.objects.filter(uploader=user).exclude(state=VoteBatch.State.DRAFT)
    votes = votes.annotate(is_closed=_is_closed_to(user)).select_related("benchmark").defer("votes")
    # Of which the user is a member, also through an organisation, and no more than that.
    opened = Benchmark.objects.filter(memberships__user=user, memberships__role=Membership.Role.MEMBER)
    return Dashboard(
        drafts=own_drafts(user),
        batches=own_batches(list(batches)),
        batch_page=batches,
        votes=[
            OwnSent(
                text=ngettext("%(n)s vote", "%(n)s votes", row.n_votes) % {"n": localise(row.n_votes, ",")},
                url=reverse("vote_batch", args=[row.uuid]),
                benchmark_key="" if row.is_closed else row.benchmark.key,
                benchmark_name="" if row.is_closed else row.benchmark.name,
                created_at=row.created_at,
                state=gettext(STATE_WORDS[Submission.State(row.state)]),
                is_open=row.state == VoteBatch.State.PENDING,
            )
            for row in votes.order_by("-pk")[:SHOWN_SENT]
        ],
        predictions=own_predictions(user),
        benchmarks=benchmarks_of(user),
        opened=list(opened.order_by("name", "key")[:SHOWN_BENCHMARKS]),
        organisations=organisations_of(user),
        notices=list(notices[:SHOWN_NOTICES]),
        n_unread=notices.filter(read_at=None).count(),
    )


def _open_to(user: User) -> Q:
    """Of what belongs to a benchmark: that of those that the user may see."""
    own = Membership.objects.filter(user=user).values("benchmark")
    return ~Q(benchmark__visibility=Benchmark.Visibility.PRIVATE) | Q(benchmark__in=own)


def _is_closed_to(user: User) -> Case:
    return Case(When(_open_to(user), then=False), default=True)


def own_drafts(user: User) -> list[OwnDraft]:
    """What the user began and did not send yet, the newest first."""
    now = timezone.now()
    scores = Draft.objects.filter(_open_to(user), owner=user, expires_at__gt=now).select_related("benchmark")
    fresh = BenchmarkDraft.objects.filter(owner=user, expires_at__gt=now)
    votes = VoteBatch.objects.filter(_open_to(user), uploader=user, state=VoteBatch.State.DRAFT, expires_at__gt=now)
    scores = scores.annotate(first_name=F("rows__0__system__name"), second_name=F("rows__1__system__name"))
    rows = list(scores.defer("rows").order_by("-created_at")[:SHOWN_DRAFTS])
    batches = list(votes.select_related("benchmark").defer("votes").order_by("-created_at")[:SHOWN_DRAFTS])
    benchmarks = [*(row.benchmark for row in rows), *(batch.benchmark for batch in batches)]
    reasons = why_not_now(audiences_of(user, benchmarks).values()) if benchmarks else {}
    drafts = []
    for row in rows:
        text = gettext("Scores for %(benchmark)s")
        if row.second_name is not None:
            text = gettext("Scores of %(system)s and others for %(benchmark)s")
        elif row.first_name:
            text = gettext("Scores of %(system)s for %(benchmark)s")
        text %= {"system": shortened(row.first_name or ""), "benchmark": row.benchmark.name}
        url, why_not = reverse("draft", args=[row.uuid]), reasons[row.benchmark_id]
        drafts.append(OwnDraft(text, url, row.created_at, row.expires_at, why_not))
    drafts += [
        OwnDraft(
            gettext("Benchmark %(name)s") % {"name": row.name},
            reverse("new_draft", args=[row.uuid]),
            row.created_at,
            row.expires_at,
        )
        for row in fresh.defer("table", "about").order_by("-created_at")[:SHOWN_DRAFTS]
    ]
    drafts += [
        OwnDraft(
            gettext("Votes for %(benchmark)s") % {"benchmark": row.benchmark.name},
            reverse("vote_batch", args=[row.uuid]),
            row.created_at,
            row.expires_at or now,
            reasons[row.benchmark_id],
        )
        for row in batches
    ]
    return sorted(drafts, key=lambda draft: draft.created_at, reverse=True)


def own_batches(batches: Sequence[Any]) -> list[OwnSent]:
    """What is said of these batches; the first systems of each, and how many are in which state.

    Args:
        batches: each with `is_closed`, whether its submitter may no longer see its benchmark.
    """
    ids = [batch.pk for batch in batches]
    submissions = Submission.objects.filter(batch__in=ids)
    states: dict[int, Counter[str]] = defaultdict(Counter)
    numbers: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for batch, state, n in submissions.order_by().values_list("batch", "state").annotate(n=Count("pk")):
        states[batch][state] = n
    accepted = Submission.State.ACCEPTED
    few = [pk for pk in ids if states[pk][accepted] <= MOST_LOOKED_AT]
    n_replaced = Counter(one.batch_id for one in replaced_among(submissions.filter(batch__in=few)))
    for pk in ids:
        by_word = [(n, STATE_WORDS[Submission.State(state)]) for state, n in states[pk].items() if state != accepted]
        by_word += [(n_replaced[pk], REPLACED_WORDS), (states[pk][accepted] - n_replaced[pk], STATE_WORDS[accepted])]
        numbers[pk] = [(n, gettext(word)) for n, word in by_word if n]
    names: dict[int, list[str]] = defaultdict(list)
    benchmarks = {batch.pk: batch.benchmark for batch in batches}
    for row in submissions.filter(position__lte=SHOWN_NAMES).select_related("system").order_by("batch", "position"):
        names[row.batch_id].append(shortened(name_for_submitter(row, benchmarks[row.batch_id])))
    requested_in = set(open_requests().filter(submission__batch__in=ids).values_list("submission__batch", flat=True))
    lines = []
    for batch in batches:
        counts, url = states[batch.pk], reverse("batch", args=[batch.uuid])
        if batch.is_closed:
            n = sum(counts.values())
            systems = ngettext("%(n)s system", "%(n)s systems", n) % {"n": localise(n, ",")}
            lines.append(OwnSent(systems, url, "", "", batch.created_at, "", is_open=False))
            continue
        text = numbers[batch.pk][0][1] if numbers[batch.pk] else ""
        if len(numbers[batch.pk]) > 1:
            words = [gettext("%(n)s %(state)s") % {"n": n, "state": word} for n, word in numbers[batch.pk]]
            text = in_words(words)
        if batch.pk in requested_in:
            text = gettext("%(state)s; withdrawal requested") % {"state": text}
        lines.append(
            OwnSent(
                text=in_words(names[batch.pk], SHOWN_NAMES, sum(counts.values())),
                url=url,
                benchmark_key=batch.benchmark.key,
                benchmark_name=batch.benchmark.name,
                created_at=batch.created_at,
                state=text,
                is_open=bool(set(counts) & set(UNDECIDED)) or batch.pk in requested_in,
                may_withdraw=Submission.State.ACCEPTED in counts and batch.pk not in requested_in,
            )
        )
    return lines


def own_predictions(user: User) -> list[OwnSent]:
    """The predictions of the user that are not among their submissions, the newest first: what waits, what was refused,
    what was not better, trial runs.
    """
    state = PredictionSubmission.State
    rows = PredictionSubmission.objects.filter(submitter=user, submission=None)
    rows = rows.annotate(is_closed=_is_closed_to(user))
    return [
        OwnSent(
            text=shortened(row.system_name),
            url=reverse("prediction", args=[row.uuid]),
            benchmark_key="" if row.is_closed else row.benchmark.key,
            benchmark_name="" if row.is_closed else row.benchmark.name,
            created_at=row.created_at,
            state=gettext("trial run: %(state)s") % {"state": gettext(row.state)}
            if row.is_trial
            else gettext(row.state),
            is_open=row.state in (state.WAITING, state.SCORING),
        )
        for row in rows.select_related("benchmark").defer("problems").order_by("-pk")[:SHOWN_SENT]
    ]


def benchmarks_of(user: User) -> list[OwnBenchmark]:
    """The benchmarks that the user owns or moderates, those where something waits first."""
    roles = Membership.objects.filter(user=user, role__in=DECIDING).select_related("benchmark")
    memberships = list(roles.order_by("benchmark__name", "benchmark__key")[:SHOWN_BENCHMARKS])
    waiting = waiting_at([row.benchmark_id for row in memberships])
    lines = [
        OwnBenchmark(
            key=row.benchmark.key,
            name=row.benchmark.name,
            role=str(Membership.Role(row.role).label),
            visibility=row.benchmark.visibility,
            n_waiting=waiting[row.benchmark_id].n_sent + waiting[row.benchmark_id].n_requests,
            n_requests=waiting[row.benchmark_id].n_requests,
            is_archived=row.benchmark.is_archived,
            manage_url=reverse(
                "manage" if row.role == Membership.Role.OWNER else "manage_queue", args=[row.benchmark.key]
            ),
        )
        for row in memberships
    ]
    return sorted(lines, key=lambda line: not line.n_waiting)
