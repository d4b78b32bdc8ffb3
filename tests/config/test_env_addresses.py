"""Settings that are addresses: what is accepted, and what the errors say, without a password."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env_addresses

IN_FULL = "postgres://user:password@host:5432/name"
ESCAPES = "%2F for /, %40 for @, %3A for :, %23 for #, %3F for ? and %25 for %"


def database() -> dict:
    return env_addresses.database("X", "")


def hosts() -> list[str]:
    return env_addresses.hosts("X", "", is_production=False)


@pytest.mark.parametrize(
    ("read", "values", "message"),
    [
        (
            database,
            [
                "postgres://u:Sec/ret@h/x", "postgres://u:12/Sec@h/x", "postgres://u:Sec@h:notaport/x",
                "postgres://u:Sec@[::1/x", "postgres://", "postgresql://u:Sec@h/",
            ],
            f"X is no URL of a database; write {IN_FULL}, and in the user and the password {ESCAPES}",
        ),
        (
            database,
            ["postgres://u:Sec@h/x?sslmode=nonsense"],
            "X has sslmode='nonsense'; choose one of prefer, disable, allow, require, verify-ca, verify-full",
        ),
        (
            database,
            ["sqlite://plurank.sqlite3"],
            "X is no URL of an SQLite file; write sqlite:////folder/plurank.sqlite3",
        ),
        (database, ["Secret", "Sec:ret@h"], "X is no URL; allowed: postgres://..., sqlite:///..."),
        (database, ["mysql://root:Secret@h/x"], "X begins with 'mysql'; allowed: postgres://..., sqlite:///..."),
        (
            lambda: env_addresses.redis("X"),
            ["redis://h:notaport/0", "redis://h/notadb", "redis://:Sec/ret@h/0", "redis://:S#c@h", "redis://[::1/0"],
            f"X is no URL of a Redis; write redis://:password@host:6379/0, and in the password {ESCAPES}",
        ),
        (lambda: env_addresses.redis("X"), ["Secret"], "X is no URL; allowed: redis://..., rediss://..."),
        (
            lambda: env_addresses.redis("X"),
            ["http://:Secret@h"],
            "X begins with 'http'; allowed: redis://..., rediss://...",
        ),
        (
            lambda: env_addresses.site_url("X", ""),
            ["https://[::1", "https://a b", "https://a:b", "http://a.example", "nonsense!"],
            "X='{}' must be an https:// URL",
        ),
        (lambda: env_addresses.site_url("X", ""), ["https://u:Secret@a.example"], "X must be an https:// URL"),
        (
            lambda: env_addresses.own_url("X", ""),
            [
                "boards.example", "nonsense!", "https:", "https://boards.example/x", "https://a.example?x", "https://-1",
                "ftp://a.example", "https://a..example", "https://a.example:", "https://a.example:70000",
            ],
            "X='{}' is no URL such as https://boards.example, without a path",
        ),
        (
            lambda: env_addresses.origins("X"),
            ["boards.example", "nonsense!", "https://boards.example/x", "https://*", "https://a.*.example"],
            "X='{}' is no origin such as https://boards.example",
        ),
        (
            lambda: env_addresses.frame_sites("X"),
            ["nonsense!", "-1", "https://a; script-src *", "https://a.example/x", "javascript:"],
            "X='{}' is no site such as https://huggingface.co",
        ),
        (
            hosts,
            [
                "https://boards.example", "boards.example:443", "boards.example/", "-1", "nonsense!", "a_b", "::1",
                "b\u00fccher.example", "[x]", "..example", "[127.0.0.1]",
            ],
            "X has '{}', which is no host name; write boards.example, without https:// and without a port",
        ),
        (
            lambda: env_addresses.prefix("X"),
            ["boards", "/a/../b", "/.", "//evil.example", "/a b"],
            "X='{}' is no path such as /boards",
        ),
        (
            lambda: env_addresses.sender("X", ""),
            ["nonsense!", "Lab, Boards <a@b.example>", "Boards <a>", "@", "Plurank <x@y.example>, z@y.example"],
            "X='{}' is no sender; write plurank@boards.example or Plurank <plurank@boards.example>",
        ),
        (
            lambda: env_addresses.host("X", ""),
            ["mail.example:25", "mail..", ".", "[mail.example]", "[::1]:25", "[127.0.0.1]", "[]", "smtp://mail.example"],
            "X='{}' is no name of a host, such as mail.example, without a port",
        ),
        (
            lambda: env_addresses.mail_domains("X"),
            ["@", "nonsense!", "ada@lab.example", "*.lab.example"],
            "X has '{}', which is no domain such as university.example",
        ),
        (
            lambda: env_addresses.contact("X"),
            ["https://[::1", "nobody"],
            "X='{}' is neither an email address nor an https:// URL",
        ),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_without_a_secret(monkeypatch, read, values, message):
    messages, chained = [], []
    for value in values:
        monkeypatch.setenv("X", value)
        with pytest.raises(ImproperlyConfigured) as error:
            read()
        messages.append(str(error.value))
        chained.append(error.value.__context__)
    assert messages == [message.format(value) for value in values]
    assert chained == [None] * len(values), "a traceback would show what another error says of the secret"


def test_a_sender_with_a_line_break_is_refused_in_one_line(monkeypatch):
    monkeypatch.setenv("X", "x\ny@a.example")
    with pytest.raises(ImproperlyConfigured) as error:
        env_addresses.sender("X", "")
    assert str(error.value).startswith(r"X='x\ny@a.example' is no sender")


@pytest.mark.parametrize(
    ("read", "value", "expected"),
    [
        (lambda: env_addresses.redis("X"), "redis://", "redis://"),
        (lambda: env_addresses.redis("X"), "rediss://:p%2Fw@[::1]:6380/3?x=y", "rediss://:p%2Fw@[::1]:6380/3?x=y"),
        (lambda: env_addresses.own_url("X", ""), "http://[::1]:8000/", "http://[::1]:8000"),
        (
            lambda: env_addresses.origins("X"),
            "https://Boards.example/, https://*.lab.example",
            ["https://boards.example", "https://*.lab.example"],
        ),
        (
            lambda: env_addresses.frame_sites("X"),
            "https://huggingface.co, *.lab.example, https://*.hf.space, 'self', http://a:8000/",
            ["https://huggingface.co", "*.lab.example", "https://*.hf.space", "'self'", "http://a:8000/"],
        ),
        (
            hosts,
            "*, .lab.example, 127.0.0.1, [::1], Boards.example",
            ["*", ".lab.example", "127.0.0.1", "[::1]", "Boards.example"],
        ),
        (lambda: env_addresses.prefix("X"), "/lab/boards.v1/", "/lab/boards.v1"),
        (lambda: env_addresses.sender("X", ""), "Boards <a@b.example>", "Boards <a@b.example>"),
        (lambda: env_addresses.host("X", ""), "mail.example.", "mail.example"),
        (lambda: env_addresses.host("X", ""), "[2001:db8::1]", "2001:db8::1"),
        (lambda: env_addresses.host("X", ""), "::1", "::1"),
        (
            lambda: env_addresses.mail_domains("X"),
            "@Lab.example, b\u00fccher.example",
            ["lab.example", "b\u00fccher.example"],
        ),
        (
            lambda: database()["OPTIONS"],
            "postgresql://plurank@/plurank?host=/run&sslmode=require",
            {"host": "/run", "sslmode": "require"},
        ),
        (lambda: database()["NAME"], "sqlite:////a%2Bb%23c/plurank.sqlite3", "/a+b#c/plurank.sqlite3"),
    ],
)
def test_what_works_is_accepted(monkeypatch, read, value, expected):
    monkeypatch.setenv("X", value)
    assert read() == expected


def test_a_database_url_is_taken_apart(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://plurank:p%40ss@db.example:6543/boards")
    assert env_addresses.database("DATABASE_URL", "") == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "boards",
        "USER": "plurank",
        "PASSWORD": "p@ss",
        "HOST": "db.example",
        "PORT": 6543,
    }


def test_an_sqlite_path_may_hold_spaces(monkeypatch):
    monkeypatch.delenv("DATABASE_URL", raising=False)
    default = env_addresses.database("DATABASE_URL", "sqlite:////home/a b/plurank.sqlite3")
    assert default["NAME"] == "/home/a b/plurank.sqlite3"
