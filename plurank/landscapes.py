"""Several boards on one plane: how much their tasks disagree, and how far changes that should not matter move them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plurank.board import Board
from plurank.tables import ResultTable

OF_WEIGHTS = "cardinal_sensitivity"
OF_SYSTEMS = "ordinal_sensitivity"
FEASIBLE = "scaled"  # the weights of Zhang and Hardt's released code, as on a site's landscape
_TITLES = {
    OF_WEIGHTS: "Pairs of systems that other task weights reverse under the mean",
    OF_SYSTEMS: "Pairs of first systems that added lower systems reverse under the win rate",
}


@dataclass(frozen=True, eq=False, repr=False)
class BoardLandscape(ResultTable):
    """Boards on a plane: columns `board`, `diversity`, and `lower` and `upper` of the share of reversed pairs.

    The share that was reached is `lower`; no change reverses more than `upper`. Where both are equal, it is proven to
    be the worst case.
    """

    def is_whole(self, column: str) -> bool:
        """Whether a column is of whole numbers: sizes are."""
        return column in ("systems", "tasks")

    def plot(self, ax: Any = None) -> Any:  # noqa: ANN401 -- of matplotlib
        """Draw each board at its diversity, with a line from `lower` to `upper`; return the axes."""
        from plurank.plots import plane  # noqa: PLC0415 -- needs matplotlib

        return plane(self, ax)


def landscape(
    boards: Mapping[str, Board],
    study: str = OF_WEIGHTS,
    *,
    seed: int = 0,
    **parameters: Any,  # noqa: ANN401
) -> BoardLandscape:
    """Put boards side by side: diversity against sensitivity, as Zhang and Hardt 2024 do in figure 1.

    Args:
        boards: by name.
        study: "cardinal_sensitivity" (other weights, ranking by mean) or "ordinal_sensitivity" (added lower systems,
            ranking by win rate).
        seed, parameters: of the study, see `Board.study`.

    Returns:
        A row a board. `diversity` is 1 - Kendall's W, corrected for ties, from 0 (all tasks agree) to 1. `notes` name
        the boards that have no figures, and say why.

    Raises:
        ValueError: there is no board, no such study, or no such parameter.
    """
    from ranking_engine.stability.catalogue import checked_parameters  # noqa: PLC0415 -- loads every study

    if study not in _TITLES:
        raise ValueError(f"`study` is {study!r}; expected one of {', '.join(_TITLES)}")
    if not isinstance(boards, Mapping) or not boards:
        given = "empty" if not boards else f"a {type(boards).__name__}"
        raise ValueError(f'`boards` is {given}; expected boards by name, such as {{"GLUE": plurank.read("glue.csv")}}')
    names = ("board", "systems", "tasks", "diversity", "lower", "upper")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    notes = []
    checked_parameters(study, parameters)
    for name, board in boards.items():
        disagreement = board.agreement().diversity
        try:
            summary = board.study(study, seed=seed, **parameters).summary
        except ValueError as error:  # the study says nothing of this board
            notes.append(f"{name} is not on the plane: {error}")
            continue
        reached = summary["feasible"][FEASIBLE] if study == OF_WEIGHTS else summary
        if reason := disagreement.reason or reached["reason"]:
            notes.append(f"{name} is not on the plane: {reason}")
            continue
        share = reached["discordant_share"]
        figures = (
            name, disagreement.n_systems, disagreement.n_tasks, disagreement.diversity_tie_corrected, share["lower"],
            share["upper"],
        )  # fmt: skip
        for column, figure in zip(names, figures, strict=True):
            columns[column].append(figure)
    return BoardLandscape(_TITLES[study], columns, notes)
