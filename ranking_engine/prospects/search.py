"""Who can win: the verdict of every system, with weights or a certificate, and what is known of its chances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ranking_engine.core.linear_programs import SolverError
from ranking_engine.core.score_matrix import FloatArray, ScoreMatrix
from ranking_engine.prospects import exact, nearest as near
from ranking_engine.prospects.candidates import edge_weights
from ranking_engine.prospects.conditions import Conditions
from ranking_engine.prospects.contest import NO_TASK, Contest, TermLeads, Terms
from ranking_engine.prospects.decisions import UNDECIDED, Decision, decide
from ranking_engine.prospects.exact_programs import MAX_TASKS, least_largest_change, least_total_change, least_weight_on
from ranking_engine.prospects.problem import MAJORITY, Problem, take_apart, with_all_tasks
from ranking_engine.prospects.programs import Budget, OutOfSteps, WeightProgram, margin_program, set_weight_program
from ranking_engine.prospects.rescaled import decide_rescaled
from ranking_engine.prospects.results import Nearest, Prospect, Prospects, Verdict, WeightChange
from ranking_engine.prospects.shares import drawn_weights, winning_share

Progress = Callable[[int, int], None]

_OBJECTIVE_ERROR = Fraction(1, 10**6)
_UNEVEN = 2**16  # tasks whose leads are further apart than that are left to programs in fractions
_MAX_EXACT_TASKS = 30  # beyond, fractions are tried only where floats find no weights at all
_OUT_OF_STEPS = "not reached within the number of steps allowed"
_UNVERIFIED = "neither weights nor a certificate passed the exact verification"


def prospects(
    matrix: ScoreMatrix,
    *,
    systems: Sequence[str] | None = None,
    rival: str | None = None,
    conditions: Conditions | None = None,
    rule: str = MAJORITY,
    all_tasks: bool = False,
    by_group: bool = False,
    missing: str = "drop_systems",
    ties: str | None = None,
    n_draws: int = 10_000,
    seed: int = 0,
    nearest: bool = True,
    needed: bool = True,
    max_steps: int | None = None,
    progress: Progress | None = None,
) -> Prospects:
    """Say of every system whether some weights of the tasks make it win, with evidence.

    A system wins where it loses to no one: under the rule `majority`, no rival is above it on more weight than below
    it (a weak Condorcet winner); under a rule on points, no rival has more points.

    Args:
        matrix: the scores; its own weights matter to `nearest` and to which tasks vote, and to nothing else.
        systems: the names of those to look at, with all others still their rivals; None for all.
        rival: the only rival to beat; None for all others. `strict` means then that some weights put the system
            above it, and at the nearest weights the two are level, unless the system was not below to begin with:
            any further change in the same direction puts it above.
        conditions: on the weights.
        rule: one of RULES.
        all_tasks: let tasks of weight 0 vote, too.
        by_group: give weights to groups of tasks; within a group the tasks keep the proportions of their own weights.
            Weights are by group then: `group G`, or the name of a task without a group.
        missing: what becomes of missing scores under the rules on points, a key of MISSING_POLICIES. Under `majority`
            a pair is compared on the tasks that both have, and without any it ties.
        ties: the convention of `borda`, `plurality` and `dowdall` for ties within a task; None for the rule's own.
        n_draws: weightings drawn for the shares; 0 for no shares.
        seed: of the draws.
        nearest: find the smallest changes of weights that make a system win.
        needed: find the tasks that a system cannot win without.
        max_steps: solve no more linear programs than this, the conditions' own apart; systems without a verdict by
            then are undecided.
        progress: called with the number of systems done and their number.

    Raises:
        ValueError: an unknown rule, policy, convention or system, a system that is its own rival, or a ConditionError.
    """
    conditions = conditions or Conditions()
    voting = with_all_tasks(matrix) if all_tasks else matrix
    conditions.check(voting)
    chosen = [_system_index(matrix, name) for name in (matrix.system_names if systems is None else systems)]
    against = None if rival is None else _system_index(matrix, rival)
    if rival is not None and systems is not None and rival in systems:
        raise ValueError(f"`rival` is {rival!r}, which is the system itself")
    problem, reasons = take_apart(matrix, rule, all_tasks=all_tasks, by_group=by_group, missing=missing, ties=ties)
    search = None if problem is None else ProspectSearch(problem, conditions, n_draws, seed, max_steps)
    verdicts = []
    for i in chosen:
        if i == against:
            continue
        reason = reasons.get(i, "")
        if not reason and rival is not None and against in reasons:
            reason = f"{rival}: {reasons[against]}"
        if search is None or reason:
            verdicts.append(Prospect(matrix.system_names[i], "no_scores", reason=reason))
        else:
            verdicts.append(search.prospect(i, against, nearest=nearest, needed=needed))
        if progress is not None:
            progress(len(verdicts), len(chosen))
    if search is not None:
        return search.summed_up(verdicts)
    tasks = tuple(name for name, votes in zip(matrix.task_names, voting.votes, strict=True) if votes)
    return Prospects(tuple(verdicts), tasks, rule, n_draws, seed, conditions=conditions.texts)


def pair_prospect(matrix: ScoreMatrix, system: str, rival: str, **options: Any) -> Prospect:  # noqa: ANN401 -- passed on
    """Say which weights put `system` equal to `rival` or above it, and the least changes that do.

    `options` are those of `prospects`.
    """
    return prospects(matrix, systems=[system], rival=rival, **options).systems[0]


def _system_index(matrix: ScoreMatrix, name: str) -> int:
    if name not in matrix.system_names:
        raise ValueError(f"unknown system {name!r}")
    return matrix.system_names.index(name)


class ProspectSearch:
    """Prospects of the systems of one problem; linear programs are built once and used for all of them."""

    def __init__(
        self, problem: Problem, conditions: Conditions, n_draws: int, seed: int, max_steps: int | None
    ) -> None:
        self._problem, self._conditions = problem, conditions
        self._n_draws, self._seed = n_draws, seed
        self._budget = Budget(max_steps)
        self._is_complete = True
        self._n_steps_of_conditions = 0
        rows = [problem.over_names(row) for row in conditions.rows(problem.part)]
        self._terms = Terms.of(rows, len(problem.names))
        self._margins = margin_program(len(problem.names), self._terms.floats)

    @cached_property
    def conditions_reason(self) -> str:
        """Why no weights satisfy the conditions; empty where some do."""
        if not len(self._terms.exactly):
            return ""
        budget = Budget()
        verdict = self._verdict_on_conditions(budget)
        self._n_steps_of_conditions = budget.n_steps
        if verdict == "none":
            return "no weights satisfy the conditions"
        return "whether any weights satisfy the conditions could not be decided" if verdict == "undecided" else ""

    def _verdict_on_conditions(self, budget: Budget, without: frozenset[int] = NO_TASK) -> Verdict:
        """Decide whether weights satisfy the conditions: the conditions' rows take the place of rivals."""
        n_rows, n_tasks = self._terms.exactly.shape
        none = Terms.of([], n_tasks)
        contest = Contest(TermLeads(self._terms), 0, np.arange(n_rows), none)
        return decide(contest, margin_program(n_tasks, none.floats), budget, without).verdict

    @cached_property
    def _draws(self) -> FloatArray:
        return drawn_weights(self._n_draws, self._terms.floats.shape[1], self._seed, self._terms.floats)

    @cached_property
    def _origins(self) -> dict[str, near.NearestWeights]:
        T = len(self._problem.names)
        equal = (Fraction(1, T),) * T
        origins = {"equal": near.NearestWeights(equal, self._terms.floats)}
        own = self._problem.own
        if own is not None:
            origins["own"] = origins["equal"] if own == equal else near.NearestWeights(own, self._terms.floats)
        return origins

    @cached_property
    def _objective(self) -> tuple[list[Fraction], WeightProgram] | None:
        objective = self._conditions.objective
        if objective is None:
            return None
        members = self._problem.over_names(objective.of.indicator(self._problem.part))
        sign = 1.0 if objective.goal == "minimise" else -1.0
        cost = np.array([sign * float(entry) for entry in members])
        return members, set_weight_program(cost, self._terms.floats)

    def summed_up(self, prospects: Sequence[Prospect]) -> Prospects:
        """Return the prospects of all systems with what was computed for all of them."""
        return Prospects(
            tuple(prospects),
            self._tasks,
            rule=self._problem.rule,
            n_draws=self._n_draws,
            seed=self._seed,
            conditions_reason=self.conditions_reason,
            n_steps=self._budget.n_steps + self._n_steps_of_conditions,
            is_complete=self._is_complete,
            conditions=self._conditions.texts,
        )

    def prospect(self, i: int, against: int | None = None, *, nearest: bool = True, needed: bool = True) -> Prospect:
        """Find the prospect of system i, against all rivals or one; both are ranked."""
        problem, k = self._problem, self._problem.place[i]
        if against is None:
            rivals = np.delete(np.arange(problem.part.n_systems), k)
        else:
            rivals = np.array([problem.place[against]])
        contest = Contest(problem.leads, k, rivals, self._terms)
        prospect = Prospect(
            problem.matrix.system_names[i],
            "undecided",
            reason=_OUT_OF_STEPS,
            n_incomparable=problem.n_incomparable(k, rivals),
        )
        try:
            if self.conditions_reason:
                return replace(prospect, reason=self.conditions_reason)
            decision = self._decided(contest, k)
            prospect = self._with_verdict(prospect, contest, decision)
            if prospect.is_prospective:
                prospect = self._with_objective(prospect, contest, k)
                prospect = self._with_nearest(prospect, contest, decision) if nearest else prospect
                prospect = self._with_needed(prospect, contest, k) if needed else prospect
                n_incomparable = problem.n_incomparable(k, rivals, prospect.weights)
                prospect = replace(prospect, n_incomparable=n_incomparable)
        except OutOfSteps:
            self._is_complete = False
        if not self._n_draws or prospect.verdict in ("no_scores", "undecided"):
            return prospect
        if prospect.verdict == "none":
            return replace(prospect, share=0.0, share_error=0.0)
        if (estimate := winning_share(contest.leads, self._draws)) is None:
            return prospect
        lower, upper = estimate.interval or (None, None)
        return replace(
            prospect,
            share=estimate.share,
            share_error=estimate.error,
            share_bound=estimate.bound,
            share_lower=lower,
            share_upper=upper,
        )

    def _decided(self, contest: Contest, k: int, without: frozenset[int] = NO_TASK) -> Decision:
        """Decide the contest of row k of the problem.

        Where only tasks weigh on which it has no score, it is not ranked and wins nothing. Such tasks change no lead,
        so that they weigh nothing here unless there are conditions, which may demand it.
        """
        unscored = self._problem.unscored(k)
        if len(without | unscored) == len(self._tasks):
            return Decision("none")
        if not unscored or not len(self._terms.exactly):
            return self._decided_without(contest, k, without | unscored)
        decision = self._decided_without(contest, k, without)
        scored = [t for t in range(len(self._tasks)) if t not in unscored]
        if not decision.numerators or any(decision.numerators[t] for t in scored):
            return decision
        numerators = (
            least_weight_on(contest, unscored, self._budget, without) if len(self._tasks) <= MAX_TASKS else None
        )
        if numerators is None:
            return UNDECIDED
        if any(numerators[t] for t in scored):
            return replace(decision, numerators=numerators)
        return Decision("none", margin=decision.margin)

    def _decided_without(self, contest: Contest, k: int, without: frozenset[int]) -> Decision:
        """Decide, on tasks of even scale where theirs are too far apart; the tasks `without` weigh nothing."""
        try:
            decision = decide(contest, self._margins, self._budget, without)
        except SolverError:
            decision = UNDECIDED
        if decision.verdict == "undecided":
            return decide_rescaled(contest, self._problem.leads, k, self._budget, without) or decision
        return decision

    @cached_property
    def _is_uneven(self) -> bool:
        """Whether tasks are on scales so far apart that floats may not find the edge of a winning region."""
        known = [spread for spread in self._problem.leads.spreads or () if spread > 1]
        return len(known) > 1 and max(known) // min(known) > _UNEVEN

    def _with_verdict(self, prospect: Prospect, contest: Contest, decision: Decision) -> Prospect:
        """Put names to a decision."""
        if decision.verdict == "undecided":
            return replace(prospect, reason=_UNVERIFIED)
        certificate: dict[str, Fraction] = {}
        condition_shares: dict[int, Fraction] = {}
        if decision.certificate is not None:
            names = self._problem.part.system_names
            rivals = [names[k] for k in contest.rivals.tolist()]
            certificate = exact.positive_shares(rivals, decision.certificate.rivals)
            condition_shares = {k: share for k, share in enumerate(decision.certificate.terms) if share}
        return replace(
            prospect,
            verdict=decision.verdict,
            weights=self._named(decision.numerators),
            margin=decision.margin,
            certificate=certificate,
            condition_shares=condition_shares,
            reason="",
        )

    def _named(self, numerators: Sequence[int]) -> dict[str, Fraction]:
        """Return the positive weights by task."""
        return exact.positive_shares(self._tasks, numerators) if numerators else {}

    @property
    def _tasks(self) -> tuple[str, ...]:
        return self._problem.names

    def _with_objective(self, prospect: Prospect, contest: Contest, k: int) -> Prospect:
        """Move the weights to the objective's optimum, unless no task weighs there on which the system has a score."""
        if self._objective is None:
            return prospect
        members, program = self._objective
        T = len(members)
        try:
            optimum = program.solve(contest.leads, np.full(T, 1 / T), self._budget)
        except SolverError:
            return prospect
        if optimum is None:
            return prospect
        scored = [t for t in range(T) if t not in self._problem.unscored(k)]
        reached = float(optimum.weights @ [float(entry) for entry in members])
        for numerators in edge_weights(contest, np.maximum(optimum.weights, 0), {}, 0.0):
            lead = contest.least_lead(numerators)
            if lead is None or lead < 0 or not any(numerators[t] for t in scored):
                continue
            shares = exact.as_shares(numerators)
            objective = sum((share * entry for share, entry in zip(shares, members, strict=True)), Fraction(0))
            if abs(objective - Fraction(reached)) < _OBJECTIVE_ERROR:
                return replace(prospect, weights=self._named(numerators), objective=objective)
        return prospect

    def _with_nearest(self, prospect: Prospect, contest: Contest, decision: Decision) -> Prospect:
        nearest: dict[str, Nearest] = {}
        for name, origin in self._origins.items():
            if name == "own" and origin is self._origins["equal"] and "equal" in nearest:
                nearest["own"] = nearest["equal"]
                continue
            total = largest = None
            if not self._is_uneven or len(self._tasks) > _MAX_EXACT_TASKS:
                try:
                    total = origin.total_change(contest, decision.numerators, self._budget)
                    largest = origin.largest_change(contest, decision.numerators, self._budget)
                except SolverError:
                    total = largest = None
            if len(self._tasks) <= MAX_TASKS:
                if total is None:
                    total = least_total_change(contest, origin.numerators, self._budget)
                if largest is None:
                    largest = least_largest_change(contest, origin.numerators, self._budget)
            if total is not None and largest is not None:
                nearest[name] = Nearest(
                    WeightChange(self._named(total), float(near.changes(total, origin.numerators)[0])),
                    WeightChange(self._named(largest), float(near.changes(largest, origin.numerators)[1])),
                )
        return replace(prospect, nearest=nearest)

    def _with_needed(self, prospect: Prospect, contest: Contest, k: int) -> Prospect:
        """Find the tasks without which it cannot win: those where a weight of 0 has a certificate."""
        changes = [change for n in prospect.nearest.values() for change in (n.total_change, n.largest_change)]
        unscored, has_conditions = self._problem.unscored(k), len(self._terms.exactly) > 0
        scored = {name for t, name in enumerate(self._tasks) if t not in unscored}
        known = [prospect.weights, *(change.weights for change in changes if not scored.isdisjoint(change.weights))]
        candidates = [t for t, name in enumerate(self._tasks) if all(name in weights for weights in known)]
        # Leave out tasks that weigh nothing in some winning weights, as far as a few linear programs show.
        n_before = len(self._tasks) + 1
        removed = np.array(sorted(unscored), dtype=np.intp)
        can_tell = not self._is_uneven and not (unscored and has_conditions)
        while candidates and len(candidates) < n_before and can_tell:
            n_before = len(candidates)
            is_candidate = np.isin(np.arange(len(self._tasks)), candidates).astype(np.float64)
            self._least.program.set_cost(is_candidate)
            try:
                optimum = self._least.solve(contest.leads, is_candidate / n_before, self._budget, removed)
            except SolverError:
                break
            if optimum is not None:
                candidates = [t for t in candidates if optimum.weights[t] > exact.SUPPORT]
        needed = []
        while candidates:
            t = candidates.pop(0)
            is_spared = len(self._tasks) > 1 and (
                not has_conditions or self._verdict_on_conditions(self._budget, frozenset({t})) != "none"
            )
            decision = self._decided(contest, k, frozenset({t})) if is_spared else Decision("none")
            is_needed = decision.verdict == "none"
            if decision.verdict == "undecided" and len(self._tasks) <= MAX_TASKS:
                # Fractions may show what floats do not: that every winning weighting has weight on task t.
                least = least_weight_on(contest, {t}, self._budget)
                is_needed = least is not None and least[t] > 0
            if is_needed:
                needed.append(self._tasks[t])
            elif decision.numerators:
                candidates = [s for s in candidates if decision.numerators[s]]
        return replace(prospect, needed_tasks=tuple(needed))

    @cached_property
    def _least(self) -> WeightProgram:
        return set_weight_program(np.zeros(len(self._tasks)), self._terms.floats)
