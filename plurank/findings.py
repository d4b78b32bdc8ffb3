"""What comparisons, searches and studies say about a board, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plurank.names import NameIndex
from plurank.tables import ResultTable

if TYPE_CHECKING:  # studies and tests take a quarter of a second to load
    from ranking_engine.core.comparison import Comparison
    from ranking_engine.prospects.results import Prospect, Prospects
    from ranking_engine.stability.bootstrap import RankIntervals
    from ranking_engine.stability.diversity import Diversity
    from ranking_engine.stability.separability.significance import Significance
    from ranking_engine.stability.separability.task_likeness import TaskLikeness
    from ranking_engine.stability.study import StudyResult


@dataclass(frozen=True, eq=False, repr=False)
class RuleComparison(ResultTable):
    """How far rules agree: Kendall's tau-b of every two of them.

    Attributes:
        comparison: every measure, as arrays of shape (n_rules, n_rules).
    """

    comparison: Comparison

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401 -- of matplotlib
        """Draw a heat map of tau-b; return the axes."""
        from plurank.plots import heat_map  # noqa: PLC0415 -- needs matplotlib

        return heat_map(self.comparison.names, self.comparison.kendall_tau, self.title, ax)


@dataclass(frozen=True, eq=False, repr=False)
class TaskAgreement(ResultTable):
    """How far the tasks agree among themselves: columns `measure` and `value`.

    Attributes:
        diversity: the engine's, with every two tasks' tau-b (Zhang and Hardt 2024; Colombo et al. 2022).
    """

    diversity: Diversity

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401 -- of matplotlib
        """Draw a heat map of the tau-b of every two tasks; return the axes."""
        from plurank.plots import heat_map  # noqa: PLC0415 -- needs matplotlib

        return heat_map(self.diversity.tasks, self.diversity.kendall_tau, self.title, ax)


@dataclass(frozen=True, eq=False, repr=False)
class SimilarTasks(ResultTable):
    """Which tasks order the systems alike: Kendall's tau-b of every two of them.

    Attributes:
        likeness: the engine's, with the tree of the tasks, their places on a map, and their effective number.
    """

    likeness: TaskLikeness


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceSetTable(ResultTable):
    """Who is best by head-to-head comparisons alone: a column for each choice set, True or False.

    The column `lottery` has the share of the maximal lottery as a fraction, `copy_proof_rating` a rating from 0 to 1
    that copies of tasks and of systems cannot move; missing where there is none.

    Attributes:
        cycles: names of systems that each beat the next, and the last one the first, a shortest cycle for each system
            that is on one.
        task_weights: by task its share of the mixture behind the copy-proof ratings.
    """

    cycles: tuple[tuple[str, ...], ...]
    task_weights: Mapping[str, float]


@dataclass(frozen=True, eq=False, repr=False)
class SystemProspects(ResultTable):
    """Who can win under some weights of the tasks, with the weights; who cannot, with a proof.

    Attributes:
        prospects: the engine's, with exact weights and certificates.
    """

    prospects: Prospects

    def of(self, system: str) -> Prospect:
        """Return one system's prospect with its evidence.

        Raises:
            ValueError: there is no such system.
        """
        systems = self.prospects.systems
        return systems[NameIndex([one.system for one in systems], "system").of(system, "system")]

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401 -- of matplotlib
        """Draw the share of all weightings under which each system wins; return the axes."""
        from plurank.plots import shares  # noqa: PLC0415 -- needs matplotlib

        return shares(self, ax)


@dataclass(frozen=True, eq=False, repr=False)
class SeparablePairs(ResultTable):
    """Which neighbours of a ranking differ significantly.

    Attributes:
        significance: the engine's, with all pairs and Friedman's test.
        systems: the names, in the board's order.
    """

    significance: Significance
    systems: tuple[str, ...]

    @property
    def groups(self) -> list[list[str]]:
        """Maximal runs of ranks within which no pair differs significantly, as names; they may overlap."""
        return [[self.systems[i] for i in run.systems] for run in self.significance.runs]

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401 -- of matplotlib
        """Draw the critical-difference diagram (Demšar 2006); return the axes.

        Raises:
            ValueError: Friedman's test says nothing about this board; the message says why.
        """
        from plurank.plots import critical_difference  # noqa: PLC0415 -- needs matplotlib

        return critical_difference(self, ax)


@dataclass(frozen=True, eq=False, repr=False)
class RankIntervalTable(ResultTable):
    """Between which ranks each system is if the same tasks were drawn again with replacement.

    Attributes:
        intervals: the engine's, with the whole distributions.
    """

    intervals: RankIntervals

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401 -- of matplotlib
        """Draw each system's interval; return the axes."""
        from plurank.plots import rank_intervals  # noqa: PLC0415 -- needs matplotlib

        return rank_intervals(self, ax)


@dataclass(frozen=True, eq=False, repr=False)
class StudyTable(ResultTable):
    """What a study measured: columns `rule`, `figure`, `place` (on a curve) and `value`.

    Attributes:
        study: its key.
        result: the engine's: `summary` as plain data, `arrays` with the whole distributions.
        parameters: all of them.
        seed: of the random numbers.
    """

    study: str
    result: StudyResult
    parameters: Mapping[str, Any]
    seed: int

    @property
    def summary(self) -> Mapping[str, Any]:
        """The figures as plain data; docs/studies.md says what each means."""
        return self.result.summary


@dataclass(frozen=True, eq=False, repr=False)
class RankChanges(ResultTable):
    """What other weights change: columns `system`, `before`, `after`, `places` (gained; below 0 where lost)."""
