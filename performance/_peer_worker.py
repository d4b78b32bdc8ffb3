"""Runs one peer's functions inside that peer's own environment, for peers.py: it needs numpy and the peer alone.

Reads one request a line (JSON: the case and its scores, systems x tasks, higher is better) and answers each with one
line: the least processor seconds of several runs, its children's included, and the result.
"""

import json
import os
import resource
import sys
import time

import numpy as np

MAX_RUNS = 5
ENOUGH_SECONDS = 2.0  # no further run after so much time
WARM_UP_SYSTEMS = 4  # the first call, on so few, compiles and imports what the others use


def cpu_seconds():
    """Processor time of this process and its finished children: some peers call a solver."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def ranky_cases():
    """Each case: from scores to a result."""
    import ranky

    def kemeny_young(m):
        # its 1,000 generations would take 20 minutes on 16 systems
        return ranky.kemeny_young(m, axis=1, verbose=False, maxiter=4, seed=0)

    return {
        "copeland": lambda m: ranky.copeland(m, axis=1),
        "success_rate": lambda m: ranky.pairwise(m, axis=1, wins=ranky.success_rate),
        "relative_difference": lambda m: ranky.pairwise(m, axis=1, wins=ranky.relative_difference),
        "borda": lambda m: ranky.borda(m, axis=1),
        "majority": lambda m: ranky.majority(m, axis=1),
        "kemeny_young": kemeny_young,
    }


def pref_voting_cases():
    """Strict orders only: most of its rules fail on ties. Answers are lists of winners, by row."""
    from pref_voting import c1_methods, iterative_methods, margin_based_methods, other_methods, scoring_methods
    from pref_voting.profiles import Profile

    def profile(scores):
        return Profile([np.argsort(-column).tolist() for column in scores.T])

    def kemeny(profile):
        orders, _ = other_methods.kemeny_young_rankings(profile)
        return [-list(orders[0]).index(i) for i in range(profile.num_cands)]

    rules = {
        "copeland": c1_methods.copeland,
        "smith_set": c1_methods.smith_set,
        "minimax": margin_based_methods.minimax,
        "beat_path": margin_based_methods.beat_path,
        "ranked_pairs_tb": margin_based_methods.ranked_pairs_tb,
        "borda": scoring_methods.borda,
        "plurality": scoring_methods.plurality,
        "baldwin": iterative_methods.baldwin,
        "strict_nanson": iterative_methods.strict_nanson,
        "instant_runoff": iterative_methods.instant_runoff,
        "coombs": iterative_methods.coombs,
        "kemeny_young_rankings": kemeny,
    }
    return {name: lambda scores, rule=rule: rule(profile(scores)) for name, rule in rules.items()}


def corankco_cases():
    """Exact Kemeny; answers are scores by row, minus the position in the order found."""
    import corankco.algorithms.parcons.parcons as parcons
    from corankco.algorithms.exact.exactalgorithmpulp import ExactAlgorithmPulp
    from corankco.dataset import Dataset
    from corankco.scoringscheme import ScoringScheme

    # It ships a free solver (PuLP with CBC), but without the commercial CPLEX its ExactAlgorithm and ParCons raise
    # NameError: a failed import is swallowed where the free one would take over. So the class is put in by hand.
    parcons.ExactAlgorithmCplexForPaperOptim1 = ExactAlgorithmPulp
    # It would rather tie systems than order them; with such a penalty it ties none.
    scheme = ScoringScheme([[0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [1e4, 1e4, 0.0, 0.0, 0.0, 0.0]])

    def solved_by(algorithm, scores):
        rankings = []
        for column in scores.T:
            values = sorted(set(column[~np.isnan(column)]), reverse=True)
            rankings.append([set(np.flatnonzero(column == value).tolist()) for value in values])
        consensus = algorithm().compute_consensus_rankings(Dataset.from_raw_list(rankings), scheme, True)
        given = [0] * len(scores)
        for place, bucket in enumerate(consensus.consensus_rankings[0]):
            for element in bucket:
                given[int(element.value)] = -place
        return given

    return {
        "ExactAlgorithmPulp": lambda scores: solved_by(ExactAlgorithmPulp, scores),
        "ParCons": lambda scores: solved_by(parcons.ParCons, scores),
    }


def benchbench_cases():
    """What it computes without torch."""
    import pandas as pd
    from benchbench.utils.base import rankdata
    from benchbench.utils.metric import get_rank_variance
    from benchbench.utils.win_rate import WinningRate

    def win_rate(scores):
        frame = pd.DataFrame(scores)
        return WinningRate(frame, list(frame.columns)).get_winning_rate()

    def diversity(scores):  # the body of its get_diversity, whose module imports torch
        return get_rank_variance([rankdata(-column, method="average") for column in scores.T])

    return {"WinningRate": win_rate, "get_diversity": diversity}


def evalica_cases():
    """Every pair of systems on every task is a comparison; a tie is half a win for both, as by default."""
    import evalica

    def comparisons(scores):
        above, below = np.triu_indices(len(scores), 1)
        signs = np.sign(scores[above] - scores[below])  # a row a pair, a column a task
        words = {1.0: evalica.Winner.X, -1.0: evalica.Winner.Y, 0.0: evalica.Winner.Draw}
        n_tasks = scores.shape[1]
        return np.repeat(above, n_tasks), np.repeat(below, n_tasks), [words[sign] for sign in signs.ravel().tolist()]

    def bradley_terry(scores, **options):
        result = evalica.bradley_terry(*comparisons(scores), **options)
        logs = np.log(result.scores.sort_index().to_numpy())
        return logs - logs.mean()

    def average_win_rate(scores):
        return evalica.average_win_rate(*comparisons(scores)).scores.sort_index().to_numpy()

    from votes._recipe import votes_of_recipe

    def of_votes(function, scores, **options):
        first, second, outcomes, _ = votes_of_recipe(scores)
        words = [evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw]
        return function(first, second, [words[outcome] for outcome in outcomes.tolist()], **options)

    def vote_strengths(scores, **options):
        logs = np.log(of_votes(evalica.bradley_terry, scores, **options).scores.sort_index().to_numpy())
        return logs - logs.mean()

    def newman(scores):
        result = of_votes(evalica.newman, scores, tolerance=1e-12, limit=10_000)
        logs = np.log(result.scores.sort_index().to_numpy())
        # Its v is half of Davidson's nu.
        return np.append(logs - logs.mean(), np.log(2 * result.v))

    return {
        "votes: bradley_terry": vote_strengths,
        "votes: to 1e-14": lambda scores: vote_strengths(scores, tolerance=1e-14, limit=100_000),
        "votes: newman to 1e-12": newman,
        "votes: elo": lambda scores: of_votes(evalica.elo, scores, k=30.0).scores.sort_index().to_numpy(),
        "bradley_terry": bradley_terry,
        "bradley_terry to 1e-14": lambda scores: bradley_terry(scores, tolerance=1e-14, limit=100_000),
        "average_win_rate": average_win_rate,
    }


def choix_cases():
    """Comparisons as (winner, loser)."""
    import choix

    def solved(solver, scores, **options):
        above, below = np.nonzero(~np.eye(len(scores), dtype=bool))
        wins = (scores[above] > scores[below]).sum(axis=1)
        pairs = np.repeat(np.stack([above, below], axis=1), wins, axis=0).tolist()
        values = solver(len(scores), pairs, **options)
        return values - values.mean()

    def of_orders(scores, **options):
        values = choix.ilsr_rankings(len(scores), np.argsort(-scores, axis=0).T.tolist(), **options)
        return values - values.mean()

    return {
        "ilsr_pairwise": lambda scores: solved(choix.ilsr_pairwise, scores, max_iter=10_000),
        "opt_pairwise": lambda scores: solved(choix.opt_pairwise, scores, alpha=0.0),
        "ilsr_rankings": of_orders,
        "ilsr_rankings to 1e-12": lambda scores: of_orders(scores, tol=1e-12),
    }


def posthocs_cases():
    """Rows are blocks, here tasks; it ranks the lowest first, which changes no difference of ranks."""
    import scikit_posthocs

    def differing(scores):
        return (scikit_posthocs.posthoc_nemenyi_friedman(scores.T).to_numpy() < 0.05).astype(float).ravel()

    return {"posthoc_nemenyi_friedman": differing}


def autorank_cases():
    """Tests as it does by itself are of normality too; the non-parametric way is forced, as ours is."""
    import autorank
    import pandas as pd

    def average_ranks(scores):
        frame = pd.DataFrame(scores.T, columns=[f"s{i:04d}" for i in range(len(scores))])
        result = autorank.autorank(frame, force_mode="nonparametric", verbose=False)
        return np.array([*result.rankdf["meanrank"].reindex(frame.columns), result.cd])

    return {"autorank": average_ranks}


def arena_rank_cases():
    """Ratings as strengths, coefficients where there are any, standard errors; the votes are made from a recipe."""
    import pandas as pd
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
    from arena_rank.utils.data_utils import ContextualPairDataset, PairDataset
    from votes._recipe import votes_of_recipe

    to_the_end = {"ftol": 0.0, "gtol": 1e-12, "hessian_reg": 1e-9}

    def frame(scores):
        first, second, outcomes, covariates = votes_of_recipe(scores)
        words = np.array(["model_a", "model_b", "tie"], dtype=object)[outcomes]
        named = {"x0": covariates[:, 0], "x1": covariates[:, 1]}
        return pd.DataFrame({"model_a": first, "model_b": second, "winner": words, **named})

    def figures(model, results):
        ratings = (np.asarray(results["ratings"]) - model.init_rating) / model.alpha
        errors = np.sqrt(np.asarray(results["variances"])) / model.alpha
        return np.concatenate([ratings, np.asarray(results.get("coeffs", [])), errors])

    def bradley_terry(scores, **options):
        dataset = PairDataset.from_pandas(frame(scores))
        model = BradleyTerry(n_competitors=len(dataset.competitors), **options)
        return figures(model, model.compute_ratings_and_cis(dataset))

    def contextual(scores):
        dataset = ContextualPairDataset.from_pandas(
            frame(scores), feature_cols=["x0", "x1"], reweighted=False, normalize_features=False
        )
        model = ContextualBradleyTerry(len(dataset.competitors), 2, reg=0.0, **to_the_end)
        return figures(model, model.compute_ratings_and_cis(dataset))

    return {
        "BradleyTerry": bradley_terry,
        "BradleyTerry to 1e-12": lambda scores: bradley_terry(scores, **to_the_end),
        "ContextualBradleyTerry": contextual,
    }


CASES = {
    "arena-rank": arena_rank_cases,
    "evalica": evalica_cases,
    "choix": choix_cases,
    "scikit-posthocs": posthocs_cases,
    "autorank": autorank_cases,
    "ranky": ranky_cases,
    "pref_voting": pref_voting_cases,
    "corankco": corankco_cases,
    "benchbench": benchbench_cases,
}


def answer(cases, request):
    """Time one case."""
    run = cases[request["case"]]
    scores = np.array(request["scores"], dtype=float)
    run(scores[:WARM_UP_SYSTEMS])
    times, started = [], time.perf_counter()
    while not times or (len(times) < MAX_RUNS and time.perf_counter() - started < ENOUGH_SECONDS):
        before = cpu_seconds()
        result = run(scores)
        times.append(cpu_seconds() - before)
    return {"seconds": min(times), "result": np.asarray(result, dtype=float).tolist()}


def main():
    """Answer requests until there are no more."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a peer prints is no answer
    cases = CASES[sys.argv[1]]()
    for line in sys.stdin:
        try:
            reply = answer(cases, json.loads(line))
        except Exception as error:  # noqa: BLE001 -- whatever it is, it goes into the peer's row
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
