"""Colombo et al. 2022, What are the best systems?: every table and figure, recomputed."""

from reproduction.colombo import first_places, instances, paradox, sizes, studies, synthetic, task_level
from reproduction.colombo.sources import CODE, SOURCES

CITATION: str = CODE["citation"]
REPOSITORY: str = CODE["repository"]
SECTIONS = (
    *paradox.SECTIONS,
    *task_level.SECTIONS,
    *studies.SECTIONS,
    *sizes.SECTIONS,
    *instances.SECTIONS,
    *first_places.SECTIONS,
    *synthetic.SECTIONS,
)

__all__ = ["CITATION", "REPOSITORY", "SECTIONS", "SOURCES"]
