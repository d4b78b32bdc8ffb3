"""The page of a model over all boards."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from leaderboard.common.language.engine import rule_name
from leaderboard.common.paging import page_links
from leaderboard.computing.rankings import site_rules
from leaderboard.explore.identities.page import model_page
from leaderboard.on_demand.allowance import may_ask


@require_safe
def model(request: HttpRequest, model_key: str) -> HttpResponse:
    """The ranks and scores of a model on every board that the reader may see it on."""
    rule = request.GET.get("rule", "")
    if rule and rule not in site_rules():
        raise BadRequest(gettext("There is no rule %(rule)s.") % {"rule": repr(rule[:60])})
    if not may_ask(request):
        return render(request, "429.html", status=429)
    page = model_page(request.user, model_key, rule=rule, page=request.GET.get("page"), with_history=True)
    rules = [(key, rule_name(key)) for key in site_rules()]
    content = {"page": page, "rules": rules, "pages": page_links(page.page, rule=rule)}
    return render(request, "explore/model.html", content)
