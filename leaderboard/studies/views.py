"""How stable the rankings of a benchmark are: every study, with its plot and its table."""

from dataclasses import replace
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.access.audience import administered_benchmark, readable_benchmark
from leaderboard.access.locks import lock_as_owner
from leaderboard.common.citations import cite_figure
from leaderboard.common.files import export_links
from leaderboard.common.language.engine import rule_name
from leaderboard.common.paging import page_links
from leaderboard.common.requests import signed_in
from leaderboard.evaluation.visibility import sees_instances
from leaderboard.queue.kinds import STUDY_PLAN
from leaderboard.queue.queries import job_of
from leaderboard.queue.retry import retry_board
from leaderboard.queue.turns import want_while_looking
from leaderboard.rankings.confidence.dependence import published_dependence
from leaderboard.rankings.ranks_again import request_ranks
from leaderboard.rankings.revision_parameter import publication_asked_for, revision_query
from leaderboard.rankings.revisions import visible_hash
from leaderboard.studies import landscape as service
from leaderboard.studies.forms import StudiesForm
from leaderboard.studies.instances_page import NAMES, instances_page
from leaderboard.studies.intervals import interval_section
from leaderboard.studies.landscape_fit import LARGEST_P, LEAST_BENCHMARKS
from leaderboard.studies.page import marked_rule, stability_sections, study_arrays
from leaderboard.studies.plans import choose_studies, chosen_studies, request_study, study_name
from leaderboard.studies.states import UNPLANNED, chosen_states
from leaderboard.studies.verdicts import board_sentence
from leaderboard.studies.waits import OPEN
from ranking_engine.catalogue.registry import get_rule
from ranking_engine.stability import catalogue


@require_safe
def stability(request: HttpRequest, key: str) -> HttpResponse:
    """Every study of what is published; `?rule=` says which rule the charts mark."""
    benchmark, audience = readable_benchmark(request.user, key)
    publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    try:
        marked = marked_rule(benchmark, request.GET.get("rule", ""))
    except ValueError as error:
        raise BadRequest(str(error)) from error
    sections = stability_sections(benchmark, publication, marked) if publication else []
    plan = job_of(publication.revision_id, STUDY_PLAN) if publication else None
    waited_for = (*OPEN, UNPLANNED) if plan is not None and plan.state in OPEN else OPEN
    waiting = [section.state.key for section in sections if section.state.state in waited_for]
    if waiting:
        want_while_looking(benchmark.pk)
    parameters = (
        {}
        if publication is None or publication.pk == benchmark.publication_id
        else {"revision": publication.revision.number}
    )
    path = reverse("stability", args=[key])
    rules = dict.fromkeys(
        row.key
        for section in sections
        if section.findings and section.findings.is_by_rule
        for row in section.findings.rows
    )
    intervals = interval_section(publication, marked) if publication else None
    first = [row for row in intervals.rows if row.rank == 1] if intervals else []
    verdicts = {gettext(section.state.name): section.verdict for section in sections if section.verdict}
    context = {
        "benchmark": benchmark,
        "publication": publication,
        "summary": board_sentence(
            verdicts,
            rule_name(marked),
            len(sections),
            first,
            intervals.level if intervals else 0,
            n_pending=len(waiting),
        ),
        "intervals": intervals,
        "sections": [
            replace(
                section,
                downloads=export_links(key, "studies", study=section.state.key, **parameters),
                citation=cite_figure(
                    benchmark,
                    publication,
                    gettext("study “%(study)s”") % {"study": gettext(section.state.name)},
                    request.build_absolute_uri(
                        f"{path}?revision={publication.revision.number}#study-{section.state.key}"
                    ),
                    visible_hash(publication.revision, audience),
                    part=section.state.key,
                ),
            )
            for section in sections
            if publication is not None
        ],
        "dependence": published_dependence(publication),
        "marked": get_rule(marked),
        "rules": [
            {
                "name": rule_name(rule),
                "url": f"{path}?{urlencode({'rule': rule} | parameters)}",
                "is_active": rule == marked,
            }
            for rule in rules
        ],
        "downloads": export_links(key, "studies", **parameters),
        "revision_query": revision_query(benchmark, publication.revision if publication else None),
        "may_administer": audience.may_administer,
        "waiting_ids": ",".join(["#studies-overview", *(f"#study-{key}" for key in waiting)]) if waiting else "",
    }
    return render(request, "studies/stability.html", context)


@require_safe
def distribution(request: HttpRequest, key: str, study: str) -> HttpResponse:
    """The whole distribution of a study as a compressed .npz file of arrays."""
    benchmark, _ = readable_benchmark(request.user, key)
    publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    packed = study_arrays(publication, study) if publication and study in catalogue.STUDIES else None
    if packed is None or publication is None:
        raise Http404(gettext("There is no study %(study)s of this revision.") % {"study": repr(study)})
    response = HttpResponse(packed, content_type="application/zip")
    name = f"{benchmark.key}-revision-{publication.revision.number}-{study}.npz"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_safe
def instances(request: HttpRequest, key: str) -> HttpResponse:
    """Ranks under the three aggregations side by side, and which neighbours differ significantly."""
    benchmark, audience = readable_benchmark(request.user, key)
    publication = publication_asked_for(benchmark, request.GET.get("revision", ""))
    context = {
        "benchmark": benchmark,
        "publication": publication,
        "page": instances_page(publication, has_items=sees_instances(audience)),
        "revision_query": revision_query(benchmark, publication.revision if publication else None),
        "names": [gettext(name) for name in NAMES.values()],
        "citation": publication
        and cite_figure(
            benchmark,
            publication,
            gettext("ranks by single instances"),
            request.build_absolute_uri(f"{request.path}?revision={publication.revision.number}"),
            visible_hash(publication.revision, audience),
            part="instances",
        ),
    }
    return render(request, "studies/instances.html", context)


@require_safe
def landscape(request: HttpRequest) -> HttpResponse:
    """How diverse the benchmarks are, and how sensitive to what should not matter."""
    planes = service.landscape(request.user, request.GET.get("page"))
    context = {
        "landscape": planes,
        "first": planes.page.start_index(),
        "last": planes.page.end_index(),
        "n_places": planes.page.paginator.count,
        "pages": page_links(planes.page),
        "least_benchmarks": LEAST_BENCHMARKS,
        "largest_p": LARGEST_P,
    }
    return render(request, "studies/landscape.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_studies(request: HttpRequest, key: str) -> HttpResponse:
    """When each study runs, its budget, its estimate and what it took."""
    benchmark = administered_benchmark(request.user, key)
    states = chosen_states(benchmark, benchmark.publication)
    form = StudiesForm([state.choice for state in states if state.choice], request.POST or None)
    if request.method == "POST" and form.is_valid():
        n_changed = choose_studies(benchmark, form.chosen(), author=signed_in(request))
        sentence = ngettext(
            "%(n_changed)s study changed, from the next revision on.",
            "%(n_changed)s studies changed, from the next revision on.",
            n_changed,
        ) % {"n_changed": n_changed}
        messages.success(request, sentence if n_changed else gettext("Nothing was changed."))
        return redirect("manage_studies", key)
    rows = [
        {
            "state": state,
            "name": gettext(state.name),
            "progress_percent": round(100 * state.progress),
            "may_run": state.state not in ("waiting", "running", "done"),
            "when": form[f"{state.key}-when"],
            "budget": form[f"{state.key}-budget"],
        }
        for state in states
    ]
    context = {"benchmark": benchmark, "here": "studies", "form": form, "states": rows}
    return render(request, "studies/manage_studies.html", context, status=400 if form.errors else 200)


@login_required
@require_POST
def run_study(request: HttpRequest, key: str) -> HttpResponse:
    """Have one study of the published revision run now."""
    benchmark = administered_benchmark(request.user, key)
    study = request.POST.get("study", "")
    if study not in chosen_studies():
        raise BadRequest(gettext("There is no study %(study)s.") % {"study": repr(study[:40])})
    with transaction.atomic():
        lock_as_owner(benchmark.pk, signed_in(request))
        job = request_study(benchmark, study)
    if job is None:
        messages.error(request, gettext("There is nothing to study before the first board is published."))
    else:
        messages.success(
            request,
            gettext("The study of %(study_name)s runs as soon as a worker is free.")
            % {"study_name": study_name(study)},
        )
    return redirect("manage_studies", key)


@login_required
@require_POST
def compute_board(request: HttpRequest, key: str) -> HttpResponse:
    """Have the newest board computed now that was given up, or that rests after a failure."""
    benchmark = administered_benchmark(request.user, key)
    with transaction.atomic():
        lock_as_owner(benchmark.pk, signed_in(request))
        is_retried = retry_board(benchmark)
    if is_retried:
        messages.success(request, gettext("The newest board is computed as soon as a worker is free."))
    else:
        messages.info(request, gettext("The newest board is already published or being computed."))
    return redirect("board", key)


@login_required
@require_POST
def compute_ranks(request: HttpRequest, key: str, number: int) -> HttpResponse:
    """Have the ranks of an earlier revision computed again that retention removed."""
    benchmark = administered_benchmark(request.user, key)
    with transaction.atomic():
        lock_as_owner(benchmark.pk, signed_in(request))
        is_requested = request_ranks(benchmark, number)
    if is_requested:
        messages.success(
            request,
            gettext("The ranks of revision %(number)s are computed as soon as a worker is free.") % {"number": number},
        )
    else:
        messages.info(request, gettext("No ranks of revision %(number)s were removed.") % {"number": number})
    return redirect("history", key)
