"""What becomes of every figure of the reference files: the peers' and the papers' answers.

Each entry is a pattern of files, a pattern of keys (joined by " > ", `*` within one key, `**` for all that follows), a
class, and the tests that compare it or the reason why none does. The first entry that fits a value classes it.

- EXACT: compared to 1e-9 or better, orders and names exactly.
- FEASIBILITY: which answers are possible is compared; the one given is the solver's choice.
- BOUND: ours may not be worse, or lies within a stated distance.
- EXCLUDED: not compared, for the reason given.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Class(Enum):
    EXACT = "exact"
    FEASIBILITY = "compare-feasibility"
    BOUND = "bound-only"
    EXCLUDED = "excluded-because"


@dataclass(frozen=True)
class Entry:
    files: str
    keys: str
    kind: Class
    tests: tuple[str, ...] = ()
    reason: str = ""


def exact(files: str, keys: str, *tests: str) -> Entry:
    return Entry(files, keys, Class.EXACT, tests)


def feasibility(files: str, keys: str, *tests: str) -> Entry:
    return Entry(files, keys, Class.FEASIBILITY, tests)


def bound(files: str, keys: str, *tests: str) -> Entry:
    return Entry(files, keys, Class.BOUND, tests)


def excluded(files: str, keys: str, reason: str) -> Entry:
    return Entry(files, keys, Class.EXCLUDED, reason=reason)


DESCRIBES = "says what was computed, and on what"
TIMES = "a time of the peer's"
ROW_ORDER = "ties are broken by the order of rows or by an unstable sort"
NAN = "its geometric mean is NaN for a system with a score <= 0, be it on a task of weight 0, and NaN count as tied"
NO_POINTS = "it gives a missing task no points, where ours is undefined, which is tested"
NOT_OURS = "not a rule or a figure of ours"
FAILS = "the peer fails, or is cut short by the clock"
EVERYBODY = "it returns everybody where there is no winner; the weak Condorcet winners and the Smith set are compared"
SOLVER = "the solver's choice among many"
OF_OTHERS = "follows from other values of the file, which are compared"

VOTENRANK = (
    excluded("votenrank-*", "models", DESCRIBES),
    excluded("votenrank-*", "tasks", DESCRIBES),
    excluded("votenrank-*", "weights > *", DESCRIBES),
    excluded("votenrank-*", "is_partial", DESCRIBES),
    excluded("votenrank-*", "n_*", DESCRIBES),
    excluded("votenrank-*", "rankings > * > order_as_returned", ROW_ORDER),
    exact("votenrank-*", "rankings > mean_geometric > scores > *", "test_geometric_means_are_those_of_votenrank"),
    excluded("votenrank-*", "rankings > mean_geometric > ties", NAN),
    excluded("votenrank-*", "winners > mean_geometric", NAN),
    *(
        excluded("votenrank-value-missing", keys, NO_POINTS)
        for rule in ("plurality", "borda", "dowdall", "threshold", "baldwin")
        for keys in (f"rankings > {rule} > **", f"winners > {rule}**", f"agreement > kendall_tau_b* > {rule}")
        if rule not in ("threshold", "baldwin") or keys.startswith("winners")
    ),
    exact("votenrank-*", "rankings > * > **", "test_scores_winners_and_ties_are_those_of_votenrank"),
    exact("votenrank-*", "winners > threshold", "test_winners_of_rules_without_scores_are_those_of_votenrank"),
    exact("votenrank-*", "winners > baldwin", "test_winners_of_rules_without_scores_are_those_of_votenrank"),
    exact(
        "votenrank-*",
        "winners > condorcet",
        "test_the_majority_relation_and_the_condorcet_winner_are_those_of_votenrank",
    ),
    exact("votenrank-*", "winners > *", "test_scores_winners_and_ties_are_those_of_votenrank"),
    exact(
        "votenrank-*",
        "majority_graph > **",
        "test_the_majority_relation_and_the_condorcet_winner_are_those_of_votenrank",
    ),
    excluded("votenrank-*", "agreement > rank_all_columns", DESCRIBES),
    excluded("votenrank-*", "agreement > tie_numbers_rank_all > *", "the tie numbers of `rankings` by other names"),
    *(
        exact(
            file,
            f"agreement > agreement_{end} > * > {rule}",
            "test_agreement_with_the_mean_is_that_of_votenrank_for_rules_without_ties",
        )
        for file, rules in (
            ("votenrank-superglue", ("OG", "Dowdall")),
            ("votenrank-value-nohuman", ("OG", "Dowdall", "Borda", "Copeland")),
        )
        for rule in rules
        for end in ("top", "least")
    ),
    excluded("votenrank-*", "agreement > agreement_* > **", ROW_ORDER),
    excluded("votenrank-*", "agreement > kendall_tau_peer_on_name_strings > *", "it correlates names in ABC order"),
    excluded("votenrank-*", "agreement > kendall_tau_of_positions_vs_mean > *", ROW_ORDER),
    excluded("votenrank-*", "agreement > kendall_tau_b_scores_vs_mean > mean_geometric", NAN),
    excluded(
        "votenrank-superglue",
        "agreement > kendall_tau_b_scores_vs_mean > optimality_gap_95",
        "a rounding error breaks a tie there",
    ),
    exact(
        "votenrank-*",
        "agreement > kendall_tau_b_scores_vs_mean > *",
        "test_tau_with_the_mean_is_that_of_the_scores_of_votenrank",
    ),
    feasibility("votenrank-*", "split > feasible > **", "test_who_can_win_is_as_votenrank_says"),
    excluded("votenrank-*", "split > strict > weights_of_max_margin > **", SOLVER),
    exact("votenrank-*", "split > **", "test_who_can_win_is_as_votenrank_says"),
)

PROSPECTS_FILE = "votenrank-prospective-without-zero-weight-tasks"
STUDIES_OF_VOTENRANK = (
    excluded(PROSPECTS_FILE, "superglue > weights_of_max_margin > **", SOLVER),
    exact(
        PROSPECTS_FILE,
        "superglue > **",
        "test_without_the_diagnostics_five_systems_can_win_superglue_and_four_of_them_strictly",
    ),
    exact("votenrank-iia", "* > methods > * > *", "test_the_papers_table_2_to_the_digit"),
    excluded("votenrank-iia", "* > peer_compute_iia > **", "the same figures again, one rule at a time"),
    excluded("votenrank-iia", "* > n_models", DESCRIBES),
    excluded("votenrank-iia", "* > repetitions", DESCRIBES),
    excluded("votenrank-iia", "* > *seconds*", TIMES),
    bound("votenrank-nan-stability", "* > repeats", "test_the_curves_are_those_of_the_paper_within_sampling_error"),
    excluded("votenrank-nan-stability", "* > mean > *", OF_OTHERS),
    excluded("votenrank-nan-stability", "* > mean_peer_nan_poisoned > *", "one NaN makes its mean NaN"),
    excluded("votenrank-nan-stability", "* > *seconds*", TIMES),
    *(excluded("votenrank-nan-stability", f"* > {key}", DESCRIBES) for key in ("range", "top_k", "n_models")),
)

PREFVOTING_SCORES = (
    "test_scores_are_those_of_pref_voting",
    "test_scores_and_winners_of_the_circle_are_those_of_pref_voting",
)
PREFVOTING_SETS = (
    "test_choice_sets_are_those_of_pref_voting",
    "test_winners_of_rules_on_majorities_are_those_of_pref_voting",
)
PREFVOTING_PATHS = ("test_winners_are_those_of_pref_voting",)
PREFVOTING_STRICT = (
    "test_winners_without_ties_within_tasks_are_those_of_pref_voting",
    "test_majorities_without_ties_within_tasks_are_those_of_pref_voting",
    "test_scores_and_winners_of_the_circle_are_those_of_pref_voting",
)
OTHER_METHODS = (
    "uc_fish", "uc_bordes", "bipartisan", "river_tb", "leximax", "stable_voting", "baldwin_put",
    "weak_nanson", "instant_runoff_put", "coombs_put", "bucklin", "benham", "raynaud",
)  # fmt: skip
FAILS_WITH_TIES = ("anti_plurality", "dowdall", "baldwin", "strict_nanson", "coombs")

PREFVOTING = (
    excluded("prefvoting-toy_ties", "**", "its table is not among the data"),
    excluded("prefvoting-*", "times > **", TIMES),
    *(excluded("prefvoting-*", key, DESCRIBES) for key in ("data", "systems", "votes_have_ties", "note")),
    *(excluded("prefvoting-*", f"* > {method}**", NOT_OURS) for method in OTHER_METHODS),
    excluded("prefvoting-*", "* > condorcet", EVERYBODY),
    exact("prefvoting-*", "ties > ranked_pairs", *PREFVOTING_PATHS),
    exact("prefvoting-*", "strict > ranked_pairs", *PREFVOTING_STRICT),
    excluded("prefvoting-*", "* > ranked_pairs > **", FAILS),
    exact("prefvoting-*", "ties > ranked_pairs_from_stacks", *PREFVOTING_PATHS),
    excluded("prefvoting-*", "* > ranked_pairs_from_stacks > **", FAILS),
    bound("prefvoting-*", "ties > split_cycle", *PREFVOTING_PATHS),
    bound("prefvoting-*", "strict > split_cycle", *PREFVOTING_STRICT),
    feasibility("prefvoting-*", "ties > ranked_pairs_tb", *PREFVOTING_PATHS),
    feasibility("prefvoting-*", "strict > ranked_pairs_tb", *PREFVOTING_STRICT),
    *(excluded("prefvoting-*", f"ties > {method}**", FAILS) for method in FAILS_WITH_TIES),
    excluded("prefvoting-*", "ties > instant_runoff", "no convention of ours for ties within a task"),
    exact("prefvoting-toy_cycle", "ties > plurality", *PREFVOTING_SCORES),
    excluded("prefvoting-*", "ties > plurality > **", FAILS),
    exact(
        "prefvoting-*",
        "ties > minimax_scores_margins > *",
        "test_minimax_margins_are_those_of_pref_voting_where_no_system_beats_all",
        *PREFVOTING_SCORES,
    ),
    exact("prefvoting-*", "ties > *_scores* > *", *PREFVOTING_SCORES),
    *(
        exact("prefvoting-*", f"ties > {key}", *PREFVOTING_SETS)
        for key in ("weak_condorcet", "smith_top_cycle", "copeland", "llull", "minimax", "borda")
    ),
    *(
        exact("prefvoting-*", f"ties > {key}", *PREFVOTING_PATHS)
        for key in ("schwartz_gocha", "uc_gill", "uc_mckelvey", "beat_path_schulze", "kemeny_young_winners")
    ),
    exact("prefvoting-*", "strict > **", *PREFVOTING_STRICT),
)

RANKY_SCORES = ("test_scores_are_those_of_ranky",)
RANKY_RATES = ("test_rates_are_those_of_ranky",)
RANKY = (
    excluded("ranky-toy", "matrix", DESCRIBES),
    feasibility("ranky-toy", "brute_force_swap", "test_the_toy_of_ranky_has_the_kemeny_order_of_its_brute_force"),
    excluded("ranky-toy", "kendall_tau_distance_ties", "made from tau-b, so that ties make it no count of swaps"),
    *(excluded("ranky-*", key, DESCRIBES) for key in ("data", "systems", "tasks", "note")),
    excluded("ranky-*", "rules > * > *seconds", TIMES),
    excluded("ranky-*", "rules > * > rank > *", "the order of the values, which are compared"),
    excluded("ranky-*", "rules > * > centrality > **", "the mean of a measure over the tasks, not a figure of ours"),
    *(
        exact("ranky-*", f"rules > {key} > values > *", *RANKY_SCORES)
        for key in ("score_mean", "majority_median", "borda_mean_rank_lower_better", "uninominal", "copeland")
    ),
    excluded("ranky-superglue22", "rules > pairwise_relative_difference > **", "it divides by sums of negative scores"),
    *(
        exact("ranky-*", f"rules > {key} > values > *", *RANKY_RATES)
        for key in (
            "pairwise_success_rate", "pairwise_success_rate_ties", "pairwise_success_rate_score",
            "pairwise_relative_difference",
        )
    ),
    excluded("ranky-*", "rules > **", NOT_OURS),
    excluded("ranky-*", "metrics > concordance_pearson", "correlates scores, not ranks: not a figure of ours"),
    exact("ranky-*", "metrics > *", "test_concordance_is_that_of_ranky"),
    excluded("ranky-*", "center > **", "a stochastic search"),
    excluded("ranky-*", "evolution_strategy > **", "a stochastic search"),
)  # fmt: skip

KNOWN_OPTIMA = "test_kemeny_distances_are_the_known_optima"
CORANKCO = "test_kemeny_distances_are_those_of_corankco"
CONSENSUS = (
    exact("kemeny-exact", "* > score", KNOWN_OPTIMA),
    exact("kemeny-exact", "* > lp_lower_bound", KNOWN_OPTIMA),
    feasibility("kemeny-exact", "* > order", KNOWN_OPTIMA),
    excluded("kemeny-exact", "* > *seconds", TIMES),
    excluded("kemeny-exact", "* > *", DESCRIBES),
    excluded("corankco", "toy_ties|* > **", "its table is not among the data"),
    excluded("corankco", "toy_5|* > **", "its table is not among the data"),
    excluded("corankco", "*_ties_allowed > **", "a consensus with ties, another problem than ours"),
    *(bound("corankco", f"*|{method}|* > kemeny_score", CORANKCO) for method in ("bioconsert", "copeland", "borda")),
    exact("corankco", "* > kemeny_score", CORANKCO),
    excluded("corankco", "* > consensus", "optima are not unique: distances are compared"),
    excluded("corankco", "* > *seconds", TIMES),
    excluded("corankco", "* > *", DESCRIBES),
)

TRUNCATED = "test_ranks_truncated_to_integers_give_the_figure_that_benchbench_returns"
BENCHBENCH = (
    *(
        exact(
            "benchbench-checks", f"* > {key}",
            "test_figures_are_those_of_benchbench_on_average_ranks_and_corrected_for_ties",
        )
        for key in ("W_average_ranks", "W_tie_corrected", "MRC_*")
    ),
    excluded("benchbench-checks", "* > W_peer_truncated", "the W of benchbench-diversity, which is compared"),
    excluded("benchbench-checks", "* > tied_rank_share", NOT_OURS),
    exact("benchbench-diversity", "* > W", TRUNCATED),
    exact("benchbench-diversity", "* > MRC", TRUNCATED),
    exact("benchbench-diversity", "* > mean", "test_means_are_those_of_benchbench"),
    exact("benchbench-diversity", "* > win_rate", "test_win_rates_are_those_of_benchbench"),
    excluded("benchbench-diversity", "* > W_cardinal_code", "another branch of its code, which counts NaN"),
    excluded("benchbench-diversity", "* > *seconds", TIMES),
    excluded("benchbench-diversity", "* > *", DESCRIBES),
)  # fmt: skip

ORDINAL = "test_the_systems_that_benchbench_selects_give_its_own_figures_and_no_more_than_ours"
CARDINAL = "test_the_weights_of_benchbench_give_its_own_figures_here"
ORDINAL_FILES = ("benchbench-sens-BigCode", "benchbench-sens-HELM-*")
SENSITIVITY = (
    exact("benchbench-sens-*", "*_loss > tau", CARDINAL),
    exact("benchbench-sens-*", "*_loss > MRC", CARDINAL),
    bound("benchbench-sens-*", "default > tau", ORDINAL, CARDINAL),
    *(bound(file, "default > MRC", ORDINAL) for file in ORDINAL_FILES),
    excluded("benchbench-sens-*", "default > MRC", "that of one of the two losses, which are compared"),
    *(exact(file, "default > n_invariant", ORDINAL) for file in ORDINAL_FILES),
    *(feasibility(file, "default > selected_systems", ORDINAL) for file in ORDINAL_FILES),
    excluded("benchbench-sens-*", "* > weights", "a gradient search's"),
    excluded("benchbench-sens-*", "default > *indices", "a greedy search's"),
    excluded("benchbench-sens-*", "* > seconds", TIMES),
    excluded("benchbench-sens-*", "**", DESCRIBES),
)
# The peer compares every bit of a score, and we 12 digits: the test gives our code its numbers unrounded.
PEERS_POINTS = "test_published_files_give_the_peers_tie_aware_points_to_the_digit"
INSTANCES = (
    exact("colombo-*", "tie_aware > * > *", PEERS_POINTS),
    exact("colombo-*", "mean > scores > *", PEERS_POINTS),
    *(excluded("colombo-*", f"{part} > **", "ties are broken by the processor's sort") for part in (
        "vectorised", "tau_b_argsort_vs_tie_aware", "top_argsort_vs_tie_aware", "one_level", "two_level",
    )),
    excluded("colombo-*", "mean > **", OF_OTHERS),
    excluded("colombo-*", "share_of_tied_pairs", NOT_OURS),
    excluded("colombo-*", "*", DESCRIBES),
)  # fmt: skip

MANIFEST = (
    *STUDIES_OF_VOTENRANK, *VOTENRANK, *PREFVOTING, *RANKY, *CONSENSUS, *BENCHBENCH, *SENSITIVITY, *INSTANCES,
)  # fmt: skip
