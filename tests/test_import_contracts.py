"""What the contract about views and forms lets through, and what not."""

import pytest
from grimp import ImportGraph

from tests.import_contracts import PagesContract


@pytest.mark.parametrize(
    ("importer", "page", "is_allowed"),
    [
        ("site.urls", "site.boards.views", True),
        ("site.boards.views_rule", "site.boards.views", True),
        ("site.boards.public.views", "site.boards.forms", True),
        ("site.boards.page", "site.boards.views", False),
        ("site.explore.views", "site.boards.views", False),
        ("site.explore.views", "site.boards.forms_tasks", False),
        ("site.explore.views", "site.boards.page", True),
        ("other", "elsewhere.views", True),
    ],
)
def test_only_addresses_and_views_of_the_same_package_import_views(importer, page, is_allowed):
    graph = ImportGraph()
    graph.add_import(importer=importer, imported=page)
    options = {"name": "pages", "root": "site", "address_modules": ["site.urls"]}
    contract = PagesContract("pages", {"root_packages": ["site"]}, options)
    check = contract.check(graph, verbose=False)
    assert check.kept == is_allowed
    assert check.metadata["wrong"] == ([] if is_allowed else [(importer, page)])
