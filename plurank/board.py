"""A board: scores of systems on tasks, with everything that can be asked about them."""

from __future__ import annotations

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
from plurank.matrices import described_matrix, direction_doubts, stated_directions
from plurank.names import NameIndex, check_settings, rule_key
from plurank.rankings import Leaderboard, RuleRanking
from plurank.scores import Scores, read_scores
from plurank.tables import numbers
from ranking_engine.catalogue.dispatch import rank_all
from ranking_engine.catalogue.registry import get_rule, in_order, listed_rules, read_variants
from ranking_engine.core.aggregation import check_aggregation, reweighted
from ranking_engine.core.comparison import LEAST, TOP, RankDifference, compare
from ranking_engine.core.missing import check_policy
from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.core.threshold import derived_gamma_of
from ranking_engine.core.weights import WeightLike
from ranking_engine.files.directions import beyond_scales
from ranking_engine.text.names import counted

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
        lower_is_better: the tasks on which less is better: their names, or True and False by name.
        weights: of the tasks, by name (1 where none is stated) or one per task: whole numbers, "1/3" or decimals, not
            negative, not all 0. A task of weight 0 does not vote.
        groups: the group of each task, by name or one per task.
        group_weights: the weight of each group, by name.
        clusters: which tasks depend on each other, by name or one per task; without it, those of one group.
        precision: the smallest difference on a task that means anything, by name or one per task.
        minimum, maximum, chance: the scale of each task, by name or one per task.
        gamma: the optimality threshold, in the tasks' unit; by default 95 % of the maximum that all voting tasks state.
        aggregation: how groups count: "basic", "weighted", "balanced" or "two_step". "weighted" multiplies the weights
            of tasks and groups: if some tasks have no group, ranks depend on the unit of the weights.
        missing: what becomes of missing scores under rules that need all: "undefined" (no ranking), "drop_systems",
            "drop_tasks", "worst", "median" or another key of `ranking_engine.MISSING_POLICIES`.
        variants: of rules, such as "copeland[variant=lower]", that `rank()` shows beside the quick rules.
        notes: remarks on how the scores were read, to be kept with them.

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
        lower_is_better: Iterable[str] | Mapping[str, bool] = (),
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
        variants: Iterable[str] = (),
        notes: Iterable[str] = (),
    ) -> None:
        check_aggregation(aggregation)
        check_policy(missing)
        self._aggregation, self._missing, self._variants = aggregation, missing, read_variants(list(variants))
        self._notes, self._backend = [*notes], None
        if isinstance(scores, ScoreMatrix):
            base = scores
        else:
            table = scores if isinstance(scores, Scores) else read_scores(scores, systems, tasks)
            self._backend = table.backend
            base = ScoreMatrix(table.values, system_names=table.systems, task_names=table.tasks)
        of_tasks = {
            "weights": weights, "groups": groups, "clusters": clusters, "precision": precision, "minimum": minimum,
            "maximum": maximum, "chance": chance,
        }  # fmt: skip
        matrix = described_matrix(
            base, of_tasks, lower_is_better=lower_is_better, group_weights=group_weights, gamma=gamma
        )
        if base is not scores:
            self._notes += direction_doubts(matrix, stated_directions(lower_is_better))
        self._notes += beyond_scales(matrix)
        derived = derived_gamma_of(matrix) if matrix.gamma is None else None
        self._is_gamma_derived = derived is not None
        if derived is not None:
            self._notes.append(f"gamma = {derived}; the argument `gamma` states another")
        self._matrix = matrix if derived is None else matrix.with_gamma(derived.gamma)

    def __repr__(self) -> str:
        return f"Board({counted(self.matrix.n_systems, 'system')}, {counted(self.matrix.n_tasks, 'task')})"

    @property
    def matrix(self) -> ScoreMatrix:
        """The scores as the engine has them, with all that is stated of the tasks."""
        return self._matrix

    @property
    def aggregation(self) -> str:
        """How groups count."""
        return self._aggregation

    @property
    def missing(self) -> str:
        """What becomes of missing scores."""
        return self._missing

    @property
    def variants(self) -> tuple[str, ...]:
        """Keys of the variants that are ranked beside the quick rules."""
        return self._variants

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on how the scores were read, and on what is odd about them."""
        return tuple(self._notes)

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
        matrix = self.matrix.with_weights(weights)
        matrix = matrix.with_gamma(None) if self._is_gamma_derived else matrix
        board = Board(matrix, aggregation=self.aggregation, missing=self.missing, variants=self.variants)
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
        keys = self._keys(rules)
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
        keys = self._keys(rules)
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
        notes = [likeness.reason or f"Effective number of tasks: {likeness.effective_number:.1f}"]
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

    def prospects(
        self,
        rule: str = "majority",
        *,
        conditions: str | Iterable[str] = (),
        **settings: Any,  # noqa: ANN401
    ) -> SystemProspects:
        """Say who can win under some weights of the tasks, with the weights; who cannot, with a proof.

        Args:
            rule: "majority" (to lose to no system in pairs), or a rule on points such as "borda".
            conditions: on the weights, such as "CoLA + RTE >= 0.3"; one or several.
            settings: further ones of `ranking_engine.prospects.prospects`, such as `systems`, `rival`, `by_group`,
                `n_draws`, `seed`.

        Raises:
            ValueError: an unknown rule, system or task, or a condition that cannot be read.
        """
        from plurank.winners import prospects_table  # noqa: PLC0415 -- loaded when asked for

        matrix = reweighted(self.matrix, self.aggregation)
        return prospects_table(matrix, rule, conditions, {"missing": self.missing, **settings}, self._backend)

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

        check_settings(significance, settings, "significance")
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

        check_settings(rank_intervals, settings, "intervals")
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
            parameters: those that differ from the study's defaults, such as `n_repeats=20`, `rules=["borda"]`; None is
                the default, so that the parameters that a site states can be passed on.

        Raises:
            ValueError: an unknown study or parameter, one out of its range, or a board about which the study says
                nothing.
        """
        from plurank.studies import study_table  # noqa: PLC0415 -- loads every study

        return study_table(self._reweighted(), study, seed, parameters, self._backend)

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
        title = f"{after.title} with other weights: {n_moved} of {self.matrix.n_systems} systems change their rank"
        return RankChanges(title, columns, [], backend=self._backend)

    def _keys(self, rules: Sequence[str]) -> list[str]:
        """The keys of rules that are named, each once; those that are ranked where none is named."""
        return list(dict.fromkeys(map(rule_key, rules))) or in_order([*listed_rules(), *self.variants])

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
