"""What a draft would do to the board: which ranks would change under which rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from django.utils.translation import gettext

from leaderboard.access.audience import Audience
from leaderboard.common.language.engine import in_page_language, rule_name
from leaderboard.common.names import make_key
from leaderboard.common.text import by_catalogue, in_words, with_system_names, with_task_names
from leaderboard.computing.previews import Side, both_in_turn
from leaderboard.computing.rankings import Outcomes, split_rules
from leaderboard.models import Benchmark, Draft, Score
from leaderboard.on_demand.budget import TooLargeError, compute, refuse_beyond_budget
from leaderboard.rankings.configuration import BoardConfiguration, configuration_of, present_configuration
from leaderboard.rankings.score_matrix import build_matrix, revision_matrix
from leaderboard.rankings.scores import BoardSystem
from leaderboard.submissions.drafts import rows_now
from leaderboard.submissions.preview.text import left_out_sentence, ranks_sentence, winners_sentence
from leaderboard.submissions.queries import other_submitters
from leaderboard.submissions.rows import CheckedRow, CheckedScore
from ranking_engine import Ranking, ScoreMatrix
from ranking_engine.core.aggregation import weight_bits
from ranking_engine.core.comparison import RankDifference

SHOWN_CHANGES = 5


@dataclass(frozen=True)
class RankChange:
    """A system whose rank under a rule would change; None = unranked."""

    system_name: str
    before: int | None
    after: int | None


@dataclass(frozen=True)
class RuleEffect:
    """What a draft would change under one rule."""

    rule_name: str
    rank_before: int | None
    rank_after: int | None
    reason: str  # why the system would be unranked
    ranks_others: bool  # whether the rule would rank any other system
    n_ranks_changed: int  # of the other systems
    overtaken_names: list[str]  # the first of them
    n_overtaken: int
    winner_before: str
    winner_after: str
    changes: list[RankChange]  # the first of them

    @classmethod
    def of(cls, rule: str, before: Ranking | None, after: Ranking, i: int, names: list[str]) -> "RuleEffect":
        """What changes from one ranking to another, with the reason as the engine says it.

        Args:
            rule: of both.
            before: None where the rule ranked nothing yet.
            after: with the draft's system.
            i: this system.
            names: of all systems in `after`.
        """
        n_before = 0 if before is None else len(before.ranks)
        difference = RankDifference.between(before, after)
        own = difference.move(i)
        changed = [
            RankChange(names[move.system], move.before, move.after)
            for move in difference.changed()
            if move.system != i and move.system < n_before
        ]
        changed.sort(key=lambda change: (change.before or len(names) + 1, change.system_name))
        overtaken = sorted(difference.overtaken_by(i), key=lambda j: (difference.after[j], names[j]))
        reason = after.reason if after.status == "undefined" else after.unranked_reasons.get(i, after.reason)
        return cls(
            rule_name=rule_name(rule),
            rank_before=own.before,
            rank_after=own.after,
            reason=reason if own.after is None else "",
            ranks_others=ranks_others(after, i),
            n_ranks_changed=len(changed),
            overtaken_names=[names[j] for j in overtaken[:SHOWN_CHANGES]],
            n_overtaken=len(overtaken),
            winner_before="" if before is None else in_words([names[j] for j in before.winners]),
            winner_after=in_words([names[j] for j in after.winners]),
            changes=changed[:SHOWN_CHANGES],
        )

    @property
    def n_more_changed(self) -> int:
        """How many ranks change beside those in `changes`."""
        return self.n_ranks_changed - len(self.changes)


@dataclass(frozen=True)
class ScoreChange:
    """One task's score before and after."""

    task_name: str
    old_text: str
    new_text: str
    note: str


@dataclass(frozen=True)
class Preview:
    """A draft compared with one revision."""

    revision_number: int
    system_name: str
    is_new_system: bool
    near_misses: list[str]
    rows: list[ScoreChange] = field(default_factory=list)
    effects: list[RuleEffect] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # names of rules that take too long for a preview
    is_hidden: bool = False  # whether the effects are not shown to this owner of a draft
    other_submitter: str = ""  # whose scores it would replace, where that is not the owner of the draft
    too_large: str = ""  # why no effects were worked out

    @property
    def summary(self) -> str:
        """Where the system would be, and what changes at the top; empty where no rule ranks."""
        if not self.effects:
            return ""
        ranks = [effect.rank_after for effect in self.effects]
        n_leaving_out = sum(effect.rank_after is None and effect.ranks_others for effect in self.effects)
        parts = [ranks_sentence(self.system_name, ranks, n_leaving_out), winners_sentence(self.effects)]
        return " ".join(filter(None, [*parts, left_out_sentence(self.left_out)]))


@dataclass(frozen=True)
class BoardState:
    """A benchmark's latest inputs as arrays; without systems before its first revision."""

    revision_number: int
    configuration: BoardConfiguration
    systems: list[BoardSystem]
    values: np.ndarray

    @property
    def policy(self) -> str:
        """The missing-score policy in force."""
        return str(self.configuration.missing_policy)

    @property
    def aggregation(self) -> str:
        """How tasks and groups count together."""
        return str(self.configuration.aggregation)

    @property
    def can_be_ranked(self) -> bool:
        """Whether there is a system and a task."""
        return bool(self.systems and self.configuration.tasks)

    def matrix(self) -> ScoreMatrix:
        """The inputs as the engine knows them; there must be a system and a task."""
        return build_matrix(self.values, self.systems, self.configuration)

    def with_rows(self, rows: Sequence[CheckedRow]) -> "BoardState":
        """The board as it would be: each row takes the place of its system's, or joins the others at the end.

        Newcomers have the keys that they will get: where a rule orders equals, it does so by key.
        """
        places = {system.key: i for i, system in enumerate(self.systems)}
        taken = set(places)
        systems, values = list(self.systems), list(self.values)
        for row in rows:
            i = places.get(row["system"]["key"] or "")
            new = row_values(row["scores"], self.configuration, None if i is None else self.values[i])
            if i is None:
                key = make_key(row["system"]["name"], taken)
                taken.add(key)
                systems.append(BoardSystem(0, key, row["system"]["name"]))
                values.append(new)
            else:
                values[i] = new
        return replace(self, systems=systems, values=np.array(values))


def latest_state(benchmark: Benchmark) -> BoardState:
    """The benchmark's latest revision, published or not."""
    revision = benchmark.revisions.order_by("-number").select_related("configuration").first()
    configuration = configuration_of(revision) if revision else present_configuration(benchmark)
    table = revision_matrix(revision) if revision else None
    return BoardState(
        revision_number=benchmark.last_revision_number,
        configuration=configuration,
        systems=table.systems if table else [],
        values=table.written if table else np.empty((0, len(configuration.tasks))),
    )


def preview_draft(draft: Draft, audience: Audience) -> Preview:
    """Hold a draft of one system against the benchmark's latest revision.

    Both boards are ranked under the revision's own policy.

    Raises:
        InputError: what the draft says can no longer be stored.
    """
    before = latest_state(audience.benchmark)
    row = rows_now(draft, audience)[0]
    key = row["system"]["key"]
    place = next((i for i, system in enumerate(before.systems) if system.key == key), None)
    if audience.is_restricted:
        # What was understood, and no more: by previews of made-up scores one could find out those that are hidden.
        values = row_values(row["scores"], before.configuration, None)
        return Preview(
            revision_number=before.revision_number,
            system_name=row["system"]["name"],
            is_new_system=key is None,
            near_misses=row["system"]["near_misses"],
            rows=_score_changes(row["scores"], before.configuration, None, values),
            is_hidden=True,
        )
    old = None if place is None else before.values[place]
    after = before.with_rows([row])
    i = len(before.systems) if place is None else place
    effects: list[RuleEffect] = []
    left_out: list[str] = []
    too_large = ""
    try:
        (old_rankings, new_rankings), names = rankings_of(before, after), [system.name for system in after.systems]
        task_names = after.configuration.task_names
        system_names = {system.key: system.name for system in after.systems}
        for rule, ranking in new_rankings.items():
            effect = RuleEffect.of(rule, old_rankings.get(rule), ranking, i, names)
            reason = with_system_names(with_task_names(effect.reason, task_names), system_names)
            effects.append(replace(effect, reason=in_page_language(reason)))
        left_out = rules_left_out(after, new_rankings)
    except TooLargeError as error:
        too_large = str(error)
    return Preview(
        revision_number=before.revision_number,
        system_name=row["system"]["name"],
        is_new_system=place is None,
        near_misses=row["system"]["near_misses"],
        rows=_score_changes(row["scores"], before.configuration, old, after.values[i]),
        effects=effects,
        left_out=left_out,
        too_large=too_large,
        other_submitter=next(iter(other_submitters(audience, [key] if key else []).values()), ""),
    )


def row_values(
    scores: Mapping[str, CheckedScore], configuration: BoardConfiguration, old: np.ndarray | None
) -> np.ndarray:
    """A system's row as it would be: where tasks are merged, those not mentioned keep their scores."""
    tasks = configuration.tasks
    keeps = configuration.replacement == Benchmark.Replacement.TASK and old is not None
    row = old.tolist() if keeps and old is not None else [np.nan] * len(tasks)
    for t, task in enumerate(tasks):
        score = scores.get(task.key)
        if score is not None:
            row[t] = score.get("value", np.nan)
    return np.array(row, dtype=float)


def _score_changes(
    scores: Mapping[str, CheckedScore], configuration: BoardConfiguration, old: np.ndarray | None, new: np.ndarray
) -> list[ScoreChange]:
    def text(value: float) -> str:
        return "" if np.isnan(value) else repr(float(value)).removesuffix(".0")

    changes = []
    for t, task in enumerate(configuration.tasks):
        before = "" if old is None else text(old[t])
        after = text(new[t])
        score = scores.get(task.key)
        reason = gettext("not mentioned")
        if score:
            reason = str(Score.MissingReason(score.get("missing", Score.MissingReason.NOT_REPORTED)).label)
        note = "" if after else gettext("missing: %(reason)s") % {"reason": reason}
        changes.append(ScoreChange(task.name, before, after, note))
    return changes


def rankings_of(before: BoardState, after: BoardState) -> tuple[dict[str, Ranking], dict[str, Ranking]]:
    """Every rule that gives an answer in time, for a state and for that state with some rows replaced or added.

    Raises:
        TooLargeError: the board is too large to be ranked on demand.
    """
    return _ranked_side_by_side(before, after, is_same_otherwise=True)


def rankings_of_both(before: BoardState, after: BoardState) -> tuple[dict[str, Ranking], dict[str, Ranking]]:
    """Every rule that gives an answer in time, for two states that may differ in anything.

    Raises:
        TooLargeError: one of them is too large to be ranked on demand.
    """
    return _ranked_side_by_side(before, after, is_same_otherwise=False)


def _side(state: BoardState) -> Side:
    if not state.can_be_ranked:
        return Side(None, state.policy, state.aggregation, [])
    matrix = state.matrix()
    n_systems, n_tasks = matrix.values.shape
    rules = split_rules(n_systems, n_tasks, state.configuration.variants).quick
    bits = weight_bits(matrix, state.aggregation)
    refuse_beyond_budget(n_systems, n_tasks, len(rules), bits=bits, times=2)
    return Side(matrix, state.policy, state.aggregation, rules)


def _ranked_side_by_side(
    before: BoardState, after: BoardState, *, is_same_otherwise: bool
) -> tuple[dict[str, Ranking], dict[str, Ranking]]:
    sides = [_side(before), _side(after)]
    if not any(side.rules for side in sides):
        return {}, {}
    old: Outcomes = {}
    new: Outcomes = {}

    def take(part: tuple[Outcomes, Outcomes]) -> None:
        old.update(part[0])
        new.update(part[1])

    try:
        compute(both_in_turn, *sides, on_part=take, keywords={"is_same_otherwise": is_same_otherwise})
    except TooLargeError:  # no time or no memory is left: what is there counts
        if not new:
            raise
    before_and_after = [
        {rule: outcome for rule, outcome in by_catalogue(side).items() if isinstance(outcome, Ranking)}
        for side in (old, new)
    ]
    return before_and_after[0], before_and_after[1]


def rules_left_out(after: BoardState, rankings: Mapping[str, Ranking]) -> list[str]:
    """The names of the rules that the board would have and that take too long to be ranked on demand.

    Args:
        after: the board as it would be.
        rankings: those that were done in time; where there are none, no rule is left out.
    """
    if not rankings:
        return []
    split = split_rules(len(after.systems), len(after.configuration.tasks), after.configuration.variants)
    return [rule_name(rule) for rule in [*split.quick, *split.slow] if rule not in rankings]


def ranks_others(ranking: Ranking, i: int) -> bool:
    """Whether a rule ranks any system beside `i`."""
    return int((ranking.ranks >= 1).sum()) > int(ranking.ranks[i] >= 1)
