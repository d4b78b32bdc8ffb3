"""Where tokens come from, and which file is refused."""

import pytest

from plurank.client.tokens import token_for

URL = "https://boards.example"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.delenv("PLURANK_TOKEN", raising=False)
    path = tmp_path / "tokens.toml"
    monkeypatch.setenv("PLURANK_TOKENS", str(path))
    return path


def written(path, text, mode=0o600):
    path.write_text(text)
    path.chmod(mode)


def test_the_environment_comes_first_then_the_line_of_the_site(file, monkeypatch):
    assert token_for(URL) == ""
    written(file, f'"{URL}/" = "plurank_file"\n')
    assert (token_for(URL), token_for(f"{URL}/"), token_for("https://other.example")) == ("plurank_file",) * 2 + ("",)
    monkeypatch.setenv("PLURANK_TOKEN", " plurank_environment\n")
    assert token_for(URL) == "plurank_environment"


def test_a_file_that_others_may_read_is_refused_with_what_mends_it(file):
    written(file, "", mode=0o640)
    with pytest.raises(PermissionError, match="chmod 600"):
        token_for(URL)


def test_a_broken_file_is_refused_without_saying_what_is_in_it(file):
    written(file, f'"{URL}" = plurank_secret\n')
    with pytest.raises(ValueError, match="cannot be read: expected lines such as") as refusal:
        token_for(URL)
    assert "plurank_secret" not in str(refusal.value)
