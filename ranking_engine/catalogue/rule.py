"""What a rule is: one record, from which everything else in the code that is about single rules is read.

A new rule is a record in `ranking_engine/catalogue/records`, a page in `docs/rules`, a test and a line in the
changelog; `python -m ranking_engine.axioms witness RULE` then searches and stores its counter-examples. Fields that may
be left out have a fallback that is right for every rule: without kernels, for instance, many boards are ranked one by
one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from numpy.typing import NDArray

from ranking_engine.core.profile import Outcome, Profile, TaskSum
from ranking_engine.core.score_matrix import BoolArray, FloatArray
from ranking_engine.kernels.pairs import Pairs
from ranking_engine.kernels.resamples import Resampled
from ranking_engine.kernels.tables import MatrixBatch

QUICK_SECONDS = 1.0

# What a rule looks at in a table: scores, positions on each task, or duels of every two systems.
SCORES, POSITIONS, DUELS = "scores", "positions", "duels"


@dataclass(frozen=True)
class Family:
    """A kind of rule: what its rules do, as in "it ...", and what they look at."""

    meaning: str
    reads: str


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "cardinal": Family("uses the size of the scores", SCORES),
        "positional": Family("gives points for places on the tasks", POSITIONS),
        "elimination": Family("removes systems round by round, the worst first", POSITIONS),
        "majority": Family("counts who beats whom head to head", DUELS),
        "consensus": Family("looks for the order that contradicts the tasks least", DUELS),
        "rates": Family("averages over rivals how often, or how far, one is ahead", DUELS),
    }
)


@dataclass(frozen=True)
class Number:
    """The range of a numeric option, both ends included, and its default."""

    default: float
    least: float
    most: float


@dataclass(frozen=True)
class Held:
    """Which properties a rule has, keys of `axioms.PROPERTIES`, and why; for complete scores, on every board.

    Attributes:
        own: those that it has under its own tie convention, or variant.
        under: those that it has under another one, where they differ.
        why: by property that it has: the paper, or the argument in a few words. What is true of every rule that has the
            property need not be said, see `axioms.table`.
        why_not: the same, by property that it lacks.
    """

    own: frozenset[str]
    under: Mapping[str, frozenset[str]] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)
    why_not: Mapping[str, str] = field(default_factory=dict)


class Omission(NamedTuple):
    """A table in which the first system gains by leaving out its score on one task.

    Attributes:
        table: the scores, as in "1 2|2 3|3 1": one row per system, all tasks better high.
        weight: that of the last task; the others weigh 1.
        task: the index of the task whose score is left out.
        before: the first system's rank with the score; None where a rule that only elects does not elect it.
        after: its rank without.
    """

    table: str
    weight: int
    task: int
    before: int | None
    after: int


@dataclass(frozen=True)
class ResampleKernel:
    """How all resamples of the tasks are scored at once where no score is missing.

    Attributes:
        scores: of a profile and task counts.
        adds_up: the scores are sums over the tasks drawn, so that they grow with the weight of these.
        needs_exact_weights: only where float64 holds every sum of weights exactly.
    """

    scores: Resampled
    adds_up: bool = False
    needs_exact_weights: bool = False


@dataclass(frozen=True)
class PairKernel:
    """How many boards are scored from the comparisons of all their systems at once.

    Attributes:
        scores: of the comparisons.
        adds_up: the scores are sums over the tasks drawn.
        needs_common: of comparisons that know the common weight of each two systems.
        winners: who wins, where that is not who has the highest score.
    """

    scores: Callable[[Pairs], FloatArray]
    adds_up: bool = False
    needs_common: bool = False
    winners: Callable[[Pairs], BoolArray] | None = None


@dataclass(frozen=True)
class RivalKernel:
    """How resamples of many systems are scored, a block of systems against all others at a time.

    Attributes:
        scores: of the weights won and lost, each of shape (n_resamples, n_systems of the block, n_systems).
        finish: what is made of the scores of all systems together.
    """

    scores: Callable[[NDArray[Any], NDArray[Any]], FloatArray]
    finish: Callable[[FloatArray], FloatArray] | None = None


@dataclass(frozen=True)
class Kernels:
    """How a rule scores many boards at once, under its own options; where a field is None they are ranked one by one.

    Attributes:
        tables: many tables of the same systems and tasks whose scores differ.
        draws: boards of some of the systems, on tasks that count several times or not at all.
        resamples: tasks that count several times or not at all, all systems, no score missing.
        pairs: the same from comparisons, whatever is missing.
        rivals: the same, of more systems than can all be compared at once.
        growing: every board that grows by one system at a time.
        judges_alone: a system's score does not depend on which others there are.
        seconds: what `tables`, `draws` and `pairs` take for one board of (n_systems, n_tasks), where that is much more
            than under most rules: a study may then rank fewer boards under this one. None where it is not.
        max_systems: up to so many systems `tables`, `draws` and `pairs` are faster than ranking one by one; None for no
            limit.
    """

    tables: Callable[[MatrixBatch], FloatArray] | None = None
    draws: Callable[[MatrixBatch], FloatArray] | None = None
    resamples: ResampleKernel | None = None
    pairs: PairKernel | None = None
    rivals: RivalKernel | None = None
    growing: Callable[[Profile], FloatArray] | None = None
    judges_alone: bool = False
    seconds: Callable[[int, int], float] | None = None
    max_systems: int | None = None

    def fit(self, n_systems: int) -> bool:
        """Whether many boards of so many systems are scored at once."""
        return self.max_systems is None or n_systems <= self.max_systems


@dataclass(frozen=True)
class Rule:
    """One ranking rule.

    Attributes:
        key: its name in the command line, the API and saved links.
        name: its name for readers.
        family: a key of FAMILIES.
        needs_complete: it needs every score, so that a missing-score policy applies; other (native) rules
            compare two systems on the tasks that both have, or see `expects_places`.
        cost: estimated seconds of one core for (n_systems, n_tasks), shared parts included.
        function: Profile and options to Outcome.
        summary: one plain sentence for a reader.
        source: the publication that defines it.
        advice: when to use it, in a sentence or two; its page in `docs/rules` says the same.
        held: which properties it has, and why.

    What a rule may leave out:
        tie_convention: the default for ties within a task, a key of TIES; None where ties need none.
        options: the values that each further option takes, the default first.
        parameters: options that must be given, each with the function that checks a value and returns it.
        numbers: numeric options, each with its range and default.
        task_sum: how its scores are sums over tasks, for tests of significance; None where they are not. Copeland,
            Minimax and the rules of the majority compare sums over tasks of two systems at a time, eliminations the
            sums of those that remain.
        is_slow: its time grows faster than that of comparing all pairs, so that it is computed where asked for.
        is_ranked_alone: it takes so long on large tables that it is not ranked together with others, as no slow rule
            is.
        max_systems: it is not computed for more ranked systems than this; None where there is no limit.
        kernels: how it scores many boards at once.
        of_many: how it ranks one of many boards, where that is faster: of a profile and the seconds, as estimated from
            the steps of a search, after which it stops. The same order as that of `function`; the details of a rule
            that searches are `proven` and `seconds`.
        rival_share: for n systems, how many parts the score is a mean of, one for each rival; 1 where it is their sum,
            None where rivals do not add parts of their own.
        points: the points of the places among n systems, best first; None for other rules.
        exact_points: what each task gives each system as exact fractions, from oriented scores and a tie convention,
            for proofs about all weights; None where there is no such proof.
        omission: by policy for missing scores, a table in which leaving out a score pays; searched where not stated.
        reads: SCORES, POSITIONS or DUELS where it looks at something else than its family.
        expects_places: a system without a score on a task counts as if any place there were equally likely; other
            native rules leave out the task where they compare it.
        reads_scales: it looks at scores only in relation to the chance level and the best score that tasks state.
        needs_positive: it has no answer about scores of 0 or below.
        elects_only: it elects one system and ranks no one else.
        groups_rule: the rule that ranks the groups' scores in the second of two steps; itself where empty.
        groups_need_positive: in the second step every score must be above 0.
        decided_detail: the detail of a ranking, and its value, that says that no tie was broken by name; None for rules
            that never look at names.
        winner_below: why a winner may be below rank 1.
        names_systems: the reasons that it gives may name systems.
        example_options: what it cannot do without, for the small table that every rule is worked through with.
        example_note: what it reads beside the scores there, as a sentence.
        least_options: what it cannot do without, for tables of a few systems.
        fixed_options: of a variant, the options that are stated for good; empty for the rules themselves.
    """

    key: str
    name: str
    family: str
    needs_complete: bool
    cost: Callable[[int, int], float]
    function: Callable[..., Outcome]
    summary: str
    source: str
    advice: str
    held: Held
    tie_convention: str | None = None
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parameters: Mapping[str, Callable[[object], Any]] = field(default_factory=dict)
    numbers: Mapping[str, Number] = field(default_factory=dict)
    task_sum: TaskSum | None = None
    is_slow: bool = False
    is_ranked_alone: bool = False
    max_systems: int | None = None
    kernels: Kernels = field(default_factory=Kernels)
    of_many: Callable[[Profile, float], Outcome] | None = None
    rival_share: Callable[[int], float] | None = None
    points: Callable[[int], FloatArray] | None = None
    exact_points: Callable[[FloatArray, str], NDArray[Any]] | None = None
    omission: Mapping[str, Omission] = field(default_factory=dict)
    reads: str = ""
    expects_places: bool = False
    reads_scales: bool = False
    needs_positive: bool = False
    elects_only: bool = False
    groups_rule: str = ""
    groups_need_positive: bool = False
    decided_detail: tuple[str, bool] | None = None
    winner_below: str = ""
    names_systems: bool = False
    example_options: Mapping[str, Any] = field(default_factory=dict)
    example_note: str = ""
    least_options: Mapping[str, Any] = field(default_factory=dict)
    fixed_options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_listed(self) -> bool:
        """Whether it is a column of every leaderboard; the others are computed where asked for."""
        return not (self.parameters or self.is_slow)

    @property
    def looks_at(self) -> str:
        """What it looks at: SCORES, POSITIONS or DUELS."""
        return self.reads or FAMILIES[self.family].reads

    @property
    def is_search(self) -> bool:
        """Whether it searches for the best order, and says of the one it returns whether there is another as good."""
        return self.decided_detail is not None and self.decided_detail[0] == "unique"

    def is_quick(self, n_systems: int, n_tasks: int) -> bool:
        """Whether the rule should take less than a second at this size."""
        return self.cost(n_systems, n_tasks) < QUICK_SECONDS

    def why_not_computed(self, n_systems: int) -> str:
        """Return why the rule is not computed for so many systems; empty where it is."""
        if self.max_systems is None or n_systems <= self.max_systems:
            return ""
        return f"not computed for more than {self.max_systems} systems (here {n_systems})"
