"""The page of a batch: the ranks that it led to, and what may be done about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from leaderboard.access.audience import UNDECIDED, Audience
from leaderboard.common.language.engine import rule_name
from leaderboard.common.text import in_words, shortened
from leaderboard.models import Batch, Publication, Report, Submission, SubmissionEvent
from leaderboard.rankings.reports import BOARD, RANKING, unpack_arrays
from leaderboard.submissions.batches.states import DONE, ENDED
from leaderboard.submissions.batches.status import SHOWN_NAMES, SHOWN_STEPS, BatchStatus, batch_standing, is_own
from leaderboard.submissions.corrections import holding, may_correct, related_batches, replaced_among
from leaderboard.submissions.queries import STATE_WORDS, is_undecided
from leaderboard.submissions.statements import Statement, statements_of
from leaderboard.submissions.withdrawals import requested, withdraws_alone

SHOWN_RANKS = 20  # systems of one submission whose ranks are listed
State = Submission.State


@dataclass(frozen=True)
class _RankWithTies:
    """The rank of a system under a rule, None where it has none, and how many others share it."""

    rank: int | None
    n_tied_with: int = 0


@dataclass(frozen=True)
class RuleLine:
    """The rank of the only system of a batch under one rule.

    Attributes:
        rule_name: of the rule, for people.
        rank: on the published board; None where it has none.
        n_tied_with: how many others share it; 0 where that is hidden.
        before: its rank on the publication before; None where it had none.
    """

    rule_name: str
    rank: int | None
    n_tied_with: int
    before: int | None


@dataclass(frozen=True)
class SystemLine:
    """The ranks of one of several systems of a batch.

    Attributes:
        name: of the system.
        rank: under the benchmark's default rule; None where it has none.
        best: of its ranks under all rules.
        worst: of these.
        n_unranked: how many rules do not rank it.
        is_withdrawn: whether its scores left the board.
        is_replaced: whether a later submission replaced them.
    """

    name: str
    rank: int | None
    best: int | None
    worst: int | None
    n_unranked: int
    is_withdrawn: bool
    is_replaced: bool

    @classmethod
    def of(
        cls, submission: Submission, ranks: Mapping[str, _RankWithTies], default_rule: str, *, is_replaced: bool
    ) -> "SystemLine":
        """The line of a submission, from the ranks of its system by rule."""
        ranked = [one.rank for one in ranks.values() if one.rank is not None]
        return cls(
            name=submission.shown_name,
            rank=ranks[default_rule].rank if default_rule in ranks else None,
            best=min(ranked, default=None),
            worst=max(ranked, default=None),
            n_unranked=len(ranks) - len(ranked),
            is_withdrawn=submission.state == State.WITHDRAWN,
            is_replaced=is_replaced,
        )


@dataclass(frozen=True)
class BatchPage:
    """What the page of a batch shows beside its links.

    Attributes:
        batch: with its benchmark.
        status: how far it has come.
        ranks: of its only system.
        lines: of its first systems, where it has several.
        withdrawn: which of several systems were withdrawn, in words; empty where none was, or all were.
        related: what it corrects, and what corrected or replaced it: each with a `text` and the other's `uuid`.
        is_corrected: whether accepted scores correct some of it.
        is_replaced: whether a later submission replaced some of it.
    """

    batch: Batch
    status: BatchStatus
    ranks: list[RuleLine]
    lines: list[SystemLine]
    withdrawn: str
    related: list[dict[str, Any]]
    is_corrected: bool
    is_replaced: bool

    @property
    def systems(self) -> str:
        """Its systems in words."""
        return in_words([shortened(name) for name in self.status.names], total=self.status.n_systems)

    @property
    def title(self) -> str:
        """The heading of the page."""
        return gettext("Submission of %(systems)s") % {"systems": self.systems}

    @property
    def has_ended(self) -> bool:
        """Whether nothing of it will be on the board any more."""
        return self.status.state in ENDED

    @property
    def state_text(self) -> str:
        """How far it has come: the last stage where that is done, or the first that is not and why."""
        if self.has_ended or self.status.state in UNDECIDED:
            return gettext(STATE_WORDS[State(self.status.state)])
        last = self.status.stages[-1]
        if last["state"] == DONE:
            return gettext(last["name"])
        unfinished = next(stage for stage in self.status.stages if stage["state"] != DONE)
        return f"{gettext(unfinished['name'])}: {gettext(unfinished['state'])}"

    @property
    def ranks_heading(self) -> str:
        """Above the ranks. Where scores were corrected since, these are not what the submission alone led to."""
        heading = gettext("Current state of %(systems)s")
        if self.is_corrected:
            heading = gettext("Current state of %(systems)s (through the correction)")
        elif self.ranks and self.is_replaced:
            heading = gettext("Current state of %(systems)s (through a later submission)")
        return heading % {"systems": self.systems}

    @property
    def has_before(self) -> bool:
        """Whether its only system had ranks before."""
        return any(line.before for line in self.ranks)

    @property
    def n_not_listed(self) -> int:
        """How many of several systems have no line."""
        return self.status.n_systems - len(self.lines) if self.lines else 0

    @property
    def default_rule(self) -> str:
        """The rule of the benchmark's headline, for people."""
        return rule_name(self.batch.benchmark.default_rule)


def batch_page(batch: Batch, audience: Audience | None = None) -> BatchPage:
    """Everything that the page of a batch shows beside its links, to every reader where no audience is named."""
    status = batch_standing(batch, audience)
    # A tie would tell of others what is hidden.
    hides_ties = audience is not None and audience.is_restricted
    ranks: list[RuleLine] = []
    lines: list[SystemLine] = []
    withdrawn = ""
    replaced = replaced_among(batch.submissions.all()) if status.publication else []
    if status.publication and status.n_systems == 1:
        ranks = _rule_lines(status.publication, batch.submissions.get(), hides_ties=hides_ties)
    elif status.publication:
        gone = batch.submissions.filter(state=State.WITHDRAWN).select_related("system")
        if n_gone := gone.count():
            withdrawn = in_words([shortened(row.shown_name) for row in gone[:SHOWN_NAMES]], total=n_gone)
        submissions = list(batch.submissions.select_related("system")[:SHOWN_RANKS])
        ranks_of = _ranks_by_system(status.publication, [one.system_id for one in submissions])
        rule, replaced_ids = batch.benchmark.default_rule, {one.submission_id for one in replaced}
        lines = [
            SystemLine.of(one, ranks_of[one.system_id], rule, is_replaced=one.pk in replaced_ids) for one in submissions
        ]
    return BatchPage(
        batch=batch,
        status=status,
        ranks=ranks,
        lines=lines,
        withdrawn=withdrawn,
        related=related_batches(batch, replaced, names_others=not hides_ties),
        is_corrected=Submission.objects.filter(corrects__batch=batch, state=State.ACCEPTED).exists(),
        is_replaced=bool(replaced),
    )


@dataclass(frozen=True)
class WithdrawalRequest:
    """That an uploader asks to have scores withdrawn: of which submission, why and when."""

    submission: Submission
    reason: str
    at: datetime


@dataclass(frozen=True)
class BatchSteps:
    """What someone may do to a batch now.

    Attributes:
        may_retract: withdraw all of it before a decision.
        may_decide: accept or reject it.
        statements: what its systems state, for the decision.
        to_withdraw: submissions that a moderator may withdraw.
        own_to_withdraw: those that the uploader may withdraw, or ask to have withdrawn.
        withdraws_alone: whether an uploader withdraws without a moderator.
        requests: to withdraw, without an answer yet.
        may_decline: answer these with no.
        may_cancel: take these back.
        to_reinstate: submissions that a moderator may bring back.
        to_correct: submissions that may get new scores.
        to_take_down: submissions whose scores may be erased.
    """

    may_retract: bool
    may_decide: bool
    statements: list[Statement]
    to_withdraw: list[Submission]
    own_to_withdraw: list[Submission]
    withdraws_alone: bool
    requests: list[WithdrawalRequest]
    may_decline: bool
    may_cancel: bool
    to_reinstate: list[Submission]
    to_correct: list[Submission]
    to_take_down: list[Submission]


def batch_steps(audience: Audience, batch: Batch) -> BatchSteps:
    """What they may do to a batch now: withdraw it, decide about it, withdraw or reinstate its systems.

    Its uploader withdraws what is on the board, or asks for it, as the owners set.
    """
    rows = list(batch.submissions.select_related("system", "batch", "benchmark")[:SHOWN_STEPS])
    is_waiting = bool(rows) and is_undecided(batch)
    is_uploader, decides = is_own(batch, audience), audience.may_moderate
    may_erase = audience.may_administer and not is_waiting
    may_correct_them = bool(rows) and may_correct(audience, rows[0])  # all have the same submitter and benchmark
    in_force = holding(batch.benchmark, [row.system_id for row in rows]) if may_correct_them else {}
    taken_down = SubmissionEvent.objects.filter(submission__in=rows, kind=SubmissionEvent.Kind.TAKEN_DOWN)
    requests = requested(rows) if is_uploader or decides else {}
    gone = set(taken_down.values_list("submission_id", flat=True)) if may_erase else set()
    on_board = [row for row in rows if row.state == State.ACCEPTED]
    return BatchSteps(
        may_retract=is_waiting and batch.uploader_id == audience.viewer.pk,
        may_decide=is_waiting and decides,
        statements=statements_of(rows) if is_waiting else [],
        to_withdraw=on_board if decides else [],
        own_to_withdraw=[row for row in on_board if row.pk not in requests] if is_uploader and not decides else [],
        withdraws_alone=withdraws_alone(batch.benchmark),
        requests=[
            WithdrawalRequest(row, requests[row.pk].reason, requests[row.pk].at) for row in rows if row.pk in requests
        ],
        may_decline=decides,
        may_cancel=is_uploader and not decides,
        to_reinstate=[row for row in rows if decides and row.state == State.WITHDRAWN and row.pk not in gone],
        to_correct=[row for row in rows if row.pk in in_force],
        to_take_down=[row for row in rows if may_erase and row.pk not in gone],
    )


def _rule_lines(publication: Publication, submission: Submission, *, hides_ties: bool) -> list[RuleLine]:
    """The system's ranks on the published board, and on the publication before its revision where there is one."""
    system = submission.system_id
    now = _ranks_by_system(publication, [system])[system]
    accepted = submission.events.filter(kind=SubmissionEvent.Kind.ACCEPTED).select_related("revision").first()
    if accepted is None or accepted.revision is None:
        return []
    earlier = (
        Publication.objects.filter(benchmark_id=submission.benchmark_id, revision__number__lt=accepted.revision.number)
        .filter(revision__withdrawn_at=None)
        .order_by("-revision__number", "-pk")
        .first()
    )
    before = _ranks_by_system(earlier, [system])[system] if earlier else {}
    return [
        RuleLine(
            rule_name=rule_name(rule),
            rank=one.rank,
            n_tied_with=0 if hides_ties else one.n_tied_with,
            before=before[rule].rank if rule in before else None,
        )
        for rule, one in now.items()
    ]


def _ranks_by_system(publication: Publication, system_ids: Sequence[int]) -> dict[int, dict[str, _RankWithTies]]:
    """For each system its rank by rule; nothing where it is not on the board."""
    reports = list(
        Report.objects.filter(
            revision_id=publication.revision_id,
            engine_version=publication.engine_version,
            kind__in=[BOARD, RANKING],
        ).order_by("pk")
    )
    board = next((report for report in reports if report.kind == BOARD), None)  # retention may have removed it
    places = unpack_arrays(board.arrays).get("system_ids") if board else None
    place_of = {} if places is None else {int(system_id): i for i, system_id in enumerate(places)}
    ranks: dict[int, dict[str, _RankWithTies]] = {system_id: {} for system_id in system_ids}
    for report in reports:
        if report.kind == RANKING:
            column = unpack_arrays(report.arrays)["ranks"]
            for system_id in ranks.keys() & place_of.keys():
                rank = int(column[place_of[system_id]])
                one = _RankWithTies(rank, int((column == rank).sum()) - 1) if rank >= 1 else _RankWithTies(None)
                ranks[system_id][report.summary["rule"]] = one
    return ranks
