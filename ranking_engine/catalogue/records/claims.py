"""Which properties several rules have together, and why: what their records share."""

from __future__ import annotations

ALWAYS = frozenset({"transitivity", "anonymity", "non_dictatorship"})
ADDITIVE = ALWAYS | {"monotonicity", "consistency", "participation"}
PARETIAN = ADDITIVE | {"unanimity"}
BORDA = PARETIAN | {"condorcet_loser", "reversal_symmetry"}
OWN_SCORES = PARETIAN | {"iia", "local_iia", "copies"}
MAJORITY = ALWAYS | {"majority", "condorcet_winner", "condorcet_loser"}
BY_MARGINS = MAJORITY | {"unanimity", "monotonicity", "reversal_symmetry"}

SAME_AS_BORDA = (
    "on complete scores it orders systems as Borda does (ties within a task one half each; benchbench and "
    "success_rate as Borda under worst)"
)
OWN_SCORES_WHY = {
    "unanimity": "each term, or each sorted score, is greater",
    "monotonicity": "scores rise with each of their terms",
}
OWN_SCORES_WHY_NOT = {
    "majority": "far behind on few tasks outweighs little ahead on many",
    "clones": "neighbours on every task may differ in scores; an exact copy changes nothing",
    "reversal_symmetry": "scores turned upside down do not turn the rule's score upside down",
}
SCORING_WHY = {
    "unanimity": "what a position is worth falls with every place, so each term is greater",
    "monotonicity": "Smith 1973, for scoring functions",
    "consistency": "Young 1975: scoring functions, composed ones too",
    "participation": "Moulin 1988: the task adds no less to X than to Y",
}
SCORING_WHY_NOT = {
    "majority": "Fishburn 1974; lower places count too",
    "condorcet_winner": "Fishburn 1974: no scoring rule always picks it",
    "condorcet_loser": "Fishburn and Gehrlein 1976: Borda's is the only scoring rule that never does",
}
BORDA_WHY = {
    **SCORING_WHY,
    "condorcet_loser": "Fishburn and Gehrlein 1976: its Borda score is below the average",
    "reversal_symmetry": "Saari and Barney 2003: points fall evenly from place to place",
}
BORDA_WHY_NOT = {
    **SCORING_WHY_NOT,
    "condorcet_loser": "by ties within a task; not under average",
    "reversal_symmetry": "a tie turned upside down still costs all who share it",
}
ROUNDS_WHY_NOT = {
    "monotonicity": "Smith 1973: scoring in rounds is not monotonic",
    "consistency": "Young 1975: only scoring functions are consistent",
    "participation": "Fishburn and Brams 1983; Moulin 1988",
}
BORDA_ROUNDS_WHY = {
    "majority": "a majority of places alone first keeps a Borda score above the average",
    "condorcet_winner": "Nanson 1882: its Borda score, with ties shared, is always above the average",
    "condorcet_loser": "its Borda score, with ties shared, is always below the average",
}
BORDA_ROUNDS_WHY_NOT = {
    **ROUNDS_WHY_NOT,
    "majority": "under best a tie raises all who share it",
    "condorcet_winner": "ties within a task change Borda scores and no victory; not so under average",
    "condorcet_loser": "by ties within a task; not under average",
}
VOTES_WHY_NOT = {
    **ROUNDS_WHY_NOT,
    "unanimity": "systems tied for removal leave in the same round",
    "condorcet_winner": "it may be first, or not last, on too few tasks in the first round",
    "condorcet_loser": "systems tied for removal leave or win together",
}
LIKE_BORDA_WHY = {
    **BORDA_WHY,
    **dict.fromkeys(("unanimity", "monotonicity", "consistency", "participation"), SAME_AS_BORDA),
}
LIKE_BORDA_WHY_NOT = {**SCORING_WHY_NOT, "iia": "a system's score is a mean over its rivals"}
