"""The pages of saved meta-boards."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, ValidationError
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.benchmarks.meta_boards import (
    deletable_meta_board,
    own_meta_board,
    readable_meta_board,
    readable_meta_boards,
    save_meta_board,
)
from leaderboard.boards.exports import FORMATS
from leaderboard.common.citations import cite_address
from leaderboard.common.form_fields import take_errors
from leaderboard.common.paging import page_links
from leaderboard.common.requests import signed_in
from leaderboard.computing.rankings import site_rules
from leaderboard.explore.benchmarks import DEFAULT_RULE
from leaderboard.explore.meta_boards.forms import MetaBoardForm, filled_in, typed_so_far
from leaderboard.explore.meta_boards.page import meta_board_page
from leaderboard.explore.views_compare import TOO_OFTEN, board_file, read_query
from leaderboard.on_demand.allowance import may_ask

BOARDS_A_PAGE = 50
FIND = "find"  # of the form's actions, the one that stores nothing


@require_safe
def meta_boards(request: HttpRequest) -> HttpResponse:
    """The public meta-boards, and the reader's own."""
    rows = readable_meta_boards(request.user).select_related("author").order_by("name", "key")
    page = Paginator(rows, BOARDS_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "explore/meta_boards.html", {"boards": page, "pages": page_links(page)})


@require_safe
def meta_board(request: HttpRequest, meta_key: str) -> HttpResponse:
    """A meta-board: who comes first over its benchmarks, and how far these agree."""
    board = readable_meta_board(request.user, meta_key)
    reference = request.GET.get("reference", "")
    if reference and reference not in site_rules():
        raise BadRequest(gettext("There is no rule %(reference)s.") % {"reference": repr(reference[:60])})
    if not may_ask(request):
        return render(request, "429.html", {"message": TOO_OFTEN}, status=429)
    page = meta_board_page(request.user, board, reference=reference, q=request.GET.get("q", "")[:200])
    compared, extension = page.compared, request.GET.get("format", "")
    if extension in FORMATS and compared is not None and compared.board is not None:
        return board_file(compared.board, board.name, f"{board.key}.{extension}")
    now = timezone.now()  # the figures follow the published boards
    citation = cite_address(
        board.key,
        f"{board.name}: ranks over several benchmarks",
        request.build_absolute_uri(request.path),
        year=now.year,
        note=f"Figures of {now.date().isoformat()}, ranking engine {settings.ENGINE_VERSION}",
    )
    content = {"page": page, "compared": compared, "board": page.board, "meta_board": board, "citation": citation}
    return render(request, "explore/meta_board.html", content)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_meta_board(request: HttpRequest) -> HttpResponse:
    """Benchmarks side by side, saved under an address."""
    if request.POST.get("action") == FIND:
        return render(request, "explore/manage_meta_board.html", {"form": _found(request)})
    if request.method == "POST":
        return _saved(request, MetaBoardForm(request.POST, viewer=request.user), None)
    query = read_query(request)
    initial: dict[str, Any] = {
        "benchmarks": list(query.keys),
        "rule": query.rule,
        "worth": query.score,
        "missing_policy": query.policy,
        "default_rule": query.reference if query.reference in site_rules() else DEFAULT_RULE,
        "least": query.least,
        "is_public": True,
    }
    form = MetaBoardForm(initial=initial, viewer=request.user)
    return render(request, "explore/manage_meta_board.html", {"form": form})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage_meta_board(request: HttpRequest, meta_key: str) -> HttpResponse:
    """The author changes a meta-board, or deletes it; staff delete it."""
    if request.POST.get("action") == "delete":
        board = deletable_meta_board(request.user, meta_key)
        board.delete()
        messages.success(request, gettext("The meta-board “%(board)s” was deleted.") % {"board": board.name})
        return redirect("meta_boards")
    if (
        request.method != "POST"
        and (board := deletable_meta_board(request.user, meta_key)).author_id != request.user.pk
    ):
        return render(request, "explore/manage_meta_board.html", {"meta_board": board})
    board = own_meta_board(request.user, meta_key)
    if request.POST.get("action") == FIND:
        return render(request, "explore/manage_meta_board.html", {"form": _found(request), "meta_board": board})
    if request.method == "POST":
        return _saved(request, MetaBoardForm(request.POST, viewer=request.user), meta_key)
    form = MetaBoardForm(initial=filled_in(board), viewer=request.user)
    return render(request, "explore/manage_meta_board.html", {"form": form, "meta_board": board})


def _found(request: HttpRequest) -> MetaBoardForm:
    """The form as it was typed so far, with boxes for the benchmarks that were looked for."""
    find = request.POST.get("find", "")[:200]
    return MetaBoardForm(initial=typed_so_far(request.POST), viewer=request.user, find=find)


def _saved(request: HttpRequest, form: MetaBoardForm, meta_key: str | None) -> HttpResponse:
    board = None if meta_key is None else own_meta_board(request.user, meta_key)
    if form.is_valid():
        try:
            saved = save_meta_board(form.spec(), author=signed_in(request), board=board)
        except ValidationError as error:
            take_errors(form, error)
        else:
            messages.success(request, gettext("The meta-board “%(saved)s” is saved.") % {"saved": saved.name})
            return redirect("meta_board", saved.key)
    # What was typed is in the form; the page names the board that is stored.
    stored = None if meta_key is None else own_meta_board(request.user, meta_key)
    content = {"form": form, "meta_board": stored}
    return render(request, "explore/manage_meta_board.html", content, status=400)
