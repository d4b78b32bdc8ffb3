import pytest
from django.template import engines
from django.template.loader import render_to_string


def test_a_template_that_writes_what_no_view_gives_fails_by_name():
    with pytest.raises(AssertionError, match=r"_rank.html writes rank, which no view gives"):
        render_to_string("common/_rank.html", {})


def test_a_template_may_say_that_a_variable_can_be_missing():
    text = "{{ a|default:'-' }}{% if b %}b{% endif %}{% firstof c 'c' %}{{ d|yesno:'yes,no' }}"
    assert engines["django"].from_string(text).render({}) == "-cno"
