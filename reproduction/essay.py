"""What the recomputed tables come to, in a page. Every number in it is taken from a section's result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from reproduction.printed import UNEXPLAINED
from reproduction.tables import AGREES, DIFFERS, OURS_ALONE, Result, Row, number

HOLDS, FAILS, ADVICE, OPEN = (
    "What holds up",
    "What does not",
    "What a benchmark's owner should do",
    "What was left open",
)
PARTS = (HOLDS, FAILS, ADVICE, OPEN)

Results = Mapping[str, Result]


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes:
        part: one of PARTS.
        title: the claim.
        text: what shows it, with its numbers.
        sections: keys of the sections that they are taken from.
    """

    part: str
    title: str
    text: str
    sections: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def claims(results: Results) -> list[Claim]:
    """Return the claims whose sections were all run, in order."""
    entries = []
    for part, title, sections, text in CLAIMS:
        if all(key in results for key in sections):
            entries.append(Claim(part, title, text(results), sections))
    return entries


def essay_text(entries: list[Claim]) -> str:
    """Return the essay as Markdown."""
    lines = ["## In short", ""]
    for part in PARTS:
        of_part = [claim for claim in entries if claim.part == part]
        if of_part:
            lines += [f"### {part}", ""]
            for claim in of_part:
                keys = ", ".join(f"`{key}`" for key in claim.sections)
                lines += [f"- **{claim.title}** {claim.text} ({keys})"]
            lines.append("")
    return "\n".join(lines)


def _count(rows: list[Row], verdict: str, word: str = "") -> int:
    return sum(row.verdict == verdict and word in row.what for row in rows)


def _rankings(results: Results) -> str:
    agree = sum(_count(results[key].rows, AGREES) for key in _ROFIN)
    differ = sum(_count(results[key].rows, DIFFERS) for key in _ROFIN)
    return (
        f"Of {agree + differ} comparisons of re-ranked leaderboards and their winners, {agree} agree to the last digit "
        f"printed; for each of the other {differ} a reason is given."
    )


def _who_can_win(results: Results) -> str:
    of = results["rofin-prospects"].facts
    parts = [f"{name.removesuffix(' without Human')} {f['can']} of {f['can'] + f['cannot']}" for name, f in of.items()]
    strict = sum(f["strict"] for f in of.values())
    can = sum(f["can"] for f in of.values())
    return (
        f"The systems that can win or tie under some weights are the published ones ({'; '.join(parts)}), now with "
        f"exact certificates. But {can - strict} of these {can} can only tie."
    )


def _trade_off(results: Results) -> str:
    of = results["zhang-correlation-cardinal"].facts
    return (
        f"For rankings by mean the correlation printed as {number(of['printed'])} is {number(of['with_baselines'])} "
        f"here with the baselines, {number(of['real']['reached'])} on the {of['n']} benchmarks alone with ties "
        f"corrected and the reversals that were reached (p = {number(of['p']['reached'], 3)}, two-sided), and "
        f"{number(of['real']['out of reach'])} with the proven upper bounds of what could be reached "
        f"(p = {number(of['p']['out of reach'], 3)}). Seven benchmarks are few, and they are no sample of all."
    )


def _scale(results: Results) -> str:
    boards = {"GLUE": "glue", "SuperGLUE": "superglue", "XTREME": "xtreme"}
    of = {title: results[f"colombo-robustness-{name}"].facts["scaled"] for title, name in boards.items()}
    means = [f["mean"]["mean"] for f in of.values()]
    most = max(of, key=lambda title: of[title]["mean"]["largest"])
    return (
        f"Multiplying one task of GLUE, SuperGLUE or XTREME by {of[most]['factor']:g} moves the ranking by mean by "
        f"{number(100 * min(means), 1)} to {number(100 * max(means), 1)} % of all pairs on average over the tasks, and "
        f"by {number(100 * of[most]['mean']['largest'], 1)} % for one task of {most}. It moves Borda's by "
        f"{number(100 * max(f['borda']['largest'] for f in of.values()), 1)} %."
    )


def _relative_difference(results: Results) -> str:
    of = {key: number(value, 3) for key, value in results["pavao-printed-criteria"].facts.items()}
    return (
        f"Its stability under other judges, printed as {of['printed']}, is {of['relative_difference']} in the authors' "
        f"result files, ahead of the average rank's {of['average_rank']} by one matrix whose scores have both signs; "
        f"without that one it is {of['relative_difference_others']} against {of['average_rank_others']}. Taken of "
        f"ranks in place of scores it is {of['of_ranks']} here, near what is printed."
    )


def _taus(results: Results) -> str:
    rows = [row for row in results["rofin-agreement"].rows if "Kendall" in row.what]
    printed, ours = (sum(float(getattr(row, side)) for row in rows) / len(rows) for side in ("printed", "ours"))
    unknown = sum(UNEXPLAINED in row.reason for row in rows)
    return (
        f"{_count(rows, DIFFERS)} of the {len(rows)} printed taus between rules are not the rank correlations that "
        f"they are called. The code correlates names as text, which gives {len(rows) - unknown} of them; of the other "
        f"{unknown} the cause is not established. Their mean is {number(printed)}, and that of the true ones "
        f"{number(ours)}."
    )


def _sensitivity(results: Results) -> str:
    cardinal, ordinal = (results[f"zhang-{kind}"].facts for kind in ("cardinal", "ordinal"))
    return (
        f"The sensitivity that the notebooks print is below what can be reached on {cardinal['n_below']} of the "
        f"{cardinal['n_comparable']} cardinal benchmarks with the same columns here, and on {ordinal['n_below']} of "
        f"{ordinal['n_comparable']} ordinal ones. On {cardinal['n_proven'] + ordinal['n_proven']} of all "
        f"{cardinal['n'] + ordinal['n']} benchmarks the share of reversed pairs found here is proven to be the largest "
        "there is."
    )


def _line(results: Results) -> str:
    parts = []
    for kind in ("cardinal", "ordinal"):
        of = results[f"zhang-correlation-{kind}"].facts
        parts.append(f"{of['better_printed']} of the {of['n']} {kind} benchmarks ({of['better']} with our figures)")
    return (
        "Section 1.1 says that all existing benchmarks strike a trade-off no better than a line between the baselines "
        f"Constant and Random. By the figures of the notebooks {parts[0]} and {parts[1]} are less sensitive than that "
        "line at their diversity. The ordinal line leads to a Random of which the first 10 of 1,000 systems are kept, "
        "while the benchmarks keep their first fifth."
    )


def _ordinal(results: Results) -> str:
    of = results["zhang-correlation-ordinal"].facts
    texts = {}
    for measure in ("as theirs", "reached"):
        name, least = of["least"][measure]
        p = number(of["p"][measure], 3)
        texts[measure] = f"{number(of['real'][measure])} (p = {p}, two-sided; {number(least)} without {name})"
    return (
        f"For rankings by win rate {number(of['printed'])} was printed, for 1 - W and (1 - tau) / 2 with the "
        f"baselines. On the {of['n']} benchmarks alone these two measures correlate at {number(of['real_printed'])} by "
        f"their own figures, and at {texts['as theirs']} by ours. With ties corrected, 1 - W and the share of reversed "
        f"pairs correlate at {texts['reached']}. The HELM benchmarks among them share systems and scenarios, so that "
        "they are no independent points."
    )


def _labels(results: Results) -> str:
    of = results["colombo-instances"].facts
    return (
        "In the released instance files documents and systems are exchanged, and the notebook correlates names for "
        f"ranks: the printed taus are between {number(of['printed_taus'][0])} and {number(of['printed_taus'][1])}, the "
        f"true ones between {number(of['taus'][0])} and {number(of['taus'][1])}. Put right, two levels of Borda have "
        f"another winner than the mean in {of['n_other_winner']} of {of['n']} files, and agree with it least on "
        f"{of['least_tau_file']} (tau-b {number(of['least_tau'])})."
    )


def _noise(results: Results) -> str:
    of = results["zhang-preserved"].facts
    return (
        f"With noise that preserves everything, {of['n_left']} of {of['n']} benchmarks still show reversals, up to "
        f"{number(100 * of['most_left'], 1)} % of the pairs of {of['most_left_name']}: the feasible weights are those "
        "of standardised scores. Part of what is called label noise is the choice of a scale."
    )


def _apart(results: Results) -> str:
    of = results["open-winners"].facts
    return (
        f"On {of['n']} benchmarks the winner is significantly ahead of the runner-up on {of['n_apart']}; on "
        f"{of['n_not_apart']} no significant difference is found, on {of['n_contradicted']} the runner-up is "
        f"significantly ahead, {of['n_too_few']} have too few tasks to tell, and {of['n_shared']} shares its first "
        "place. Say so next to the winner, and add tasks before adding decimals."
    )


def _exact(results: Results) -> str:
    of, single = results["colombo-consensus"].facts, results["colombo-instance-consensus"].facts["most_excess"]
    return (
        f"Kemeny's consensus is computed exactly on all {of['n']} boards compared, and over all instances of the nine "
        f"files. Borda exceeds its cost by {number(of['least_excess'], 1)} to {number(of['most_excess'], 1)} %; over "
        f"instances the mean by up to {number(single['mean'], 1)} %, Borda on one level by "
        f"{number(single['one_level'], 1)} %."
    )


def _rule(results: Results) -> str:
    of, six = results["open-steadiness"].facts, results["pavao-summary"].facts
    (first, place), (last, last_place) = six["in_order"]["compared"][0], six["in_order"]["compared"][-1]
    of_all, place_of_all = six["in_order"]["all"][0]
    over_all = f"Over all five {of_all} is first ({number(place_of_all)})"
    if of_all in six["by_definition"]:
        over_all += f", which cannot fail one: {six['by_definition'][of_all]}"
    by_place, by_value = (of["in_order"]["judge_stability"][by] for by in ("place", "value"))
    return (
        f"Of Pavao's five criteria {six['n_by_definition']} have a rule that meets them best by definition. Over the "
        f"others ({'; '.join(six['compared'])}) the best mean place of six goes to {first} ({number(place)}), the "
        f"last to {last} ({number(last_place)}). {over_all}. Over the demonstration benchmarks, with tasks redrawn, "
        f"the best mean place is that of {_two(by_place, 2)}, and the best mean correlation that of "
        f"{_two(by_value, 3)}; leave {of['order'][-1]} to elections."
    )


def _two(in_order: list[tuple[str, float]], decimals: int) -> str:
    (first, value), (second, next_value) = in_order[:2]
    return f"{first} ({number(value, decimals)}; {second} has {number(next_value, decimals)})"


def _toy(results: Results) -> str:
    of = results["rofin-malkevitch"].facts
    return (
        f"One board of five systems has {of['n_winners']} winners under the {of['n_rules']} rules of Vote'n'Rank. Name "
        "the rule before the scores are in, and show what the others say."
    )


def _survive(results: Results) -> str:
    of = results["open-correlation"].facts
    parts = []
    for kind, f in of.items():
        low, high = f["real"]["reached"], f["real"]["out of reach"]
        parts.append(f"{kind}: {number(low)} with what is reached, {number(high)} with the proven upper bounds")
    return f"Ties corrected, baselines left out, {'; '.join(parts)}."


def _steadiest(results: Results) -> str:
    of = results["open-steadiness"].facts
    order = ", ".join(f"{name} {number(place)}" for name, place in zip(of["order"][:4], of["total"][:4], strict=True))
    by_place = of["in_order"]["candidate_stability"]["place"]
    return (
        f"Mean place among {of['n_rules']} rules over other tasks and unseen tasks, on up to {of['n_hosted']} "
        f"benchmarks: {order}; last {of['order'][-1]} {number(of['total'][-1])}. What other systems change is "
        "left out: by definition they cannot change the ranking by mean or by median. Of the other "
        f"{len(by_place)} rules {by_place[0][0]} is steadiest there."
    )


def _winners(results: Results) -> str:
    of = results["open-winners"].facts
    return (
        f"Significant: {', '.join(of['apart_names'])}; adjusted for the number of tests, "
        f"{', '.join(of['after_holm']) or 'none'}."
    )


_ROFIN = (
    "rofin-glue", "rofin-superglue", "rofin-value", "rofin-value-missing", "rofin-winners", "rofin-users",
    "rofin-users-notebook",
)  # fmt: skip
_CORRELATIONS = ("zhang-correlation-cardinal", "zhang-correlation-ordinal")
_ROBUST = ("colombo-robustness-glue", "colombo-robustness-superglue", "colombo-robustness-xtreme")

CLAIMS: tuple[tuple[str, str, tuple[str, ...], Callable[[Results], str]], ...] = (
    (HOLDS, "The re-ranked leaderboards.", _ROFIN, _rankings),
    (HOLDS, "Who can win, and who cannot.", ("rofin-prospects",), _who_can_win),
    (HOLDS, "Borda does not depend on the scale of a task.", _ROBUST, _scale),
    (FAILS, "The published taus.", ("rofin-agreement",), _taus),
    (FAILS, "The lead of the relative difference.", ("pavao-printed-criteria",), _relative_difference),
    (
        FAILS,
        "The notebooks' sensitivities can be exceeded.",
        ("zhang-cardinal", "zhang-ordinal"),
        _sensitivity,
    ),
    (FAILS, "The trade-off for win rates rests on little.", ("zhang-correlation-ordinal",), _ordinal),
    (FAILS, "No better than a line.", _CORRELATIONS, _line),
    (FAILS, "The rankings from single instances.", ("colombo-instances",), _labels),
    (FAILS, "Reversals remain without noise.", ("zhang-preserved",), _noise),
    (ADVICE, "Test the first place.", ("open-winners",), _apart),
    (ADVICE, "State the rule first.", ("rofin-malkevitch",), _toy),
    (ADVICE, "Choose a rule for what should stay.", ("open-steadiness", "pavao-summary"), _rule),
    (ADVICE, "Do not settle for an approximation.", ("colombo-consensus", "colombo-instance-consensus"), _exact),
    (OPEN, "Are diverse benchmarks of scores the sensitive ones?", ("zhang-correlation-cardinal",), _trade_off),
    (OPEN, "Do the correlations survive proof and ties?", ("open-correlation",), _survive),
    (OPEN, "Which rules are steadiest?", ("open-steadiness",), _steadiest),
    (OPEN, "Which published winners differ significantly?", ("open-winners",), _winners),
)


def totals(results: Results) -> dict[str, int]:
    """Return how many rows agree, differ, or are ours alone."""
    rows = [row for result in results.values() for row in result.rows]
    return {verdict: sum(row.verdict == verdict for row in rows) for verdict in (AGREES, DIFFERS, OURS_ALONE)}
