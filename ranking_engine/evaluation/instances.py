"""References and predictions as they were read: what is hidden, and what a system says of each instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranking_engine.evaluation.metric import CodeArray, FloatArray, codes_of
from ranking_engine.text.names import counted


@dataclass(frozen=True)
class References:
    """What is hidden of a task.

    Attributes:
        ids: of the instances, in the order of the file.
        values: their references, of the kind that the metric has.
        splits: the split of each, or None where the file has none.
        weights: of each, or None where all weigh 1.
        clusters: the cluster of each, or None; an instance without one is a cluster by itself.
        categories: the category of each, or None; empty for an instance without one.
        ignored_columns: of the file, that mean nothing here.
    """

    ids: tuple[str, ...]
    values: tuple[Any, ...]
    splits: tuple[str, ...] | None = None
    weights: FloatArray | None = None
    clusters: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    ignored_columns: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Say how many there are; what is hidden is in no message and no log."""
        return f"<References of {len(self)} instances>"

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def split_names(self) -> tuple[str, ...]:
        """The splits in sorted order."""
        return tuple(sorted(set(self.splits or ())))

    def of_splits(self, *names: str) -> References:
        """Return the instances of some splits.

        Raises:
            ValueError: no instance has such a split.
        """
        for name in names:
            if name not in (self.splits or ()):
                raise ValueError(f"no instance has the split {name!r}; the splits are {', '.join(self.split_names)}")
        return self.at(np.flatnonzero([split in names for split in self.splits or ()]))

    def at(self, places: CodeArray) -> References:
        """Return the instances at some places."""

        def taken(values: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(values[place] for place in places.tolist())

        return References(
            taken(self.ids),
            taken(self.values),
            self.splits and taken(self.splits),
            None if self.weights is None else self.weights[places],
            self.clusters and taken(self.clusters),
            self.categories and taken(self.categories),
            self.ignored_columns,
        )

    def cluster_codes(self) -> CodeArray:
        """Number the clusters; an instance without one is a cluster by itself."""
        if not self.clusters:
            return np.arange(len(self), dtype=np.int64)
        names, (codes,) = codes_of(self.clusters)
        if names[0] == "":
            alone = codes == 0
            codes[alone] = len(names) + np.arange(np.count_nonzero(alone))
            codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
        return codes


@dataclass(frozen=True)
class Predictions:
    """What a system predicts, in the order of the references that it was read for.

    Attributes:
        ids: of the instances.
        values: the predictions, of the kind that the metric takes.
        ignored_columns: of the file, that mean nothing here.
    """

    ids: tuple[str, ...]
    values: tuple[Any, ...]
    ignored_columns: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def for_ids(self, ids: Sequence[str]) -> Predictions:
        """Return the predictions of some instances, in their order.

        Raises:
            ValueError: an instance has no prediction.
        """
        if tuple(ids) == self.ids:
            return self
        place = {name: k for k, name in enumerate(self.ids)}
        missing = [name for name in ids if name not in place]
        if missing:
            has = "has" if len(missing) == 1 else "have"
            raise ValueError(f"{counted(len(missing), 'instance')} {has} no prediction, such as {missing[0]!r}")
        take: Callable[[str], Any] = lambda name: self.values[place[name]]  # noqa: E731
        return Predictions(tuple(ids), tuple(map(take, ids)), self.ignored_columns)
