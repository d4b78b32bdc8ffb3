"""The page of a board's experiments: the studies to choose from, and what was run."""

from dataclasses import dataclass
from functools import cached_property

from django.core.paginator import Page
from django.urls import reverse

from leaderboard.models import Benchmark, Experiment
from leaderboard.rankings.configuration import configuration_of
from leaderboard.studies.experiments.page import ExperimentState, experiment_studies, states_of
from leaderboard.studies.experiments.parameters_text import names_systems, parameter_rows
from leaderboard.studies.page import names_at
from leaderboard.studies.study_findings import NO_NAMES, StudyNames
from ranking_engine.stability.catalogue import EXPERIMENTS, Study


@dataclass(frozen=True)
class StudyChoiceLink:
    """A study that can be run, and the address of its form."""

    study: Study
    url: str
    is_chosen: bool


@dataclass(frozen=True)
class ExperimentRow:
    """One experiment in the table."""

    state: ExperimentState
    parameters: list[tuple[str, str]]  # what each is called, and its value
    url: str


@dataclass(frozen=True)
class ExperimentsPage:
    """One page of the experiments of a board.

    Attributes:
        benchmark: the board.
        study: the key of the chosen study; empty where none is.
        experiments: the rows of this page, the newest first.
    """

    benchmark: Benchmark
    study: str
    experiments: Page[Experiment]

    @property
    def studies(self) -> list[StudyChoiceLink]:
        """The studies that can be run, in the catalogue's order."""
        return [
            StudyChoiceLink(study, f"{self._path}?study={study.key}#run", is_chosen=study.key == self.study)
            for study in experiment_studies()
        ]

    @property
    def chosen(self) -> Study | None:
        """The chosen study."""
        return EXPERIMENTS.get(self.study)

    @property
    def login_url(self) -> str:
        """Where a reader signs in, who then comes back."""
        return f"{reverse('account_login')}?next={self._path}"

    @cached_property
    def rows(self) -> list[ExperimentRow]:
        """The experiments with their parameters and their states."""
        states, publication = states_of(self.experiments.object_list), self.benchmark.publication
        names = NO_NAMES
        if publication is not None and any(names_systems(state.experiment.parameters) for state in states):
            names = names_at(self.benchmark, publication.revision)
        elif publication is not None:
            names = StudyNames(tasks=configuration_of(publication.revision).task_names)
        return [
            ExperimentRow(
                state,
                parameter_rows(state.experiment.study, state.experiment.parameters, names),
                reverse("experiment", args=[self.benchmark.key, state.experiment.pk]),
            )
            for state in states
        ]

    @property
    def _path(self) -> str:
        return reverse("experiments", args=[self.benchmark.key])
