"""The owner's page of models: what systems of the benchmark may be, and what they are declared to be."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods

from leaderboard.access.audience import administered_benchmark
from leaderboard.benchmarks.forms import ReasonForm
from leaderboard.benchmarks.identities.forms import LinkForm, links_of
from leaderboard.benchmarks.identities.links import NEW, change_links
from leaderboard.benchmarks.identities.proposals import proposals_for
from leaderboard.common.paging import page_links
from leaderboard.common.requests import signed_in
from leaderboard.models import Benchmark, System

LINKED_A_PAGE = 100
LINK, UNLINK, DECLARE = "link", "unlink", "declare"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_models(request: HttpRequest, key: str) -> HttpResponse:
    """Proposals are confirmed, systems linked by hand, or links ended."""
    benchmark = administered_benchmark(request.user, key)
    if request.method != "POST":
        return _page(request, benchmark)
    action, why, form = request.POST.get("action", ""), ReasonForm(request.POST), LinkForm(request.POST)
    if not why.is_valid():
        return _page(request, benchmark, why=why, status=400)
    try:
        if action == DECLARE:
            if not form.is_valid():
                return _page(request, benchmark, form=form, status=400)
            links = {form.cleaned_data["system"]: form.cleaned_data["model"] or NEW}
        elif action in (LINK, UNLINK):
            links = links_of(request.POST.getlist("system"))
            links = dict.fromkeys(links, "") if action == UNLINK else {one: links[one] or NEW for one in links}
        else:
            return _page(request, benchmark, errors=[gettext("Choose what to do.")], status=400)
        changes = change_links(benchmark, links, author=signed_in(request), reason=why.cleaned_data["reason"])
    except ValidationError as error:
        return _page(request, benchmark, errors=error.messages, form=form, why=why, status=400)
    n = len(changes)
    if not n:
        sentence = gettext("Nothing changed. No rank depends on it.")
    elif action == UNLINK:
        sentence = ngettext(
            "%(n)s system no longer linked. No rank depends on it.",
            "%(n)s systems no longer linked. No rank depends on it.",
            n,
        ) % {"n": n}
    else:
        sentence = ngettext(
            "%(n)s system linked. No rank depends on it.", "%(n)s systems linked. No rank depends on it.", n
        ) % {"n": n}
    messages.success(request, sentence)
    return redirect("manage_models", benchmark.key)


def _page(request: HttpRequest, benchmark: Benchmark, *, status: int = 200, **context: object) -> HttpResponse:
    linked = System.objects.filter(benchmark=benchmark, identity__isnull=False).select_related("identity")
    page = Paginator(linked.order_by("name_folded"), LINKED_A_PAGE).get_page(request.GET.get("page"))
    content = {
        "benchmark": benchmark,
        "here": "models",
        "proposals": proposals_for(signed_in(request), benchmark),
        "linked": page,
        "pages": page_links(page),
        "form": LinkForm(auto_id="link_%s"),
        "why": ReasonForm(),
    }
    return render(request, "benchmarks/manage_models.html", content | context, status=status)
