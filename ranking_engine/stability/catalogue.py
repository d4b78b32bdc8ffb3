"""The catalogue of studies."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ranking_engine.core.score_matrix import ScoreMatrix
from ranking_engine.stability import corrupted_tasks, judge_bootstrap, missing_scores, system_additions, task_subsets
from ranking_engine.stability.study import Arrays, Parameters, Progress, Study, StudyResult
from ranking_engine.stability.whole import WHOLE_STUDIES

__all__ = ["STUDIES", "Arrays", "Parameters", "Progress", "Study", "StudyResult", "get_study", "run_study"]

_STUDIES = (
    missing_scores.STUDY,
    system_additions.STUDY,
    task_subsets.STUDY,
    corrupted_tasks.STUDY,
    judge_bootstrap.STUDY,
    *WHOLE_STUDIES,
)

STUDIES: Mapping[str, Study] = MappingProxyType({study.key: study for study in _STUDIES})


def get_study(key: str) -> Study:
    """Return the study called `key`, or raise a ValueError that lists the studies there are."""
    if key not in STUDIES:
        raise ValueError(f"`study` is {key!r}; expected one of {', '.join(STUDIES)}")
    return STUDIES[key]


def run_study(
    key: str,
    matrix: ScoreMatrix,
    parameters: Parameters | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> StudyResult:
    """Run all chunks of a study one after the other, and merge them.

    Args:
        key: a key of STUDIES.
        matrix: the scores.
        parameters: those that differ from the study's defaults.
        seed: 0 or more; the same seed gives the same bits.
        progress: called as progress(done, total) after each step; it may raise to cancel.

    Raises:
        ValueError: an unknown study or parameter, a parameter out of its range, or a matrix about which the study
            says nothing; see Study.why_not.
    """
    study = get_study(key)
    complete = study.with_defaults(parameters)
    if reason := study.why_not(matrix, complete):
        raise ValueError(f"the study {key} says nothing here: {reason}")
    n_chunks = study.n_chunks(matrix, complete)
    partials = [
        study.run_chunk(matrix, complete, seed, chunk, _within(progress, chunk, n_chunks)) for chunk in range(n_chunks)
    ]
    return study.merge(matrix, complete, seed, partials)


def _within(progress: Progress | None, chunk: int, n_chunks: int) -> Progress | None:
    """Return the callback for one of several chunks: thousandths of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(round(1000 * (chunk + done / total) / n_chunks), 1000)
