"""Votes as bytes and back, and many batches as one: nothing is lost, and people are the same across batches."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from ranking_engine.votes.data import Votes
from ranking_engine.votes.packing import PackedVotes, joined_votes, packed_votes, unpacked_votes, without_voter

NAMES = ["Ash", "Birch", "Cedar", "Dogwood"]


@st.composite
def batches(draw) -> PackedVotes:
    """A batch of some votes with everything that votes may have, or without it."""
    n = draw(st.integers(1, 12))
    pairs = draw(st.lists(st.permutations(NAMES), min_size=n, max_size=n))
    column = {
        name: draw(st.one_of(st.none(), st.lists(st.sampled_from(values), min_size=n, max_size=n)))
        for name, values in {
            "categories": ["code", "text", None],
            "voters": ["x", "y", "z", None],
            "prompts": ["p", None],
        }.items()
    }
    times = draw(st.one_of(st.none(), st.lists(st.floats(0, 1e9), min_size=n, max_size=n)))
    weights = draw(st.one_of(st.none(), st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    gaps = draw(st.lists(st.floats(-1, 1), min_size=n, max_size=n))
    outcomes = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    votes = Votes.of(
        [pair[0] for pair in pairs], [pair[1] for pair in pairs], outcomes, weights=weights, times=times,
        covariates={"length": gaps}, **column,
    )  # fmt: skip
    ids = {name: sorted({label for label in column[name] or [] if label}) for name in ("voters", "prompts")}
    known = {"x": 11, "y": 2**63 + 5, "z": 7, "p": 3}
    return PackedVotes(
        votes, *(np.array([known[label] for label in ids[name]], dtype=np.uint64) for name in ("voters", "prompts"))
    )


def rows_of(votes: Votes, voter_ids=None) -> list[tuple[object, ...]]:
    """Every vote in words: naive, one at a time."""
    rows = []
    for k in range(votes.n_votes):
        code = votes.categories[k]
        voter = -1 if votes.voters is None else int(votes.voters[k])
        named = voter if voter_ids is None or voter < 0 else int(voter_ids[voter])
        rows.append((
            votes.system_names[votes.first[k]], votes.system_names[votes.second[k]], int(votes.outcomes[k]),
            float(votes.weights[k]), None if code < 0 else votes.category_names[code], named,
            float(votes.covariates[k][0]) if votes.covariate_names else None,
        ))  # fmt: skip
    return rows


@settings(max_examples=100, deadline=None)
@given(batches())
def test_what_is_unpacked_is_what_was_packed(batch):
    back = unpacked_votes(packed_votes(batch))
    assert rows_of(back.votes, back.voter_ids) == rows_of(batch.votes, batch.voter_ids)
    for name in ("voters", "prompts", "times"):
        assert (getattr(back.votes, name) is None) == (getattr(batch.votes, name) is None)
    back.votes.check()


@settings(max_examples=100, deadline=None)
@given(st.lists(batches(), min_size=1, max_size=4))
def test_joined_batches_are_their_votes_one_after_the_other(parts):
    joined = joined_votes(parts, ["length"])
    joined.check()
    assert [row[:5] + row[6:] for row in rows_of(joined)] == [
        row[:5] + row[6:] for part in parts for row in rows_of(part.votes)
    ]
    known = np.unique(np.concatenate([part.voter_ids for part in parts]))
    by_id = [row[5] for row in rows_of(joined, known)] if joined.voters is not None else [-1] * joined.n_votes
    assert by_id == [row[5] for part in parts for row in rows_of(part.votes, part.voter_ids)]
    assert (joined.times is None) == any(part.votes.times is None for part in parts)


def test_names_that_differ_in_case_alone_are_one_system_and_one_category():
    none = np.array([], dtype=np.uint64)
    parts = [
        PackedVotes(Votes.of([first], ["Birch"], [0], categories=[category]), none, none)
        for first, category in (("Ash", "Code"), ("ASH", "code"))
    ]
    joined = joined_votes(parts)
    assert (joined.system_names, joined.category_names) == (("Ash", "Birch"), ("Code",))
    assert joined.first.tolist() == [0, 0]


@settings(max_examples=100, deadline=None)
@given(batches(), st.sampled_from([11, 2**63 + 5, 7]))
def test_a_person_who_is_forgotten_leaves_their_votes_and_no_number(batch, voter_id):
    left = without_voter(batch, voter_id)
    if voter_id not in batch.voter_ids.tolist():
        assert left is None
        return
    assert voter_id not in left.voter_ids.tolist()
    before, after = rows_of(batch.votes, batch.voter_ids), rows_of(left.votes, left.voter_ids)
    assert after == [(*row[:5], -1 if row[5] == voter_id else row[5], row[6]) for row in before]


def test_a_batch_that_lacks_a_covariate_is_named():
    none = np.array([], dtype=np.uint64)
    with pytest.raises(ValueError, match="batch 1 do not say the covariate 'length'"):
        joined_votes([PackedVotes(Votes.of(["Ash"], ["Birch"], [0]), none, none)], ["length"])
    with pytest.raises(ValueError, match="no votes"):
        joined_votes([])
