"""The catalogue of rules, a page for each, and six questions that lead to one."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from leaderboard.boards.catalogue import RuleFilter, catalogue, rule_entry
from leaderboard.boards.rule_advice import rule_advice
from ranking_engine import RULES
from ranking_engine.axioms import PROPERTIES
from ranking_engine.catalogue.choice import QUESTIONS
from ranking_engine.catalogue.rule import FAMILIES


@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    """Every rule with its properties, or those that have what is asked for."""
    wanted = RuleFilter(
        family=request.GET.get("family", ""),
        properties=tuple(key for key in request.GET.getlist("has") if key in PROPERTIES),
        gaps=request.GET.get("gaps") == "1",
    )
    rows = catalogue(wanted)
    context = {
        "rows": rows,
        "n_rules": len(RULES),
        "wanted": wanted,
        "is_filtered": len(rows) < len(RULES),
        "properties": list(PROPERTIES.values()),
        "families": [(key, family.meaning) for key, family in FAMILIES.items()],
    }
    return render(request, "boards/rules.html", context)


@require_safe
def rule_page(request: HttpRequest, rule_key: str) -> HttpResponse:
    """One rule: definition, worked example, properties with what violates them, missing scores, cost, source."""
    if rule_key not in RULES:
        raise Http404(gettext("There is no rule %(rule_key)s.") % {"rule_key": repr(rule_key)})
    entry = rule_entry(rule_key, request.GET.get("convention", ""))
    keys = list(RULES)
    place = keys.index(rule_key)
    context = {
        "entry": entry,
        "before": RULES[keys[place - 1]] if place else None,
        "after": RULES[keys[place + 1]] if place + 1 < len(keys) else None,
    }
    return render(request, "boards/rule_entry.html", context)


@require_safe
def choose_rule(request: HttpRequest) -> HttpResponse:
    """Six questions; the address keeps the answers, and the page says what they lead to."""
    given = {question.key: request.GET.get(question.key, "") for question in QUESTIONS}
    chosen = {key: value for key, value in given.items() if value}
    if len(chosen) < len(request.GET):
        # A form sends its empty fields along; the address that stays says only what is answered.
        return redirect(reverse("choose_rule") + (f"?{urlencode(chosen)}" if chosen else ""))
    advice = rule_advice(given)
    questions = [
        (question, [(answer, answer.key == chosen.get(question.key)) for answer in question.answers])
        for question in QUESTIONS
    ]
    context = {"advice": advice, "questions": questions, "n_properties": len(PROPERTIES),
               "is_answered": bool(chosen)}  # fmt: skip
    return render(request, "boards/choose_rule.html", context)
