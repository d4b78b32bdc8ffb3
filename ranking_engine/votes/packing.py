"""Votes as bytes for storing, a byte or two a column and vote, and many such batches as one.

Who voted and on what are 64-bit numbers, the same for one person in every batch: such as keyed
hashes, so that no name is stored.
"""

from __future__ import annotations

import dataclasses
import io
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ranking_engine.text.names import fold_name
from ranking_engine.votes.data import NO_CATEGORY, Votes
from ranking_engine.votes.reading import in_order

Ids = NDArray[np.uint64]

NO_ID = 0  # of a vote that does not say who voted, or on what
LEVEL = 3  # of zlib: twice as fast as its default, and one part in twenty larger


@dataclass(frozen=True, eq=False)
class PackedVotes:
    """One batch of votes, with numbers for voters and prompts that hold across batches.

    Attributes:
        votes: `voters` and `prompts` are places among the ids; -1 for none.
        voter_ids, prompt_ids: distinct; empty where no vote has one.
    """

    votes: Votes
    voter_ids: Ids
    prompt_ids: Ids


def packed_votes(batch: PackedVotes) -> bytes:
    """Return a batch as bytes, its columns as narrow as their values allow."""
    votes = batch.votes
    names = {
        "systems": list(votes.system_names),
        "categories": list(votes.category_names),
        "covariates": list(votes.covariate_names),
    }
    columns: dict[str, np.ndarray] = {
        "names": np.frombuffer(json.dumps(names, ensure_ascii=False).encode(), dtype=np.uint8),
        "first": votes.first.astype(np.uint16),
        "second": votes.second.astype(np.uint16),
        "outcomes": votes.outcomes.astype(np.uint8),
        "voter_ids": batch.voter_ids,
        "prompt_ids": batch.prompt_ids,
    }
    if votes.category_names:
        columns["categories"] = votes.categories.astype(np.int16)
    if not (votes.weights == 1).all():
        columns["weights"] = votes.weights
    optional = {"voters": votes.voters, "prompts": votes.prompts, "times": votes.times}
    columns |= {name: values for name, values in optional.items() if values is not None}
    if votes.covariate_names:
        columns["covariates"] = votes.covariates
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **columns)
    return zlib.compress(file.getvalue(), LEVEL)


def unpacked_votes(data: bytes) -> PackedVotes:
    """Return a batch from what `packed_votes` made of it."""
    with np.load(io.BytesIO(zlib.decompress(data)), allow_pickle=False) as columns:
        names = json.loads(columns["names"].tobytes().decode())
        n_votes = len(columns["first"])
        votes = Votes(
            tuple(names["systems"]),
            columns["first"].astype(np.int32),
            columns["second"].astype(np.int32),
            columns["outcomes"].astype(np.int8),
            columns["weights"] if "weights" in columns else np.ones(n_votes),
            columns["categories"].astype(np.int32)
            if "categories" in columns
            else np.full(n_votes, NO_CATEGORY, dtype=np.int32),
            tuple(names["categories"]),
            columns.get("voters"),
            columns.get("prompts"),
            columns.get("times"),
            columns["covariates"] if "covariates" in columns else np.zeros((n_votes, 0)),
            tuple(names["covariates"]),
        )
        return PackedVotes(votes, columns["voter_ids"], columns["prompt_ids"])


def without_voter(batch: PackedVotes, voter_id: int) -> PackedVotes | None:
    """Return a batch in which one voter's votes no longer say whose they are; None where they have none in it.

    The votes themselves stay, each as a cluster of its own.
    """
    places = np.flatnonzero(batch.voter_ids == np.uint64(voter_id))
    if batch.votes.voters is None or not places.size:
        return None
    place = int(places[0])
    numbers = np.where(batch.votes.voters == place, -1, batch.votes.voters)
    numbers = np.where(numbers > place, numbers - 1, numbers).astype(np.int32)
    return PackedVotes(
        dataclasses.replace(batch.votes, voters=numbers), np.delete(batch.voter_ids, place), batch.prompt_ids
    )


def joined_votes(batches: Iterable[PackedVotes], covariates: Sequence[str] = ()) -> Votes:
    """Return the votes of several batches as one, in their order. O(n_votes).

    Systems and categories whose names differ in case alone are the same, under the name that came first. Times stay
    only where every batch has them: votes without one could not be put in order.

    Args:
        batches: none of them may lack one of the covariates.
        covariates: those that are kept, in this order.

    Raises:
        ValueError: there is no batch, or one lacks a covariate.
    """
    parts = list(batches)
    if not parts:
        raise ValueError("there are no votes")
    columns = []
    for number, part in enumerate(parts, start=1):
        missing = [name for name in covariates if name not in part.votes.covariate_names]
        if missing:
            raise ValueError(f"the votes of batch {number} do not say the covariate {missing[0]!r}")
        columns.append(part.votes.covariates[:, [part.votes.covariate_names.index(name) for name in covariates]])
    systems, system_places = _one_list([part.votes.system_names for part in parts])
    categories, category_places = _one_list([part.votes.category_names for part in parts])
    codes = []
    for part, places in zip(parts, category_places, strict=True):
        own = part.votes.categories
        codes.append(np.where(own >= 0, places[own], NO_CATEGORY) if len(places) else own)
    have_times = all(part.votes.times is not None for part in parts)
    return Votes(
        systems,
        np.concatenate([places[part.votes.first] for part, places in zip(parts, system_places, strict=True)]),
        np.concatenate([places[part.votes.second] for part, places in zip(parts, system_places, strict=True)]),
        np.concatenate([part.votes.outcomes for part in parts]),
        np.concatenate([part.votes.weights for part in parts]),
        np.concatenate(codes).astype(np.int32),
        categories,
        _one_numbering([(part.votes.voters, part.voter_ids, part.votes.n_votes) for part in parts]),
        _one_numbering([(part.votes.prompts, part.prompt_ids, part.votes.n_votes) for part in parts]),
        np.concatenate([part.votes.times for part in parts]) if have_times else None,
        np.concatenate(columns),
        tuple(covariates),
    )


def _one_list(lists: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], list[NDArray[np.int32]]]:
    """Return the names of all lists in sorted order, and for each list the places of its names among them."""
    names: dict[str, str] = {}
    for part in lists:
        for name in part:
            names.setdefault(fold_name(name), name)
    ordered, new_places = in_order(list(names.values()))
    place = dict(zip(names, new_places.tolist(), strict=True))
    return ordered, [np.array([place[fold_name(name)] for name in part], dtype=np.int32) for part in lists]


def _one_numbering(columns: Sequence[tuple[NDArray[np.int32] | None, Ids, int]]) -> NDArray[np.int32] | None:
    """Return numbers of voters, or prompts, from 0 across batches; None where no batch has any."""
    known = np.unique(np.concatenate([ids for _, ids, _ in columns]))
    if not known.size:
        return None
    parts = []
    for numbers, ids, n_votes in columns:
        if numbers is None or not ids.size:
            parts.append(np.full(n_votes, -1, dtype=np.int32))
        else:
            places = np.searchsorted(known, ids).astype(np.int32)
            parts.append(np.where(numbers >= 0, places[numbers], -1).astype(np.int32))
    return np.concatenate(parts)
