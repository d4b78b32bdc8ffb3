"""The alerts and the dashboard that are shipped: they can be read, and the manual says what each alert means."""

import re

from django.conf import settings

from tests.monitoring import expressions, panels, rules

OPERATE = (settings.ROOT / "docs" / "operate.md").read_text()


def test_every_alert_has_a_name_of_its_own_a_severity_and_words():
    names = [rule["alert"] for rule in rules()]
    assert len(names) == len(set(names)) > 10
    assert {rule["labels"]["severity"] for rule in rules()} == {"page", "ticket"}
    assert all(len(rule["annotations"]["summary"]) > 20 for rule in rules())


def test_the_manual_explains_every_alert_and_no_other():
    named = re.findall(r"`(Plurank[A-Z]\w+)`", OPERATE.partition("### Prometheus")[2])
    assert set(named) == {rule["alert"] for rule in rules()}


def test_every_panel_asks_for_something_of_ours_and_none_lies_on_another():
    assert all("plurank_" in target["expr"] for panel in panels() for target in panel["targets"])
    assert len({panel["id"] for panel in panels()}) == len({panel["title"] for panel in panels()}) == len(panels()) > 15
    cells = [
        (x, y)
        for panel in panels()
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23


def test_what_a_text_names_of_an_answer_is_what_it_is_grouped_or_chosen_by():
    for each in expressions():
        chosen = set().union(*each.series.values()) if each.series else set()
        assert each.named <= each.grouped | chosen | {"instance"}, each
