"""Notices about a new board: systems that fell in rank, and new first places.

What is told is what the default rule says of the board that was published last and of the one before that people were
told of; boards in between are passed over. Numbers are compared first, without a transaction; then one conditional
UPDATE says up to where people were told, and the notices are written with it, or not at all.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from leaderboard.access.audience import Audience, audiences_at
from leaderboard.access.proof import proven_systems
from leaderboard.common.language.sentences import Sentence, Value, engine_text, listed
from leaderboard.common.text import shortened
from leaderboard.models import Benchmark, NoticeKind, Publication, Report, Revision, Submission, User
from leaderboard.notifications.notices import tell_each
from leaderboard.rankings.reports import BOARD, RANKING, unpack_arrays
from leaderboard.rankings.scores import last_in_force, systems_at
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.core.comparison import RankDifference

BENCHMARKS_A_SWEEP = 20
# A default rule that is slow comes after its board; so long it is waited for.
WAIT = timedelta(hours=1)
SHOWN_SYSTEMS = 3


@dataclass(frozen=True)
class BoardChange:
    """Two boards of one benchmark under its default rule, and whose the systems on the newer one are."""

    rule_name: str
    ranks: RankDifference[int]  # by the ids of systems
    names: Mapping[int, str]
    submitters: Mapping[int, int]  # user by the id of a system: who submitted what counts there now
    predicted: Set[int]  # the ids of systems whose rank rests on predicted scores, before or now

    def best_first(self, systems: Iterable[int]) -> list[int]:
        """Systems in the order of their ranks now."""
        return sorted(systems, key=lambda i: (self.ranks.after[i], self.names[i]))

    def marked(self, sentence: Sentence, systems: Iterable[int]) -> Sentence:
        """The sentence, and which of the systems that it names have a rank that rests on predicted scores."""
        names: list[Value] = [shortened(self.names[i]) for i in systems if i in self.predicted]
        if not names:
            return sentence
        whole = Sentence("%(sentence)s Predicted scores count in the rank of %(systems)s.")
        return whole.of(sentence=sentence, systems=listed(names, SHOWN_SYSTEMS))


def tell_of_publications() -> int:
    """Look at every board that was published since people were last told. Any number of sweepers is harmless.

    Returns:
        How many notices were written at most.
    """
    behind = Benchmark.objects.exclude(publication=None).filter(
        Q(noticed_publication=None) | ~Q(noticed_publication=F("publication"))
    )
    rows = behind.select_related("publication__revision", "noticed_publication__revision").order_by("pk")
    return sum(_tell_of_publication(benchmark) for benchmark in rows[:BENCHMARKS_A_SWEEP])


def _tell_of_publication(benchmark: Benchmark) -> int:
    old, new = benchmark.noticed_publication, benchmark.publication
    if new is None:
        return 0
    change = None
    if old is not None and old.revision_id != new.revision_id:
        change = board_change(benchmark, old, new)
        if change is None and timezone.now() - new.published_at < WAIT:
            # The default rule may be one of those that are computed after the board.
            board = Report.objects.filter(
                revision_id=new.revision_id, engine_version=new.engine_version, kind=BOARD
            ).first()
            if board is not None and benchmark.default_rule in board.summary.get("slow_rules", []):
                return 0
    fell = {}
    if change and old:
        between = Revision.objects.filter(
            benchmark=new.benchmark_id, number__gt=old.revision.number, number__lte=new.revision.number
        ).order_by()
        authors = set(between.values_list("author_id", flat=True))
        fell = _sentences_of_fallen(benchmark, change, authors.pop() if len(authors) == 1 else None)
    first = _sentences_of_first(benchmark, change) if change else {}
    path = reverse("board", args=[benchmark.key])
    with transaction.atomic():
        rows = Benchmark.objects.filter(pk=benchmark.pk, noticed_publication=old)
        if not rows.update(noticed_publication=new):
            return 0  # another sweeper told of it
        key = f"publication {new.pk}"
        n = tell_each(fell, NoticeKind.OVERTAKEN, key=f"{key} fell", path=path, benchmark=benchmark)
        return n + tell_each(first, NoticeKind.FIRST_PLACE, key=f"{key} first", path=path, benchmark=benchmark)


def board_change(benchmark: Benchmark, old: Publication, new: Publication) -> BoardChange | None:
    """Two published boards under the benchmark's default rule; None where one of the rankings is not there."""
    stored = [ranks_of(publication, benchmark.default_rule) for publication in (old, new)]
    if stored[0] is None or stored[1] is None:
        return None
    (before, predicted_before), (after, predicted_after) = stored[0], stored[1]
    holds = {held.system_id: held.submission_id for held in last_in_force(new.revision)}
    held = Submission.objects.filter(pk__among=holds.values())
    users = dict(held.values_list("pk", "batch__uploader_id"))
    return BoardChange(
        rule_name=get_rule(benchmark.default_rule).name,
        ranks=RankDifference(before, after),
        names={system.id: system.name for system in systems_at(new.revision)},
        submitters={system: users[submission] for system, submission in holds.items()},
        predicted=predicted_before | predicted_after,
    )


def ranks_of(publication: Publication, rule: str) -> tuple[dict[int, int], Set[int]] | None:
    """The rank of every ranked system by its id, and whose rests on predicted scores; None where none is stored."""
    reports = Report.objects.filter(
        revision_id=publication.revision_id, engine_version=publication.engine_version, kind__in=[BOARD, RANKING]
    )
    board = reports.filter(kind=BOARD).first()
    ranking = reports.filter(kind=RANKING, summary__rule=rule).first()
    if board is None or ranking is None:
        return None
    systems = unpack_arrays(board.arrays, ["system_ids"]).get("system_ids")
    arrays = unpack_arrays(ranking.arrays, ["ranks", "n_predicted"])
    if systems is None or "ranks" not in arrays:
        return None
    is_ranked = arrays["ranks"] >= 1
    ranked = dict(zip(systems[is_ranked].tolist(), arrays["ranks"][is_ranked].tolist(), strict=True))
    predicted = systems[is_ranked & (arrays["n_predicted"] > 0)].tolist() if "n_predicted" in arrays else []
    return ranked, frozenset(predicted)


def _sentences_of_fallen(benchmark: Benchmark, change: BoardChange, sole_author: int | None) -> dict[int, Sentence]:
    """What those are told whose systems fell. Who did it all themselves saw it in the preview."""
    systems = defaultdict(list)
    for i in change.best_first(change.ranks.fallen()):
        systems[change.submitters.get(i)].append(i)
    sentences = {}
    people = User.objects.filter(pk__in=[pk for pk in systems if pk], is_active=True).exclude(pk=sole_author or 0)
    audiences = audiences_at(benchmark, people)
    for user, own_systems in _own_systems(benchmark, audiences, systems).items():
        audience = audiences[user]
        if own_systems:
            falls = [
                Sentence("%(system)s fell from rank %(before)s to %(after)s").of(
                    system=shortened(change.names[i]), before=change.ranks.before[i], after=change.ranks.after[i]
                )
                for i in own_systems[:SHOWN_SYSTEMS]
            ]
            values: dict[str, Value] = {
                "benchmark": benchmark.name,
                "rule": engine_text(change.rule_name),
                "falls": listed(falls, SHOWN_SYSTEMS, len(own_systems)),
            }
            sentence = Sentence("On %(benchmark)s, under %(rule)s: %(falls)s.")
            passed = change.best_first(change.ranks.passed(own_systems[0]))
            if len(own_systems) == 1 and passed and audience.sees_board:
                sentence = Sentence("On %(benchmark)s, under %(rule)s: %(falls)s. Now ahead of it: %(ahead)s.")
                values["ahead"] = listed([shortened(change.names[j]) for j in passed], SHOWN_SYSTEMS)
            sentences[user] = change.marked(sentence.of(**values), own_systems[:SHOWN_SYSTEMS])
    return sentences


def _own_systems(
    benchmark: Benchmark, audiences: Mapping[int, Audience], systems: Mapping[int | None, Sequence[int]]
) -> dict[int, list[int]]:
    """Of each user's systems those that they see on the board, in their order."""
    restricted = [user for user, audience in audiences.items() if audience.may_read and audience.is_restricted]
    proven = proven_systems(benchmark, restricted) if restricted else {}
    return {
        user: [i for i in systems.get(user, ()) if audience.may_read and i in proven.get(user, {i})]
        for user, audience in audiences.items()
    }


def _sentences_of_first(benchmark: Benchmark, change: BoardChange) -> dict[int, Sentence]:
    """What the benchmark's people, and who submitted the systems that are first now, are told of them."""
    leaders = change.best_first(change.ranks.newly_first())
    if not leaders or not change.ranks.before:
        return {}
    tied = change.best_first({i for i, rank in change.ranks.after.items() if rank == 1} - set(leaders))
    people = set(benchmark.memberships.values_list("user_id", flat=True))
    people |= {change.submitters[i] for i in leaders if i in change.submitters}
    submitted = defaultdict(list)
    for i in [*leaders, *tied]:
        submitted[change.submitters.get(i)].append(i)
    audiences = audiences_at(benchmark, User.objects.filter(pk__in=people, is_active=True))
    sentences = {}
    for user, own in _own_systems(benchmark, audiences, submitted).items():
        audience = audiences[user]
        sees_others = audience.may_read and audience.sees_others
        # Who sees only their own systems does not learn of ties, either.
        seen, beside = (leaders, tied) if sees_others else ([i for i in leaders if i in own], [])
        if seen:
            first, others = (
                {i: change.names[i] if audience.sees_names or i in own else "" for i in systems}
                for systems in (seen, beside)
            )
            # A sentence begins with a capital letter, where it begins with words of our own.
            systems = _named(first, Sentence("Another system"))
            sentence = Sentence(
                "%(systems)s is now first on %(benchmark)s under %(rule)s.",
                "%(systems)s are now first on %(benchmark)s under %(rule)s.",
            )
            values: dict[str, Value] = {"benchmark": benchmark.name, "rule": engine_text(change.rule_name)}
            if others:
                sentence = Sentence(
                    "%(systems)s now shares the first place on %(benchmark)s with %(others)s under %(rule)s.",
                    "%(systems)s now share the first place on %(benchmark)s with %(others)s under %(rule)s.",
                )
                values["others"] = listed(_named(others, Sentence("another system")), SHOWN_SYSTEMS)
            whole = sentence.of(n=len(systems), systems=listed(systems, SHOWN_SYSTEMS), **values)
            named = [i for names in (first, others) for i in [i for i in names if names[i]][:SHOWN_SYSTEMS]]
            sentences[user] = change.marked(whole, named)
    return sentences


def _named(names: Mapping[int, str], hidden: Sentence) -> list[Value]:
    """The names of systems; `hidden` or the same further inside of a sentence, once, for those that are empty."""
    return [
        shortened(name) if name else Sentence("another system") if place else hidden
        for place, name in enumerate(dict.fromkeys(names.values()))
    ]
