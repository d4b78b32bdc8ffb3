"""The tables of docs/ladder.md are those that the program computes."""

from django.conf import settings

from performance.calibration.ladder import attack_rows, quota_rows


def test_the_page_of_the_ladder_has_the_computed_figures():
    lines = (settings.ROOT / "docs" / "ladder.md").read_text(encoding="utf-8").splitlines()
    computed = attack_rows((500,))[2:] + quota_rows()
    assert [row for row in computed if row not in lines] == []
    assert len(computed) == 11
