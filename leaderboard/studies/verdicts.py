"""How stable a ranking is by each study, in one figure and one word, and a sentence for the whole board.

Where good, mixed and poor begin is a convention, written down in `docs/studies.md`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext, gettext_noop, ngettext

from leaderboard.common.language.numbers import localise
from leaderboard.common.text import in_words
from leaderboard.studies.findings import TELLERS
from leaderboard.studies.grades import GOOD, MIXED, POOR, StudyGrade
from leaderboard.studies.intervals import IntervalRow
from leaderboard.studies.study_findings import Summary, fewer_repeats


def verdict_of(study: str, summary: Summary, rule: str) -> StudyGrade | None:
    """The verdict of a study.

    Args:
        study: a key of the engine's catalogue.
        summary: its report's.
        rule: the rule that the page is about.

    Returns:
        None where the study has no figure for the rule.
    """
    teller = TELLERS.get(study)
    verdict = teller.grade(summary, rule) if teller is not None and teller.grade is not None else None
    slow = fewer_repeats(summary.get("slow_rules", {})).get(rule)
    if verdict is None or slow is None:
        return verdict

    def of_fewer(text: str) -> str:
        repeats = {"n": localise(slow["n_repeats"], ","), "of": localise(slow["of"], ",")}
        return gettext("%(text)s (%(n)s of %(of)s repeats)") % {"text": text, **repeats}

    condition = of_fewer(verdict.condition) if verdict.condition else ""
    return replace(verdict, figure=of_fewer(verdict.figure), condition=condition)


def board_sentence(
    verdicts: Mapping[str, StudyGrade],
    rule_name: str,
    n_studies: int,
    first: Sequence[IntervalRow],
    level: float,
    *,
    n_pending: int = 0,
) -> str:
    """All verdicts in some sentences.

    Args:
        verdicts: of the studies that are done, by their names.
        rule_name: of the rule that they are about.
        n_studies: how many studies there are, with those that are skipped or not done.
        first: the systems at rank 1 with their intervals; none where these are not computed.
        level: of the intervals, each system separately.
        n_pending: how many of the studies are being computed or queued.
    """
    parts = []
    if len(first) == 1 and (row := first[0]).interval_text:
        interval = gettext(
            "%(name)s is first under %(rule)s; if the tasks are drawn again, the %(level)s %% interval of its rank is "
            "%(interval)s."
        ) % {"name": row.name, "rule": rule_name, "level": localise(100 * level, "g"), "interval": row.interval_text}
        parts.append(interval)
    by_grade = {grade: [v.condition for v in verdicts.values() if v.grade == grade and v.condition] for grade in _HOW}
    clauses = {
        grade: gettext(how) % {"conditions": in_words(by_grade[grade], most=len(verdicts))}
        for grade, how in _HOW.items()
        if by_grade[grade]
    }
    stable = clauses.pop(GOOD, "")
    changing = in_words(list(clauses.values()))
    what = stable or changing
    if stable and changing:
        what = gettext("%(stable)s, but %(changing)s") % {"stable": stable, "changing": changing}
    if what:
        parts.append(gettext("The order %(clauses)s.") % {"clauses": what})
    own_sentences = [verdict.sentence for verdict in verdicts.values() if verdict.sentence]
    parts += own_sentences
    if what or own_sentences:
        n, n_without = sum(map(len, by_grade.values())) + len(own_sentences), n_studies - len(verdicts) - n_pending
        unsaid = [
            gettext("%(study)s (%(grade)s)") % {"study": name, "grade": gettext(verdict.grade)}
            for name, verdict in verdicts.items()
            if not verdict.sentence and not (verdict.condition and verdict.grade in _HOW)
        ]
        text = gettext("This sums up %(n)s of %(n_studies)s studies.")
        if unsaid:  # a reader of the sentence alone must know of a poor one
            text = gettext("This sums up %(n)s of %(n_studies)s studies. Not in it: %(studies)s.")
        parts.append(text % {"n": n, "n_studies": n_studies, "studies": in_words(unsaid, most=len(unsaid))})
        if n_pending:
            pending = ngettext("%(n)s study is not computed yet.", "%(n)s studies are not computed yet.", n_pending)
            parts.append(pending % {"n": n_pending})
        if n_without:
            without = ngettext(
                "%(n)s study has no result for this rule.", "%(n)s studies have no result for this rule.", n_without
            )
            parts.append(without % {"n": n_without})
    return " ".join(parts)


_HOW = {
    GOOD: gettext_noop("is stable %(conditions)s"),
    MIXED: gettext_noop("changes somewhat %(conditions)s"),
    POOR: gettext_noop("changes a lot %(conditions)s"),
}
