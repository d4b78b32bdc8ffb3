"""Templates can be read: `make check` holds their indentation, this the length of their lines."""

from django.conf import settings

MAX_LENGTH = 120


def test_no_line_of_a_template_is_too_long():
    templates = settings.ROOT / "templates"
    long_lines = [
        f"{file.relative_to(templates)}:{number}"
        for file in sorted(templates.rglob("*.html"))
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if len(line) > MAX_LENGTH
    ]
    assert long_lines == []
