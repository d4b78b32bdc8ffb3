"""When to use each rule, in a sentence or two: what the pages of `docs/rules` say, for the site."""

WHEN_TO_USE = {
    "mean": (
        "Where all tasks have the same unit and a point on one is worth a point on any other. A task whose scores "
        "spread widely decides more than its weight says, and rescaling one task can change the order: where tasks "
        "have different units, take a rule that reads orders."
    ),
    "geometric_mean": (
        "Where scores are ratios, such as speed-ups over a baseline: it is the one mean whose order does not depend "
        "on the baseline. A single score near zero pulls a system down almost without bound."
    ),
    "median": (
        "Where single scores may be wild: half of the tasks can be anything without moving it. It says nothing about "
        "how good a system is on the tasks on which it is best or worst, and ties easily where there are few tasks."
    ),
    "normalized_mean": (
        "Where tasks have different scales, all of them known: it puts them on one. Scores below chance count "
        "negatively."
    ),
    "optimality_gap": (
        "Where scores beyond some level are as good as perfect, so that a system should not buy a weak task with a "
        "brilliant one."
    ),
    "plurality": (
        "Where only being the best somewhere matters. It ignores all but the first places and ties most of a long "
        "board."
    ),
    "borda": (
        "A good first look at a board without gaps: it uses every position of every task, is easy to explain, and "
        "moves little when one task changes. Adding or removing weak systems can change who wins."
    ),
    "dowdall": (
        "Between plurality and Borda: first places count much, low positions hardly differ. Well suited where the top "
        "of the board is what matters."
    ),
    "average_rank": (
        "The rank average of the machine learning literature, and of the Friedman test. It gives the order of Borda "
        "under the same tie convention; its scores are easier to read."
    ),
    "veto": (
        "Where failing badly anywhere is what disqualifies. Most of a long board is never last and ties for first: "
        "threshold asks the same question and goes on."
    ),
    "positional": (
        "Where the community has points that it understands: a championship's, a journal's. Plurality, Borda and veto "
        "are the vectors 1, 0, ..., 0 and n − 1, n − 2, ..., 0 and 0, ..., 0, −1."
    ),
    "threshold": (
        "Where weak spots must not be bought off by strong ones, however strong: no number of first places makes up "
        "for one more last place."
    ),
    "baldwin": (
        "Where Borda's use of whole orders is wanted without its dependence on weak systems, which leave before they "
        "can weigh."
    ),
    "nanson": (
        "As Baldwin, in fewer rounds: half of the board may leave at once, so that more systems tie at the lower end."
    ),
    "instant_runoff": (
        "Known from elections. On boards with more systems than tasks most systems are first nowhere and leave in the "
        "first rounds together, so that it says little below the top."
    ),
    "coombs": "Where the weakest are to be told apart before the strongest: who fails most leaves first.",
    "condorcet": (
        "As a question before all others: a Condorcet winner is the best answer there can be to pairwise questions, "
        "and rules that elect somebody else owe a reason."
    ),
    "copeland": (
        "The workhorse where scores are missing: it needs no policy, elects the Condorcet winner where there is one, "
        "and counts each rival once, however close the match. On short boards it ties often."
    ),
    "minimax": (
        "Where the question is whom the fewest tasks speak against. It looks at one rival for each system, so that it "
        "says little about the middle of the board."
    ),
    "schulze": (
        "Where circles are to be resolved by how strong their victories are, with gaps in the table. Used by many "
        "communities for elections, and the most studied rule of its kind."
    ),
    "ranked_pairs": (
        "As Schulze; the order it builds can be explained victory by victory. Where many victories are equally "
        "strong, names may decide the order that is shown, and never the winners: the result then says so."
    ),
    "kemeny": (
        "Where one consensus order of all systems is wanted, with a proof that there is no better one. It elects the "
        "Condorcet winner and puts the Smith set first."
    ),
    "win_rate": (
        "Where a figure is wanted that readers understand at once, with gaps in the table. In a complete table "
        "without ties it gives Borda's order."
    ),
    "relative_difference": (
        "Between means and orders: distances count, but each task's only in proportion. Meant for scores that are not "
        "negative, with a zero that means something."
    ),
    "bradley_terry": (
        "Where a probability that one system is ahead of another is wanted, or standard errors. It takes the "
        "comparisons of one task for independent, which they are not: hence errors that take the tasks of a cluster "
        "together."
    ),
}
