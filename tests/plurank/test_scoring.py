"""Predictions scored by a call: mappings and files, and what is refused."""

import pytest

import plurank


def test_mappings_and_files_give_the_same_score(tmp_path):
    labels = {"1": "cat", "2": "dog", "3": "cat"}
    mine = {"3": "cat", "1": "dog", "2": "dog"}
    for name, values, column in (("labels.csv", labels, "label"), ("mine.csv", mine, "prediction")):
        rows = "".join(f"{key},{value}\n" for key, value in values.items())
        (tmp_path / name).write_text(f"id,{column}\n{rows}")
    of_files = plurank.score("f1", tmp_path / "labels.csv", str(tmp_path / "mine.csv"), positive="cat")
    of_mappings = plurank.score("f1", labels, mine, positive="cat")
    assert of_files == of_mappings
    assert (of_files.value, of_files.n_instances) == (pytest.approx(2 / 3), 3)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("acuracy", {"a": "x"}, {"a": "x"}), {}, "no metric is called 'acuracy'; did you mean 'accuracy'?"),
        (("rmse", {"a": 1}, {"a": "much"}), {}, "the prediction of 'a': 'much' is not a finite number"),
        (("rmse", {"a": None}, {"a": 1}), {}, "the reference of 'a': no number"),
        (("rmse", {"a": 1, "b": 2}, {"a": 1}), {}, "1 instance has no prediction, such as 'b'"),
        (("rmse", {"a": 1}, {"a": 1, "b": 2}), {}, "1 prediction has no reference, such as that of 'b'"),
        (
            ("rmse", {"a": 1}, {"a": 1}),
            {"k": 2},
            "the argument 'k': Root mean squared error has no such option; it has none",
        ),
    ],
)
def test_what_cannot_be_scored_is_named(arguments, options, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the whole message is compared
        plurank.score(*arguments, **options)
    assert message in str(caught.value)
