"""Quotas: how many systems a person may submit to a benchmark, per day and in total.

A count is one row, taken with one conditional UPDATE in the transaction that stores the submissions: two at once never
both pass the last free place, and what fails afterwards takes its count back with it.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

from django.conf import settings
from django.db.models import Exists, F, OuterRef
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from leaderboard.access.audience import SIGN_IN_FIRST, Audience, is_embargoed
from leaderboard.common.moments import moment_in_words
from leaderboard.common.text import in_words
from leaderboard.models import Benchmark, CellCount, SubmissionCount, Task, TaskReferences, User
from leaderboard.submissions.problems import QuotaError
from leaderboard.submissions.rows import CheckedRow

TOTAL = "total"


def take_quota(benchmark: Benchmark, user: User, n_systems: int, *, limited: bool) -> None:
    """Count systems that are being submitted. Call inside the transaction that stores them.

    Args:
        benchmark: with its caps.
        user: who submits.
        n_systems: how many systems.
        limited: whether the caps hold for this user; what they submit is counted in any case.

    Raises:
        QuotaError: a cap would be exceeded.
    """
    caps = {day_of(timezone.now()): benchmark.daily_cap, TOTAL: benchmark.total_cap}
    counts = [SubmissionCount(benchmark=benchmark, user=user, period=period) for period in caps]
    SubmissionCount.objects.bulk_create(counts, ignore_conflicts=True)
    rows = SubmissionCount.objects.filter(benchmark=benchmark, user=user)
    capped = {period: cap for period, cap in caps.items() if limited and cap is not None}
    rows.filter(period__in=caps.keys() - capped.keys()).update(n_submitted=F("n_submitted") + n_systems)
    for period, cap in capped.items():
        row = rows.filter(period=period)
        if not row.filter(n_submitted__lte=cap - n_systems).update(n_submitted=F("n_submitted") + n_systems):
            raise QuotaError(_beyond_cap(period, cap, row.get().n_submitted, n_systems))


def _beyond_cap(period: str, cap: int, n_used: int, n_systems: int) -> str:
    """That so many systems more would exceed a cap."""
    more = gettext("one more") if n_systems == 1 else gettext("%(n)s more") % {"n": n_systems}
    if period == TOTAL:
        sentence = ngettext(
            "You can submit %(cap)s system in all to this benchmark; you have submitted %(n_used)s, so "
            "%(more)s would exceed the limit.",
            "You can submit %(cap)s systems in all to this benchmark; you have submitted %(n_used)s, so "
            "%(more)s would exceed the limit.",
            cap,
        )
    else:
        sentence = ngettext(
            "You can submit %(cap)s system a day to this benchmark; you have submitted %(n_used)s, so "
            "%(more)s would exceed the limit. The day ends at 00:00 UTC.",
            "You can submit %(cap)s systems a day to this benchmark; you have submitted %(n_used)s, so "
            "%(more)s would exceed the limit. The day ends at 00:00 UTC.",
            cap,
        )
    return sentence % {"cap": cap, "n_used": n_used, "more": more}


def why_not_now(audiences: Collection[Audience], n_systems: int = 1) -> dict[int, str]:
    """Why a user cannot submit so many systems now, by the primary key of the benchmark; empty where they can.

    Args:
        audiences: what one user is to each of several benchmarks.
        n_systems: how many they would submit; a batch of votes counts as one.
    """
    reasons = {
        one.benchmark.pk: one.why_no_votes if one.benchmark.kind == Benchmark.Kind.VOTES else one.why_closed
        for one in audiences
    }
    capped = [one for one in audiences if not reasons[one.benchmark.pk] and not one.may_moderate]
    capped = [one for one in capped if (one.benchmark.daily_cap, one.benchmark.total_cap) != (None, None)]
    if not capped:
        return reasons
    today = day_of(timezone.now())
    counts = SubmissionCount.objects.filter(user=capped[0].user, benchmark__in=[one.benchmark for one in capped])
    rows = counts.filter(period__in=[today, TOTAL]).values_list("benchmark", "period", "n_submitted")
    used = {(benchmark, period): n for benchmark, period, n in rows}
    for one in capped:
        for period, cap in ((TOTAL, one.benchmark.total_cap), (today, one.benchmark.daily_cap)):
            n_used = used.get((one.benchmark.pk, period), 0)
            if cap is not None and n_used + n_systems > cap:
                reasons[one.benchmark.pk] = _beyond_cap(period, cap, n_used, n_systems)
                break
    return reasons


def give_back_quota(benchmark: Benchmark, user: User, n_systems: int, *, submitted_at: datetime) -> None:
    """No longer count systems that were withdrawn before anyone decided about them. Call inside a transaction."""
    for period in (day_of(submitted_at), TOTAL):
        rows = SubmissionCount.objects.filter(benchmark=benchmark, user=user, period=period)
        rows.filter(n_submitted__gte=n_systems).update(n_submitted=F("n_submitted") - n_systems)


def day_of(at: datetime) -> str:
    """The day in UTC that a moment belongs to."""
    return at.astimezone(UTC).date().isoformat()


def quota_left(benchmark: Benchmark, user: User) -> dict[str, int]:
    """How many systems the user may still submit: `today`, `in all`; only where there is a cap."""
    today = day_of(timezone.now())
    rows = SubmissionCount.objects.filter(benchmark=benchmark, user=user, period__in=[today, TOTAL])
    used = dict(rows.values_list("period", "n_submitted"))
    caps = (("today", today, benchmark.daily_cap), ("in all", TOTAL, benchmark.total_cap))
    return {label: max(0, cap - used.get(period, 0)) for label, period, cap in caps if cap is not None}


def terms_of(benchmark: Benchmark, user: User, *, limited: bool) -> list[str]:
    """What someone should know before they submit: how many they still may, until when, and what becomes of it.

    Args:
        benchmark: where to.
        user: who.
        limited: whether the caps and the deadline hold for them.
    """
    terms = []
    if limited:
        if left := left_in_words(quota_left(benchmark, user)):
            terms.append(gettext("You can submit %(left)s (systems; each row of a table counts).") % {"left": left})
        terms += (
            [
                gettext("Submissions are accepted until %(deadline)s.")
                % {"deadline": moment_in_words(benchmark.deadline)}
            ]
            if benchmark.deadline
            else []
        )
    if benchmark.submission_policy == Benchmark.SubmissionPolicy.MODERATED and limited:
        terms.append(
            ngettext(
                "A moderator decides on every submission within %(n)s day; %(after_deadline)s.",
                "A moderator decides on every submission within %(n)s days; %(after_deadline)s.",
                benchmark.decision_days,
            )
            % {"n": benchmark.decision_days, "after_deadline": after_deadline(benchmark)}
        )
    if is_embargoed(benchmark) and benchmark.embargo_until:
        terms.append(
            gettext("Submissions accepted now join the board on %(embargo_until)s.")
            % {"embargo_until": moment_in_words(benchmark.embargo_until)}
        )
    return terms


def board_terms(audience: Audience) -> list[str]:
    """What the head of a board says about submitting: until when, who decides, when scores appear, how many are left.

    Args:
        audience: who reads the board.
    """
    benchmark, now = audience.benchmark, timezone.now()
    policy = benchmark.submission_policy
    terms = []
    if benchmark.is_archived or policy == Benchmark.SubmissionPolicy.CLOSED:
        return []
    if benchmark.deadline is not None and benchmark.deadline <= now:
        return [gettext("Submissions closed on %(moment)s") % {"moment": moment_in_words(benchmark.deadline)}]
    if benchmark.deadline is not None:
        left = benchmark.deadline - now
        days, hours = left.days, left.seconds // 3600
        if days:
            sentence = ngettext(
                "Submissions are open until %(moment)s (%(n)s day left)",
                "Submissions are open until %(moment)s (%(n)s days left)",
                days,
            )
        elif hours:
            sentence = ngettext(
                "Submissions are open until %(moment)s (%(n)s hour left)",
                "Submissions are open until %(moment)s (%(n)s hours left)",
                hours,
            )
        else:
            sentence = gettext("Submissions are open until %(moment)s (less than an hour left)")
        terms.append(sentence % {"moment": moment_in_words(benchmark.deadline), "n": days or hours})
    if policy == Benchmark.SubmissionPolicy.MODERATED:
        terms.append(
            ngettext(
                "A moderator decides about each submission, within %(n)s day",
                "A moderator decides about each submission, within %(n)s days",
                benchmark.decision_days,
            )
            % {"n": benchmark.decision_days}
        )
    if is_embargoed(benchmark) and benchmark.embargo_until:
        terms.append(
            gettext("What is accepted now appears on %(moment)s") % {"moment": moment_in_words(benchmark.embargo_until)}
        )
    if not (benchmark.daily_cap is None and benchmark.total_cap is None) and not audience.may_moderate:
        if audience.may_submit:
            left_now = left_in_words(quota_left(benchmark, audience.user))
            terms.append(gettext("You may submit %(left)s (systems)") % {"left": left_now})
        elif policy != Benchmark.SubmissionPolicy.OWNERS:
            if benchmark.total_cap is None:
                sentence = gettext("Each user may submit %(daily)s per day (systems)")
            elif benchmark.daily_cap is None:
                sentence = gettext("Each user may submit %(total)s in total (systems)")
            else:
                sentence = gettext("Each user may submit %(daily)s per day and %(total)s in total (systems)")
            terms.append(sentence % {"daily": benchmark.daily_cap, "total": benchmark.total_cap})
    return terms


def left_in_words(left: Mapping[str, int]) -> str:
    """How many someone may still submit, `today` and `in all`, as part of a sentence; empty without a cap."""
    texts = {"today": gettext("%(n)s today"), "in all": gettext("%(n)s in all")}
    return in_words([texts[label] % {"n": n} for label, n in left.items()])


def submission_door(audience: Audience) -> tuple[str, str]:
    """The address where a reader of a board sends scores, predictions or votes, and its label.

    Both are empty where they may not. Anyone who has not signed in yet is shown the way where everyone with an account
    may submit.
    """
    benchmark = audience.benchmark
    is_open = benchmark.submission_policy in (Benchmark.SubmissionPolicy.OPEN, Benchmark.SubmissionPolicy.MODERATED)
    may, why = audience.may_submit, audience.why_closed
    if benchmark.kind == Benchmark.Kind.VOTES:
        may, why, route, label = audience.may_send_votes, audience.why_no_votes, "send_votes", gettext("Send votes")
    elif takes_predictions_alone(audience):
        route, label = "new_predictions", gettext("Submit predictions")
    else:
        route, label = "submit", gettext("Submit scores")
    return (
        (reverse(route, args=[benchmark.key]), label)
        if may or (why == gettext(SIGN_IN_FIRST) and is_open)
        else ("", "")
    )


def takes_predictions_alone(audience: Audience) -> bool:
    """Whether a reader cannot submit scores of any task, since each has hidden references. Moderators can."""
    if audience.may_moderate or getattr(audience.benchmark, "evaluation_mode", None) is None:
        return False
    has_references = Exists(TaskReferences.objects.filter(task=OuterRef("pk")))
    tasks = Task.objects.filter(benchmark=audience.benchmark, is_archived=False)
    return tasks.exists() and not tasks.exclude(has_references).exists()


def after_deadline(benchmark: Benchmark) -> str:
    """What becomes of a submission that no one decided on in time, as a clause."""
    if benchmark.rejects_overdue:
        return gettext("submissions without a decision by then are rejected and can be submitted again")
    return gettext("submissions without a decision by then stay in the queue, marked overdue")


INSTANCES_A_CELL = 10  # scores of single instances are packed, and take a tenth of the space


def cells_of(rows: Sequence[CheckedRow]) -> int:
    """How many cells rows of an upload take: one a score, also where none is reported; one for ten of instances."""
    n_scores = sum(len(row["scores"]) for row in rows)
    n_instances = sum(entry["n"] for row in rows for entry in row.get("instances", {}).values())
    return n_scores + -(-n_instances // INSTANCES_A_CELL)


def take_cells(user: User, n_cells: int, *, is_limited: bool = True) -> None:
    """Count cells that are being stored. Call inside the transaction that stores them.

    Args:
        user: whose upload it is. Staff are counted and not limited.
        n_cells: how many cells.
        is_limited: whether the limits hold; not where an operator imports a folder.

    Raises:
        QuotaError: a limit would be exceeded; it says which, how much is used, and when there will be more.
    """
    limits = {day_of(timezone.now()): settings.CELLS_PER_DAY, TOTAL: settings.CELLS_PER_ACCOUNT}
    counts = [CellCount(user=user, period=period) for period in limits]
    CellCount.objects.bulk_create(counts, ignore_conflicts=True)
    is_limited = is_limited and not user.is_staff
    for period, limit in limits.items():
        rows = CellCount.objects.filter(user=user, period=period)
        free = rows.filter(n_cells__lte=limit - n_cells) if is_limited else rows
        if not free.update(n_cells=F("n_cells") + n_cells):
            n_used = rows.get().n_cells
            sentences = [
                gettext("An account can store %(limit)s scores in all here.")
                if period == TOTAL
                else gettext("An account can store %(limit)s scores a day here."),
                gettext(
                    "Yours has stored %(n_used)s, and these are %(n_cells)s more (empty cells and values of metadata "
                    "count, and ten scores of single instances count as one)."
                ),
                *([] if period == TOTAL or n_cells > limit else [gettext("The day ends at 00:00 UTC.")]),
                gettext("The operator of this site can raise the limit."),
            ]
            counts_now = {"limit": f"{limit:,}", "n_used": f"{n_used:,}", "n_cells": f"{n_cells:,}"}
            raise QuotaError(" ".join(sentences) % counts_now)
