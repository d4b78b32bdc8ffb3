"""Links with parameters, and links between the pages of a list."""

from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page


def with_parameters(path: str, **parameters: object) -> str:
    """An address with these parameters; empty ones are left out."""
    kept = {name: value for name, value in parameters.items() if value}
    return f"{path}?{urlencode(kept)}" if kept else path


def page_links(
    page: Page[Any], path: str = "", /, *, parameter: str = "page", anchor: str = "", **fields: object
) -> dict[str, object]:
    """What `common/_pages.html` shows.

    Args:
        page: the one that is shown.
        path: of the address; the present one where empty.
        parameter: of the address, which says the page.
        anchor: the part of the page that the list is in.
        fields: further parameters of the address; empty ones are left out.
    """
    kept = [(name, value) for name, value in fields.items() if value]
    n_pages, end = page.paginator.num_pages, f"#{anchor}" if anchor else ""

    def address(number: int) -> str:
        return f"{path}?{urlencode([*kept, (parameter, number)])}{end}"

    return {
        "number": page.number,
        "n_pages": n_pages,
        "first_url": address(1) if page.number > 2 else "",
        "previous_url": address(page.number - 1) if page.number > 1 else "",
        "next_url": address(page.number + 1) if page.number < n_pages else "",
        "last_url": address(n_pages) if page.number < n_pages - 1 else "",
    }
