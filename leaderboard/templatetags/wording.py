"""Names, points in time and states as pages write them."""

from collections.abc import Sequence
from datetime import datetime

from django import template
from django.forms import BoundField
from django.template.defaultfilters import date
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import is_aware, localtime
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from leaderboard.common import text as wording
from leaderboard.common.language.reasons import reason_in_page_language
from leaderboard.models import Notice
from leaderboard.notifications import notices

register = template.Library()
TONES = {"failed": " is-error", "done": " is-success", "running": " is-warning", "computing": " is-warning"}
STATUSES = {
    "ranked": gettext_lazy("ranks all it can"),
    "winner_only": gettext_lazy("winner only"),
    "no_winner": gettext_lazy("no winner"),
    "computing": gettext_lazy("computing …"),
    "undefined": gettext_lazy("undefined"),
    "failed": gettext_lazy("failed"),
}
STORED_WORDS = {
    *(gettext_noop("waiting"), gettext_noop("running"), gettext_noop("done"), gettext_noop("failed")),  # jobs
    gettext_noop("superseded"),
    *(gettext_noop("sweep"), gettext_noop("rankings"), gettext_noop("studies"), gettext_noop("scoring")),  # processes
    *(gettext_noop("scored"), gettext_noop("refused"), gettext_noop("cancelled")),  # predictions
    *(gettext_noop("public"), gettext_noop("unlisted"), gettext_noop("private")),  # benchmarks
    *(gettext_noop("owner"), gettext_noop("member")),  # organisations
    *(gettext_noop("rule"), gettext_noop("task")),  # points of a map
}
STAGE_SIGNS = {"done": "✓", "failed": "✕", "running": "●", "skipped": "–"}
SIGNS = {"ascending": "▲", "descending": "▼"}


@register.simple_tag
def in_words(names: Sequence[str], total: int, most: int = 5) -> str:
    """`A, B and 4 more`, where `names` are at least the first of `total`; long names are shortened."""
    return wording.in_words([wording.shortened(name) for name in names], most, total)


@register.filter
def with_errors(fields: Sequence[BoundField]) -> list[BoundField]:
    """Those fields of a form with which something is wrong."""
    return [field for field in fields if field.errors]


@register.simple_tag
def moment(at: datetime | None, style: str) -> SafeString:
    """A point in time for people, in a format of Django's `date`, and in full for programs."""
    local = localtime(at) if at is not None and is_aware(at) else at
    return format_html('<time datetime="{}">{}</time>', date(local, "c"), date(local, style))


@register.simple_tag
def rank_change(before: object, after: object) -> SafeString:
    """From one rank to another; a dash where there is none."""
    return format_html('<span class="figure">{}→{}</span>', before or "–", after or "–")


@register.filter
def tone(state: str) -> str:
    """The class of a badge that says this state of a job or of a rule's ranks; none where it is nothing special."""
    return TONES.get(state, "")


@register.simple_tag
def sort_sign(state: str) -> SafeString:
    """Which way a column is sorted, beside its heading; nothing where it is not."""
    if state not in SIGNS:
        return SafeString("")
    return format_html('<span class="sign" aria-hidden="true"> {}</span>', SIGNS[state])


@register.filter
def translated(text: str) -> str:
    """A text of the engine, such as the name of a rule, in the language of the page."""
    return gettext(text)


@register.filter
def option(value: str) -> str:
    """A value of an option, such as `winning_votes`, in the language of the page; unchanged without a translation."""
    words = value.replace("_", " ")
    return value if (text := gettext(words)) == words else text


@register.filter
def reason(text: str) -> str:
    """A reason that the site itself wrote down, in the language of the page."""
    return reason_in_page_language(text)


@register.filter
def notice_text(notice: Notice) -> str:
    """What a notice says in the language of the page, with the reason that someone gave."""
    return notices.notice_text(notice)


@register.filter
def status_text(status: str) -> str:
    """What a rule made of the scores, in words."""
    return str(STATUSES.get(status, status))


@register.filter
def stored_word(key: str) -> str:
    """What is stored of a state, a role or a visibility, as pages say it."""
    return gettext(key) if key in STORED_WORDS else key


@register.filter
def stage_sign(state: str) -> str:
    """The sign of a stage of a submission's way to the board; none before it has begun."""
    return STAGE_SIGNS.get(state, "")


@register.filter
def voting_text(is_voting: bool, direction: int) -> str:
    """Whether a task counts in the ranking, and which scores of it are better."""
    if not is_voting:
        return gettext("not counted")
    return gettext("higher is better") if direction == 1 else gettext("lower is better")
