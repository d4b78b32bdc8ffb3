"""Votes as scores: what is recognised, what each score is, and files that would take too long."""

import json

import pytest

from ranking_engine.files.problems import InputError
from ranking_engine.importers import SourceFile, read_results, votes as votes_format
from ranking_engine.votes.categories import category_scores
from ranking_engine.votes.reading import read_votes
from tests.ranking_engine.votes.strategies import random_votes

HEADER = "model_a,model_b,winner,language\n"


def battles(n_votes=400, languages=("en", "de")):
    votes = random_votes(5, n_votes, seed=2)
    words = ("model_a", "model_b", "tie")
    names = votes.system_names
    return "".join(
        f"{names[i]},{names[j]},{words[outcome]},{languages[k % len(languages)]}\n"
        for k, (i, j, outcome) in enumerate(zip(votes.first, votes.second, votes.outcomes, strict=True))
    )


def test_scores_are_the_ratings_by_category():
    text = HEADER + battles()
    read = read_results([SourceFile("battles.csv", text.encode())])
    scores = category_scores(read_votes(text.encode()))
    expected = {
        (system, task): (scores.matrix.values[i, t], scores.board_errors[i, t])
        for i, system in enumerate(scores.matrix.system_names)
        for t, task in enumerate(scores.matrix.task_names)
    }
    assert read.format_key == "votes"
    assert {(r.system, r.task): (r.value, r.standard_error) for r in read.records} == expected
    assert "400 votes" in read.notes[0]
    assert read.notes[1].startswith("first place over all votes: Without ")
    assert sum(record.n for record in read.records) == 2 * 400


def test_json_lines_of_chatbot_arena_are_recognised():
    rows = [{"model_a": "A", "model_b": "B", "winner": word, "language": "en"} for word in ("model_a", "model_b")]
    lines = "\n".join(map(json.dumps, rows))
    for name, text in (("battles.jsonl", lines), ("battles.json", json.dumps(rows))):
        read = read_results([SourceFile(name, text.encode())])
        assert {(r.system, r.task, r.value) for r in read.records} == {("A", "en", 1000.0), ("B", "en", 1000.0)}


@pytest.mark.parametrize("header", ["system,a,b", "a,b,winner", "model_a,model_b,score", "winner,task,score"])
def test_other_tables_are_not_votes(header):
    file = SourceFile("table.csv", f"{header}\nOne,1,2\n".encode())
    assert not votes_format.recognise([file])
    assert not votes_format.recognise([file, file])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("A,B,maybe,en\n", "battles.csv, line 2, column 'winner': 'maybe' is no outcome"),
        ("A,B,model_a,en\n", "no category has ratings"),
        ("".join(f"s{k},s{k + 1},tie,en\n" for k in range(800)), "too many systems and categories"),
    ],
)
def test_files_that_give_no_scores_say_why(rows, message):
    with pytest.raises(InputError, match=message):
        read_results([SourceFile("battles.csv", (HEADER + rows).encode())])


def test_more_votes_than_are_read_are_refused(monkeypatch):
    monkeypatch.setattr(votes_format, "MAX_VOTES", 100)
    with pytest.raises(InputError, match="more than 100 votes"):
        read_results([SourceFile("battles.csv", (HEADER + battles(101)).encode())])
