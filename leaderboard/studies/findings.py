"""What each study found, in words, as a table and as a chart."""

from dataclasses import replace

from django.utils.translation import gettext

from leaderboard.common.text import by_catalogue
from leaderboard.studies import tellers
from leaderboard.studies.study_findings import NO_NAMES, StudyFindings, StudyNames, Summary, Teller, with_repeats
from ranking_engine.core.packages import modules_of
from ranking_engine.stability.catalogue import EXPERIMENTS

TELLERS: dict[str, Teller] = {module.TELLER.study: module.TELLER for module in modules_of(tellers).values()}  # by study


def findings(study: str, summary: Summary, marked: str, names: StudyNames = NO_NAMES) -> StudyFindings:
    """What the report of a study says.

    Args:
        study: a key of the engine's catalogue.
        summary: the report's.
        marked: the rule that the reader looks at; the sentence is about it.
        names: of the systems and tasks at the report's revision.

    A study without a teller gets a plain sentence.
    """
    if study not in TELLERS:
        name = EXPERIMENTS[study].name if study in EXPERIMENTS else study
        return StudyFindings(
            gettext("%(study)s is computed; see the downloads for its figures.") % {"study": gettext(name)}, [], []
        )
    if "rules" in summary:
        summary = {**summary, "rules": by_catalogue(summary["rules"])}
    result = TELLERS[study].findings(summary, marked, names)
    return replace(result, rows=with_repeats(result.rows, summary.get("slow_rules", {})))
