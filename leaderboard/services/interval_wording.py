"""Rank intervals in words: what they are, and why there is none where there is none."""

from leaderboard.services.columns import Column, PublishedBoard
from leaderboard.services.wording import in_words
from ranking_engine import RULES

FEW_TASKS = 20  # with fewer to draw from, the pages say that intervals are wide
OTHER_POLICY = "rank intervals come with the benchmark’s own policy for missing scores only"
NO_RANK = "no rank in any of the draws"


def interval_text(column: Column, i: int) -> str:
    """`2–5`, or nothing where there is no interval."""
    if column.lower is None or column.upper is None or column.lower[i] < 1:
        return ""
    low, high = int(column.lower[i]), int(column.upper[i])
    return str(low) if low == high else f"{low}–{high}"


def interval_meaning(published: PublishedBoard) -> str:
    """What the rank intervals of a board are, from the study that gave them; empty where there are none."""
    if published.study is None or published.study["status"] == "undefined":
        return ""
    parameters, n_drawn = published.study_parameters, published.study["n_clusters"]
    what = "tasks" if n_drawn == published.facts["n_voting_tasks"] else "task groups"
    text = (
        f"{100 * parameters['level']:g} % interval of the rank when the {n_drawn} {what} are drawn anew with "
        f"replacement, {parameters['n_resamples']:,} times over."
    )
    text += f" With only {n_drawn} {what} it is wide." if n_drawn < FEW_TASKS else ""
    fewer = [f"{n:,} times for {RULES[rule].name}" for rule, n in published.study.get("fewer", {}).items()]
    text += f" Rules that take long are ranked fewer times: {in_words(fewer, most=len(fewer))}." if fewer else ""
    for reason, names in _without_interval(published).items():
        text += f" No interval under {in_words(names, most=len(names))}: {reason}."
    return text


def why_no_interval(published: PublishedBoard, column: Column, i: int | None = None) -> str:
    """Why a ranked column has no intervals although others have, or system `i` has none in it; empty where it has."""
    study = published.study
    if study is None or study["status"] == "undefined" or column.status != "ranked":
        return ""
    if column.lower is not None:
        return NO_RANK if i is not None and column.lower[i] < 1 <= column.ranks[i] else ""
    if all(other.lower is None for other in published.columns):
        return OTHER_POLICY
    return str(study["undefined"].get(column.rule, "it takes too long to be ranked anew for every draw"))


def _without_interval(published: PublishedBoard) -> dict[str, list[str]]:
    """The names of the rules without intervals, by reason."""
    found: dict[str, list[str]] = {}
    for column in published.columns:
        if reason := why_no_interval(published, column):
            found.setdefault(reason, []).append(column.name)
    return found


def interval_note(published: PublishedBoard, column: Column) -> str:
    """What the intervals of one rule are, or why it has none; empty while they are to come or nobody is ranked."""
    study = published.study
    if study is None or column.status != "ranked":
        return ""
    if study["status"] == "undefined":
        return f"No rank intervals: {study['reason']}."
    if column.lower is not None:
        return f"Interval: the {interval_meaning(published)}"
    return f"No interval under {column.name}: {why_no_interval(published, column)}."
