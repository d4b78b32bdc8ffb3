"""A board: scores of systems on tasks, with everything that can be asked about them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, overload

from plurank.findings import (
    ChoiceSetTable,
    RankChanges,
    RankIntervalTable,
    RuleComparison,
    SeparablePairs,
    SimilarTasks,
    StudyTable,
    SystemProspects,
    TaskAgreement,
)
from plurank.frames import scores_frame
from plurank.names import NameIndex, rule_key
from plurank.rankings import Leaderboard, RuleRanking, ranks_of
from plurank.scores import Scores, read_scores
from plurank.tables import numbers
from ranking_engine.catalogue.dispatch import rank_all
from ranking_engine.catalogue.registry import get_rule, listed_rules
from ranking_engine.core.aggregation import check_aggregation, reweighted
from ranking_engine.core.comparison import LEAST, TOP, RankDifference, compare
from ranking_engine.core.missing import check_policy
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.core.weights import WeightLike
from ranking_engine.text.close_names import CloseNames

DEFAULT_POLICY = "undefined"  # as on the command line: no rule invents a score unless told to


class Board:
    """Scores of systems on tasks, and how they vote. A board never changes; `with_weights` makes another.

    Args:
        scores: a frame of pandas, polars or pyarrow whose index, or column `system`, names the systems; a mapping
            {system: {task: score}}; an array of shape (n_systems, n_tasks) beside `systems` and `tasks`; or the
            engine's ScoreMatrix, which keeps what it states where nothing is stated here. None, NaN and NA are missing
            scores.
        systems: the names of the rows, where `scores` has none.
        tasks: the names of the columns, where `scores` has none.
        lower_is_better: the tasks on which less is better.
        weights: of the tasks, by name (1 where none is stated) or one per task: whole numbers, "1/3" or decimals, not
            negative, not all 0. A task of weight 0 does not vote.
        groups: the group of each task, by name or one per task.
        group_weights: the weight of each group, by name.
        clusters: which tasks depend on each other, by name or one per task; without it, those of one group.
        precision: the smallest difference on a task that means anything, by name or one per task.
        minimum, maximum, chance: the scale of each task, by name or one per task.
        gamma: the optimality threshold, in the tasks' unit.
        aggregation: how groups count: "basic", "weighted", "balanced" or "two_step".
        missing: what becomes of missing scores under rules that need all: "undefined" (no ranking), "drop_systems",
            "drop_tasks", "worst", "median" or another key of `ranking_engine.MISSING_POLICIES`.

    Raises:
        ValueError: something cannot be read; the message names row and column, or the argument.

    >>> board = Board({"A": {"QA": 90, "NLI": 60}, "B": {"QA": 80, "NLI": 70}, "C": {"QA": 70, "NLI": 50}})
    >>> board.rank("Borda").ranks
    {'A': 1, 'B': 1, 'C': 3}
    """

    def __init__(
        self,
        scores: object,
        *,
        systems: Sequence[str] | None = None,
        tasks: Sequence[str] | None = None,
        lower_is_better: Iterable[str] = (),
        weights: Mapping[str, WeightLike] | Sequence[WeightLike] | None = None,
        groups: Mapping[str, str] | Sequence[str | None] | None = None,
        group_weights: Mapping[str, WeightLike] | None = None,
        clusters: Mapping[str, str] | Sequence[str | None] | None = None,
        precision: Mapping[str, WeightLike] | Sequence[WeightLike | None] | None = None,
        minimum: Mapping[str, float] | Sequence[float | None] | None = None,
        maximum: Mapping[str, float] | Sequence[float | None] | None = None,
        chance: Mapping[str, float] | Sequence[float | None] | None = None,
        gamma: float | None = None,
        aggregation: str = "basic",
        missing: str = DEFAULT_POLICY,
    ) -> None:
        check_aggregation(aggregation)
        check_policy(missing)
        self.aggregation, self.missing = aggregation, missing
        self.notes: tuple[str, ...] = ()
        """Remarks on how the scores were read."""
        self._backend: str | None = None
        if isinstance(scores, ScoreMatrix):
            base = scores
        else:
            table = scores if isinstance(scores, Scores) else read_scores(scores, systems, tasks)
            self._backend = table.backend
            base = ScoreMatrix(table.values, system_names=table.systems, task_names=table.tasks)
        places = NameIndex(base.task_names, "task")
        changes: dict[str, Any] = {}
        lower = [lower_is_better] if isinstance(lower_is_better, str) else list(lower_is_better)
        if lower:
            changes["directions"] = base.directions.copy()
            changes["directions"][[places.of(name, "lower_is_better") for name in lower]] = -1
        of_tasks = {
            "weights": weights, "groups": groups, "clusters": clusters, "precision": precision, "minimum": minimum,
            "maximum": maximum, "chance": chance,
        }  # fmt: skip
        for argument, values in of_tasks.items():
            if values is not None:
                own = [None if isinstance(v, float) and math.isnan(v) else v for v in getattr(base, argument)]
                changes[argument] = places.spread(values, argument, own)
        if groups is not None or group_weights is not None:
            changes["group_weights"] = group_weights
        if gamma is not None:
            changes["gamma"] = gamma
        fields = {field.name: getattr(base, field.name) for field in dataclasses.fields(base)} if changes else {}
        self.matrix = ScoreMatrix(**(fields | changes)) if changes else base

    def __repr__(self) -> str:
        return f"Board({self.matrix.n_systems} systems, {self.matrix.n_tasks} tasks)"

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, in the order in which they came."""
        return self.matrix.system_names

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks, in the order in which they came."""
        return self.matrix.task_names

    def with_weights(self, weights: Mapping[str, WeightLike] | Sequence[WeightLike]) -> Board:
        """Return the board with other task weights: by name, the others keep theirs, or one per task.

        Raises:
            ValueError: an unknown task, or weights that are negative or all 0.
        """
        weights = NameIndex(self.tasks, "task").spread(weights, "weights", self.matrix.weights)
        board = Board(self.matrix.with_weights(weights), aggregation=self.aggregation, missing=self.missing)
        board._backend = self._backend
        return board

    @overload
    def rank(self, rule: str, /, *, ties: str | None = None, **options: object) -> RuleRanking: ...

    @overload
    def rank(self, /, *rules: str, ties: str | None = None) -> Leaderboard: ...

    def rank(self, /, *rules: str, ties: str | None = None, **options: object) -> RuleRanking | Leaderboard:
        """Rank the systems: under one rule, or under several side by side (the quick ones, if none is named).

        Args:
            rules: keys or names in any case, or variants such as "copeland[variant=lower]".
            ties: the convention for ties within a task; None for each rule's own.
            options: of the one rule, such as `seconds=60` for Kemeny; `ranking_engine.RULES` has them.

        Raises:
            ValueError: an unknown rule (the message says which comes closest), convention or option.
        """
        keys = [rule_key(rule) for rule in rules] or listed_rules()
        if options and len(rules) != 1:
            raise ValueError(f"{', '.join(options)}: options are of one rule; name that rule alone")
        rankings = rank_all(
            self.matrix, keys, aggregation=self.aggregation, missing=self.missing, ties=ties,
            options={keys[0]: options} if options else None,
        )  # fmt: skip
        named = [RuleRanking.of(rankings[key], self.systems, self._backend) for key in keys]
        return named[0] if len(rules) == 1 else Leaderboard.of(named, self._backend)

    def compare(self, *rules: str) -> RuleComparison:
        """Say how far rules agree: Kendall's tau-b of every two, with further measures in `comparison`.

        Args:
            rules: keys or names; all listed ones, if none is named. `notes` has those that give no ranking.
        """
        keys = [rule_key(rule) for rule in rules] or listed_rules()
        rankings = rank_all(self.matrix, keys, aggregation=self.aggregation, missing=self.missing)
        ranked = {key: ranking for key, ranking in rankings.items() if ranking.status == "ranked"}
        comparison = compare(ranked, top=TOP, least=LEAST)
        columns: dict[str, list[Any]] = {"rule": list(ranked)}
        columns |= {key: numbers(column) for key, column in zip(ranked, comparison.kendall_tau.T, strict=True)}
        notes = [
            f"{get_rule(key).name} is left out: {ranking.reason or 'it names winners alone'}"
            for key, ranking in rankings.items()
            if key not in ranked
        ]
        return RuleComparison("Kendall's tau-b of every two rules", columns, notes, comparison, backend=self._backend)

    def agreement(self) -> TaskAgreement:
        """Say how far the tasks agree: 1 - Kendall's W, and rank changes from task to task (Zhang and Hardt 2024)."""
        from ranking_engine.stability.diversity import diversity  # noqa: PLC0415 -- loaded when asked for

        result = diversity(self.matrix)
        figures = {key: value for key, value in result.summary().items() if key != "reason"}
        columns = {"measure": list(figures), "value": list(figures.values())}
        notes = [result.reason] if result.reason else []
        return TaskAgreement("How far the tasks agree", columns, notes, result, backend=self._backend)

    def similar_tasks(self) -> SimilarTasks:
        """Say which tasks order the systems alike, and as how many tasks they count."""
        from ranking_engine.stability.separability.task_likeness import (  # noqa: PLC0415 -- loaded when asked for
            CLUSTER_TAU,
            task_likeness,
        )

        likeness = task_likeness(self.matrix)
        names = [self.tasks[t] for t in likeness.tasks]
        columns: dict[str, list[Any]] = {"task": names}
        columns |= {name: numbers(column) for name, column in zip(names, likeness.kendall_tau.T, strict=True)}
        notes = (
            [likeness.reason] if likeness.reason else [f"Effective number of tasks: {likeness.effective_number:.1f}"]
        )
        alike = [tasks for tasks in likeness.clusters(CLUSTER_TAU) if len(tasks) > 1]
        notes += [f"Similar: {', '.join(self.tasks[t] for t in tasks)}" for tasks in alike]
        return SimilarTasks("Kendall's tau-b of every two tasks", columns, notes, likeness, backend=self._backend)

    def choice_sets(self) -> ChoiceSetTable:
        """Say who is best by head-to-head comparisons alone, and which systems beat each other in cycles.

        Raises:
            ValueError: the aggregation is "two_step", which has no one set of weights.
        """
        from plurank.majorities import choice_sets_table  # noqa: PLC0415 -- loaded when asked for

        return choice_sets_table(self._reweighted(), self._backend)

    def prospects(self, rule: str = "majority", *, conditions: Iterable[str] = (), **settings: Any) -> SystemProspects:  # noqa: ANN401
        """Say who can win under some weights of the tasks, with the weights; who cannot, with a proof.

        Args:
            rule: "majority" (to lose to no system in pairs), or a rule on points such as "borda".
            conditions: on the weights, such as "CoLA + RTE >= 0.3".
            settings: further ones of `ranking_engine.prospects.prospects`, such as `systems`, `rival`, `by_group`,
                `n_draws`, `seed`.

        Raises:
            ValueError: an unknown rule, system or task, or a condition that cannot be read.
        """
        from ranking_engine.prospects import Conditions, prospects  # noqa: PLC0415 -- loaded when asked for

        key = "majority" if rule.strip().casefold() == "majority" else rule_key(rule)
        answers = prospects(
            reweighted(self.matrix, self.aggregation),
            rule=key, conditions=Conditions.parse(list(conditions)), **{"missing": self.missing, **settings},
        )  # fmt: skip
        columns = {
            "system": [one.system for one in answers.systems],
            "can_win": [None if one.verdict == "undecided" else one.is_prospective for one in answers.systems],
            "verdict": [one.verdict for one in answers.systems],
            "share": [one.share for one in answers.systems],
            "margin": [one.margin for one in answers.systems],
            "least_change": [
                one.nearest["own"].total_change.change if "own" in one.nearest else None for one in answers.systems
            ],
        }
        notes = [answers.conditions_reason] if answers.conditions_reason else []
        title = f"Who can win under {key}"
        return SystemProspects(title, columns, notes, answers, backend=self._backend)

    def significance(self, rule: str = "borda", **settings: Any) -> SeparablePairs:  # noqa: ANN401
        """Say which systems of consecutive ranks differ significantly: sign-flip tests with Holm's adjustment.

        Args:
            rule: its key or name.
            settings: further ones of the engine's `significance`, such as `level`, `scale`, `pool`, `seed`.

        Raises:
            ValueError: an unknown rule, one that gives no ranking here, or a setting out of its range.
        """
        from ranking_engine.stability.separability.pair_tests import VERDICTS  # noqa: PLC0415 -- loaded when asked for
        from ranking_engine.stability.separability.significance import significance  # noqa: PLC0415

        ranked = self.rank(rule)
        if ranked.status != "ranked":
            raise ValueError(f"{ranked.title} gives no ranking: {ranked.reason or 'it names winners alone'}")
        tests = significance(self._reweighted(), ranked.ranking, missing=self.missing, **settings)
        pairs = tests.neighbours
        columns = {
            "system": [self.systems[i] for i in pairs.pairs[:, 0].tolist()],
            "next": [self.systems[i] for i in pairs.pairs[:, 1].tolist()],
            "difference": numbers(pairs.differences),
            "p_value": numbers(pairs.p_values),
            "adjusted": numbers(pairs.adjusted),
            "verdict": [VERDICTS[code] for code in pairs.verdicts.tolist()],
        }
        title = f"Which neighbours differ significantly under {ranked.title}"
        notes = [f"tested: {tests.tested_text}", f"{tests.n_clusters} clusters of tasks, taken as independent"]
        return SeparablePairs(title, columns, notes, tests, self.systems, backend=self._backend)

    def intervals(self, rule: str = "borda", **settings: Any) -> RankIntervalTable:  # noqa: ANN401
        """Say between which ranks each system is if the same tasks were drawn again with replacement.

        Args:
            rule: its key or name.
            settings: further ones of the engine's `rank_intervals`: `n_resamples`, `level`, `seed`, `simultaneous`.
                By default 4,000 draws as on a site, which gives slow rules fewer; 1,000 with more than 300 systems.

        Raises:
            ValueError: an unknown rule, or a setting out of its range.
        """
        from ranking_engine.stability.bootstrap import rank_intervals  # noqa: PLC0415 -- loaded when asked for

        ranked = self.rank(rule)
        key = ranked.rule
        drawn = rank_intervals(self._reweighted(), [key], missing=self.missing, **settings)
        lower = dict(zip(self.systems, drawn.lower[key].tolist(), strict=True)) if key in drawn.lower else {}
        upper = dict(zip(self.systems, drawn.upper[key].tolist(), strict=True)) if key in drawn.upper else {}
        names = ranked.columns["system"]
        columns = {
            "system": names,
            "rank": ranked.columns["rank"],
            "lower": [lower[name] if lower.get(name, -1) > 0 else None for name in names],
            "upper": [upper[name] if upper.get(name, -1) > 0 else None for name in names],
        }
        reasons = [drawn.reason, drawn.undefined.get(key, ""), drawn.skipped.get(key, "")]
        title = f"{100 * drawn.level:g} % intervals of ranks under {ranked.title}"
        return RankIntervalTable(title, columns, [text for text in reasons if text], drawn, backend=self._backend)

    def study(self, study: str, *, seed: int = 0, **parameters: Any) -> StudyTable:  # noqa: ANN401
        """Run a study: how much the rankings change when scores, tasks or systems change.

        Args:
            study: its key, such as "missing_scores" or "task_subsets"; `plurank.STUDIES` has all, with what they ask.
            seed: of the random numbers, 0 or more; the same seed gives the same bits.
            parameters: those that differ from the study's defaults, such as `n_repeats=20`, `rules=["borda"]`.

        Raises:
            ValueError: an unknown study or parameter, one out of its range, or a board about which the study says
                nothing.
        """
        from ranking_engine.command_line.stability import slow_rule_notes  # noqa: PLC0415 -- loads every study
        from ranking_engine.command_line.study_figures import summary_rows  # noqa: PLC0415
        from ranking_engine.stability.catalogue import EXPERIMENTS, checked_parameters, run_study  # noqa: PLC0415

        key = "_".join(study.casefold().replace("-", " ").replace("_", " ").split())
        if key not in EXPERIMENTS:
            close = CloseNames(EXPERIMENTS).suggestion(study) or f"; there are {', '.join(EXPERIMENTS)}"
            raise ValueError(f"there is no study {study[:60]!r}{close}")
        named = dict(parameters)
        if "rule" in named:
            named["rule"] = rule_key(named["rule"])
        if "rules" in named:
            named["rules"] = [rule_key(rule) for rule in named["rules"]]
        checked = checked_parameters(key, named)
        result = run_study(key, self._reweighted(), checked, seed)
        names = ("rule", "figure", "place", "value")
        columns = dict(zip(names, map(list, zip(*summary_rows(key, result.summary), strict=True)), strict=False))
        record = EXPERIMENTS[key]
        left_out = result.summary.get("not_studied", {})
        notes = [record.question, record.source, *(f"{rule} is left out: {why}" for rule, why in left_out.items())]
        notes += slow_rule_notes(result.summary)
        return StudyTable(record.name, columns, notes, key, result, checked, seed, backend=self._backend)

    def what_if(
        self,
        weights: Mapping[str, WeightLike] | Sequence[WeightLike],
        rule: str = "borda",
        **options: Any,  # noqa: ANN401
    ) -> RankChanges:
        """Say whose rank under a rule changes if the tasks had other weights.

        Args:
            weights: by task, the others keep theirs; or one per task.
            rule: its key or name.
            options: of the rule.

        Raises:
            ValueError: an unknown task or rule, or weights that are negative or all 0.
        """
        before, after = self.rank(rule, **options), self.with_weights(weights).rank(rule, **options)
        difference = RankDifference.between(before.ranking, after.ranking)
        moves = {i: difference.move(i) for i in range(self.matrix.n_systems)}
        order = sorted(moves, key=lambda i: (moves[i].after is None, moves[i].after or 0, self.systems[i]))
        columns = {
            "system": [self.systems[i] for i in order],
            "before": [moves[i].before for i in order],
            "after": [moves[i].after for i in order],
            "places": [moves[i].places for i in order],
        }
        n_moved = sum(not move.is_same for move in moves.values())
        title = (
            f"{after.title} with other weights: {n_moved} of {len(ranks_of(after.ranking))} systems change their rank"
        )
        return RankChanges(title, columns, [], backend=self._backend)

    def _reweighted(self) -> ScoreMatrix:
        """The matrix with the weights of the aggregation.

        Raises:
            ValueError: two steps have no one set of weights.
        """
        if self.aggregation == "two_step":
            raise ValueError('not for the aggregation "two_step", which has no one set of weights')
        return reweighted(self.matrix, self.aggregation)

    def to_frame(self, backend: str | None = None) -> Any:  # noqa: ANN401 -- of whichever library
        """Return the scores as a data frame, one row per system; see `ResultTable.to_frame`."""
        return scores_frame(self.systems, self.tasks, self.matrix.values, backend or self._backend)
