"""Saved boards over benchmarks: who may read, make and change them. What they show is computed when it is read."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q, QuerySet
from django.http import Http404
from django.utils.translation import gettext, gettext_noop

from leaderboard.access.audience import Viewer, listed_benchmarks
from leaderboard.common.language.engine import in_page_language
from leaderboard.common.locks import user_lock
from leaderboard.common.names import make_key, with_free_key
from leaderboard.computing.rankings import site_rules
from leaderboard.models import Benchmark, MetaBoard, User
from ranking_engine.text.names import check_name, shorten

MIN_BENCHMARKS, MAX_BENCHMARKS = 2, 12  # of one board
MAX_META_BOARDS = 50  # of one person
MAX_DESCRIPTION = 5_000  # characters
RESERVED = ("new",)  # in place of a key in addresses
NO_META_BOARD = gettext_noop("There is no meta-board of this name, or you have no access to it.")
FIELDS = ("name", "description", "is_public", "rule", "worth", "missing_policy", "default_rule", "least")


@dataclass(frozen=True)
class MetaBoardSpec:
    """A meta-board that is to be.

    Attributes:
        benchmarks: the keys of those that vote.
        fields: any of FIELDS; what is left out has its default, or stays.
    """

    benchmarks: Sequence[str] | None
    fields: Mapping[str, Any]


def readable_meta_boards(viewer: Viewer) -> QuerySet[MetaBoard]:
    """The public ones and the viewer's own."""
    visible = Q(is_public=True)
    if viewer.is_authenticated:
        visible |= Q(author=viewer)
    return MetaBoard.objects.filter(visible)


def readable_meta_board(viewer: Viewer, key: str) -> MetaBoard:
    """The meta-board of this key.

    Raises:
        Http404: there is none, or the viewer may not know of it.
    """
    board = readable_meta_boards(viewer).prefetch_related("benchmarks").filter(key=key).first()
    if board is None:
        raise Http404(gettext(NO_META_BOARD))
    return board


def own_meta_board(viewer: Viewer, key: str) -> MetaBoard:
    """The meta-board of this key, for the person who saved it.

    Raises:
        Http404: there is none, or the viewer may not know of it.
        PermissionDenied: another person saved it.
    """
    board = readable_meta_board(viewer, key)
    if board.author_id != viewer.pk:
        raise PermissionDenied(gettext("Only the person who saved a meta-board can change it."))
    return board


def deletable_meta_board(viewer: Viewer, key: str) -> MetaBoard:
    """The meta-board of this key, for the person who saved it, and for staff where it is public.

    Raises:
        Http404: there is none, or the viewer may not know of it.
        PermissionDenied: another person saved it, and the viewer is no staff.
    """
    board = readable_meta_board(viewer, key)
    if board.author_id != viewer.pk and not viewer.is_staff:
        raise PermissionDenied(gettext("Only the person who saved a meta-board and the site’s staff can delete it."))
    return board


def save_meta_board(spec: MetaBoardSpec, *, author: User, board: MetaBoard | None = None) -> MetaBoard:
    """Save a meta-board, or change one.

    Args:
        spec: what it is to be.
        author: who saves it.
        board: their own, which changes; a new one where None.

    Raises:
        ValidationError: a field is wrong, a benchmark is not there for the author or not for all readers of a public
            board, too few or too many benchmarks, or too many boards.
        Http404: the board was deleted meanwhile.
    """
    fields = {name: value for name, value in spec.fields.items() if name in FIELDS}
    if "name" in fields:
        try:
            fields["name"] = check_name(str(fields["name"]), "meta-board")
        except ValueError as problem:
            raise ValidationError({"name": in_page_language(str(problem))}) from problem
    with user_lock(author):
        saved = MetaBoard(author=author)
        if board is not None:
            # As it is by now: another request may have changed or deleted it since it was read.
            present = MetaBoard.objects.select_for_update().filter(pk=board.pk, author=author).first()
            if present is None:
                raise Http404(gettext(NO_META_BOARD))
            saved = present
        for name, value in fields.items():
            setattr(saved, name, value)
        keys = spec.benchmarks
        if keys is None:
            keys = list(saved.benchmarks.values_list("key", flat=True)) if saved.pk else []
        benchmarks = _chosen_benchmarks(author, keys, is_public=saved.is_public)
        _check_fields(saved, len(benchmarks))
        if board is None and MetaBoard.objects.filter(author=author).count() >= MAX_META_BOARDS:
            raise ValidationError(
                gettext("You have %(max_meta_boards)s meta-boards, which is the limit. Delete one first.")
                % {"max_meta_boards": MAX_META_BOARDS}
            )
        with_free_key(lambda: store(saved))
        saved.benchmarks.set(benchmarks)
    return saved


def store(board: MetaBoard) -> None:
    """Store a meta-board, a new one under a free key.

    Raises:
        ValidationError: a field is wrong.
        IntegrityError: someone else took the key at the same moment.
    """
    if board.pk is None:
        # The keys of private ones say nothing, so that no other key tells that they are there.
        board.key = f"board-{secrets.token_hex(8)}"
        if board.is_public:
            similar = MetaBoard.objects.filter(key__startswith=make_key(board.name, ())).values_list("key", flat=True)
            board.key = make_key(board.name, {*similar, *RESERVED})
    board.full_clean(validate_unique=False)  # the database knows which keys are taken
    board.save()


def _chosen_benchmarks(author: User, keys: Sequence[str], *, is_public: bool) -> list[Benchmark]:
    """The benchmarks of these keys.

    Args:
        author: who chose them.
        keys: theirs.
        is_public: whether every reader has to be able to see that they are there.

    Raises:
        ValidationError: one is not there for the author or for all, or they are too few or too many.
    """
    wanted = list(dict.fromkeys(keys))
    if not MIN_BENCHMARKS <= len(wanted) <= MAX_BENCHMARKS:
        message = gettext(
            "Select %(least_benchmarks)s to %(max_benchmarks)s benchmarks; you selected %(n_wanted)s."
        ) % {"n_wanted": len(wanted), "least_benchmarks": MIN_BENCHMARKS, "max_benchmarks": MAX_BENCHMARKS}
        raise ValidationError({"benchmarks": message})
    known = {benchmark.key: benchmark for benchmark in listed_benchmarks(author).filter(key__in=wanted)}
    if missing := [key for key in wanted if key not in known]:
        message = gettext("There is no benchmark %(shorten)s, or you have no access to it.") % {
            "shorten": repr(shorten(missing[0]))
        }
        raise ValidationError({"benchmarks": message})
    hidden = [key for key in wanted if known[key].visibility != Benchmark.Visibility.PUBLIC]
    if is_public and hidden:
        message = gettext("%(hidden)s is not public, so a public meta-board cannot have it.") % {"hidden": hidden[0]}
        raise ValidationError({"benchmarks": message})
    return [known[key] for key in wanted]


def _check_fields(board: MetaBoard, n_benchmarks: int) -> None:
    """Refuse rules that there are not, and what no system can fulfil.

    Args:
        board: as it is to be.
        n_benchmarks: that vote.

    Raises:
        ValidationError: something is wrong.
    """
    if board.rule and board.rule not in site_rules():
        raise ValidationError({"rule": gettext("%(shorten)s is not a rule.") % {"shorten": repr(shorten(board.rule))}})
    if board.default_rule not in site_rules():
        raise ValidationError(
            {"default_rule": gettext("%(shorten)s is not a rule.") % {"shorten": repr(shorten(board.default_rule))}}
        )
    if not MIN_BENCHMARKS <= board.least <= n_benchmarks:
        raise ValidationError(
            {
                "least": gettext("%(least)s is not between %(least_benchmarks)s and %(n_benchmarks)s.")
                % {"least": board.least, "least_benchmarks": MIN_BENCHMARKS, "n_benchmarks": n_benchmarks}
            }
        )
    if len(board.description) > MAX_DESCRIPTION:
        message = gettext("%(n_description)s characters; at most %(max_description)s are kept.") % {
            "n_description": len(board.description),
            "max_description": MAX_DESCRIPTION,
        }
        raise ValidationError({"description": message})
