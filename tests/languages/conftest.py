"""A site in the pseudo-language."""

import pytest
from django.utils import translation

from tests.languages.catalogues import forget_catalogues
from tests.languages.pseudo import CODE, FOLDER, write_catalogue


@pytest.fixture(scope="session")
def pseudo_catalogue(tmp_path_factory):
    """The folder of the catalogue in the pseudo-language, which is written once."""
    folder = tmp_path_factory.mktemp("catalogues")
    write_catalogue(folder)
    assert (folder / FOLDER / "LC_MESSAGES" / "django.mo").stat().st_size > 20_000
    return folder


@pytest.fixture
def pseudo_language(settings, pseudo_catalogue):
    """A site in the pseudo-language."""
    settings.LOCALE_PATHS, settings.LANGUAGE_CODE = [pseudo_catalogue], CODE
    forget_catalogues()
    with translation.override(CODE):
        yield
    forget_catalogues()
