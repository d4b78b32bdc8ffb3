"""`__among`: the same rows as `__in`, for any number of values, with one parameter and the field's index."""

import pytest

from leaderboard.models import Score, Submission, System


@pytest.mark.parametrize("n_more", [0, 100_000])
def test_among_finds_the_rows_that_in_finds_for_any_number_of_ids(make, n_more):
    make.benchmark({f"System {i}": [i, -i] for i in range(6)})
    chosen = list(Submission.objects.order_by("pk").values_list("pk", flat=True))[1:4]
    expected = list(Score.objects.filter(submission_id__in=chosen).order_by("pk"))
    missing = [10**12 + i for i in range(n_more)]
    assert len(expected) == 6
    assert list(Score.objects.filter(submission_id__among=[*chosen, *missing]).order_by("pk")) == expected


def test_among_takes_texts_with_quotes_and_any_letter(make):
    names = ['O\'Neil "quoted"', "Überlauf", "模型", "back\\slash"]
    make.benchmark({name: [1.0, 2.0] for name in [*names, "Another"]})
    assert set(System.objects.filter(name__among=names).values_list("name", flat=True)) == set(names)


def test_among_none_finds_nothing(make):
    make.benchmark()
    assert not System.objects.filter(pk__among=[]).exists()
    assert not System.objects.filter(key__among=[]).exists()


def test_among_sends_one_parameter_for_a_thousand_values():
    by_id = System.objects.filter(pk__among=list(range(1000)))
    by_key = System.objects.filter(key__among=["a"] * 1000)
    assert [len(rows.query.sql_with_params()[1]) for rows in (by_id, by_key)] == [1, 1]
