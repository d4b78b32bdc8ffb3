"""Experiments on a board: choose a study and its parameters, start it, and see what it found."""

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.access.audience import readable_benchmark
from leaderboard.common.citations import cite_address, revision_note
from leaderboard.common.paging import page_links
from leaderboard.models import Experiment
from leaderboard.rankings.configuration import configuration_of
from leaderboard.rankings.revisions import visible_hash
from leaderboard.studies.experiments.forms import ExperimentForm
from leaderboard.studies.experiments.list_page import ExperimentsPage
from leaderboard.studies.experiments.page import (
    experiment_at,
    findings_of,
    state_of,
)
from leaderboard.studies.experiments.parameters_text import parameter_rows
from leaderboard.studies.experiments.start import ExperimentError, propose, start
from leaderboard.studies.page import names_at
from ranking_engine.stability.catalogue import EXPERIMENTS

A_PAGE = 20
LIST_URL = {"json": "JSON", "csv": "CSV"}


@require_http_methods(["GET", "HEAD", "POST"])
def experiments(request: HttpRequest, key: str) -> HttpResponse:
    """The studies that can be run, the form of the one that `?study=` names, and what was run; POST starts one."""
    if request.method == "POST" and not request.user.is_authenticated:
        return redirect_to_login(reverse("experiments", args=[key]))
    benchmark, audience = readable_benchmark(request.user, key)
    study = (request.POST if request.method == "POST" else request.GET).get("study", "")
    if study and study not in EXPERIMENTS:
        raise BadRequest(
            gettext("There is no study %(study)s; choose one of %(experiments)s.")
            % {"study": repr(study[:40]), "experiments": ", ".join(EXPERIMENTS)}
        )
    form = None
    if study:
        publication = benchmark.publication
        form = ExperimentForm(
            study,
            request.POST if request.method == "POST" else None,
            tasks=configuration_of(publication.revision).task_names.items() if publication else (),
            default_rule=benchmark.default_rule,
        )
    if request.method == "POST":
        if form is None:
            raise BadRequest(gettext("The field `study` is missing: choose a study."))
        own = form.given() if form.is_valid() else {}
        if not form.errors:
            try:
                started, _ = start(audience, propose(audience, form.study, own, seed=form.seed))
            except ExperimentError as error:
                form.add_error(None, str(error))
            else:
                return redirect("experiment", key, started.pk)
    rows = Experiment.objects.filter(benchmark=benchmark, revision__withdrawn_at=None).select_related("revision")
    run_before = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    context = {
        "benchmark": benchmark,
        "page": ExperimentsPage(benchmark, study, run_before),
        "pages": page_links(run_before, study=study, anchor="run-before"),
        "form": form,
    }
    status = 400 if form is not None and form.errors else 200
    return render(request, "studies/experiments/experiments.html", context, status=status)


@require_safe
def experiment(request: HttpRequest, key: str, number: int) -> HttpResponse:
    """One experiment: its parameters and seed, its state and its result."""
    benchmark, audience = readable_benchmark(request.user, key)
    row = experiment_at(benchmark, number)
    state = state_of(row)
    input_hash = visible_hash(row.revision, audience)
    study = EXPERIMENTS.get(row.study)
    result = findings_of(benchmark, state)
    api = reverse("api:experiment", args=[key, number])
    context = {
        "benchmark": benchmark,
        "experiment": row,
        "state": state,
        "study": study,
        "result": result,
        "parameters": parameter_rows(row.study, row.parameters, names_at(benchmark, row.revision)) if study else [],
        "downloads": [{"label": label, "url": f"{api}?format={form}"} for form, label in LIST_URL.items()],
        "again_url": f"{reverse('experiments', args=[key])}?study={row.study}#run",
        "is_open": state.state in ("waiting", "running"),
        "is_present": row.revision.number == benchmark.published_number,
        "citation": cite_address(
            f"{key}-experiment-{number}",
            gettext("%(benchmark)s: experiment %(number)s, study “%(study)s”")
            % {"benchmark": benchmark.name, "number": number, "study": state.name},
            request.build_absolute_uri(request.path),
            year=row.requested_at.year,
            note=revision_note(row.revision.number, row.engine_version, input_hash),
            doi=benchmark.doi,
        ),
    }
    return render(request, "studies/experiments/experiment.html", context)


@require_safe
def experiment_arrays(request: HttpRequest, key: str, number: int) -> HttpResponse:
    """The whole distribution of an experiment as a compressed .npz file of arrays."""
    benchmark, _ = readable_benchmark(request.user, key)
    state = state_of(experiment_at(benchmark, number))
    if state.report is None:
        raise Http404(gettext("Experiment %(number)s has no result.") % {"number": number})
    response = HttpResponse(bytes(state.report.arrays), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{key}-experiment-{number}.npz"'
    return response
