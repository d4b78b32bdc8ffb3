"""Texts and files that cost a careless reader more than their size."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

# Each makes a text of some `n` characters.
TEXTS: dict[str, Callable[[int], str]] = {
    "marks": lambda n: "a" + "\u0301" * (n // 2) + "\u0323" * (n // 2),
    "marks on letters": lambda n: ("a" + "\u0323\u0301" * 14) * (n // 29 + 1),
    "ligatures": lambda n: "\ufdfa" * n,
    "letters that grow": lambda n: "\u0130\ufb03\u1e9e" * (n // 3 + 1),
    "digits": lambda n: "9" * n,
    "decimals": lambda n: "0." + "3" * n,
    "fraction": lambda n: "1/" + "7" * n,
    "exponent": lambda n: "1e" + "9" * min(n, 9),
    "base 60": lambda n: "1:" * (n // 2) + "1",
    "dots": lambda n: "a" + ".a" * (n // 2) + "=1",
    "two letters": lambda n: "abba" * (n // 4 + 1),
    "spaces": lambda n: "a" + " " * n + "b",
    "lines": lambda n: "a\n" * (n // 2 + 1),
    "commas": lambda n: "a," * (n // 2 + 1),
    "semicolons": lambda n: "a;" * (n // 2 + 1),
    "conditions": lambda n: "task-1 >= 0.5 and " * (n // 18 + 1),
    "weights": lambda n: "task-1:3," * (n // 9 + 1),
    "quotes": lambda n: '"' * n,
    "brackets": lambda n: "[" * n,
    "braces": lambda n: '{"a":' * (n // 5 + 1),
    "links": lambda n: "[a](" * (n // 4 + 1),
    "emphasis": lambda n: "*a **a " * (n // 7 + 1),
    "quotations": lambda n: "> " * (n // 2 + 1),
    "code": lambda n: "`" * n,
    "mark-up": lambda n: "<a " * (n // 3 + 1),
    "entities": lambda n: "&amp" * (n // 4 + 1),
    "backslashes": lambda n: "\\" * n,
    "hyphens": lambda n: "-" * n,
    "mail address": lambda n: "a@" + "a." * (n // 2) + "example",
    "web address": lambda n: "https://" + "a." * (n // 2) + "example/",
    "international address": lambda n: "https://" + "\u00e9" * n + ".example/",
}


def table(
    n_systems: int, n_tasks: int, *, ties: bool = False, n_digits: int = 3, mark: str = ".", between: str = ","
) -> str:
    """A scores.csv of random scores, or of two different ones only."""
    draw = np.random.default_rng(1)
    scores = draw.integers(0, 2, (n_systems, n_tasks)) if ties else draw.random((n_systems, n_tasks)).round(n_digits)
    header = between.join(["system", *(f"t{t}" for t in range(n_tasks))])
    rows = (between.join([f"s{i}", *(str(x).replace(".", mark) for x in row)]) for i, row in enumerate(scores.tolist()))
    return "\n".join([header, *rows]) + "\n"


def near_prime(k: int) -> int:
    """Numbers of 30 digits that share few factors."""
    return 10**29 + 7 * k**5 + 1


# What is pasted at /try/: a table, and what describes it.
TRIED: dict[str, tuple[str, str]] = {
    "dotted key": ("system,a\nx,1\ny,2", "a" + ".a" * 140_000 + "=1"),
    "dotted table": ("system,a\nx,1\ny,2", "[a" + ".a" * 140_000 + "]"),
    "nested arrays": ("system,a\nx,1\ny,2", "a=" + "[" * 290_000),
    "many keys": ("system,a\nx,1\ny,2", "".join(f"a{k}=1\n" for k in range(30_000))),
    "many tasks": ("system,a\nx,1\ny,2", "".join(f"[[task]]\nname='t{k}'\n" for k in range(12_000))),
    "marks in the header": ("system,a" + "\u0301" * 60_000 + "\u0323" * 60_000 + "\nx,1\ny,2\n", ""),
    "marks in many cells": ("system," + ",".join("a" + "\u0323\u0301" * 14 + str(k) for k in range(190)) + "\nx,1", ""),
    "one row": ("system," + "a," * 149_000, ""),
    "one column": ("system,a\n" + "x,1\n" * 70_000, ""),
    "quotes": ('"' * 299_000, ""),
    "largest": (table(300, 200, n_digits=1), ""),
    "largest, tied": (table(300, 200, ties=True), ""),
    "largest, semicolons": (table(250, 200, mark=",", between=";"), ""),
    "square": (table(200, 200, ties=True), ""),
    "many could win": (table(100, 30), ""),
    "weights of many digits": (
        table(200, 200),
        json.dumps({f"t{t}": f"{near_prime(t)}/{near_prime(t + 500)}" for t in range(200)}),
    ),
    "weights beyond 64 bits": (
        table(20, 4),
        json.dumps({"t0": "1/1000000007", "t1": "1/998244353", "t2": "1/1000000009", "t3": "1/999999937"}),
    ),
    "weights nested": (table(20, 4), "[" * 100_000),
    "exponents": (table(20, 4), json.dumps({"t0": "1e999999999", "t1": "1e-999999999"})),
    "groups in two steps": (
        table(300, 198, n_digits=1),
        "".join(f"[[task]]\nname='t{t}'\ngroup='g{t // 3}'\n" for t in range(198)),
    ),
}

# Bodies of JSON that are sent to every route of the API that takes one.
BODIES: dict[str, Callable[[], str]] = {
    "brackets": lambda: "[" * 2_400_000,
    "braces": lambda: '{"a":' * 480_000,
    "lists": lambda: "[" + "[]," * 790_000 + "[]]",
    "objects": lambda: "[" + '{"":0},' * 340_000 + "{}]",
    "digits": lambda: "9" * 2_400_000,
    "keys": lambda: "{" + ",".join(f'"{k:x}":0' for k in range(240_000)) + "}",
    "quotes": lambda: '"' * 2_400_000,
    "escapes": lambda: '"' + "\\u0301" * 400_000 + '"',
    "spaces": lambda: " " * 2_400_000,
}

# Files that an upload of results may hold.
RESULTS: dict[str, tuple[str, Callable[[], str]]] = {
    "lists": ("a.json", lambda: "[" + "[]," * 3_400_000 + "[]]"),
    "objects": ("a.json", lambda: "[" + '{"":{}},' * 1_200_000 + "[]]"),
    "just enough": ("a.json", lambda: json.dumps([{"a": 1.5, "b": "x" * 100}] * 49_000)),
    "base 60": ("a.yaml", lambda: "a: " + "1:" * 500_000 + "1"),
    "scalars": ("a.yaml", lambda: "[" + "a," * 500_000 + "a]"),
    "wide": ("scores.csv", lambda: table(245, 1999)),
    "wide, semicolons": ("scores.csv", lambda: table(200, 1999, mark=",", between=";")),
    "long": ("scores.csv", lambda: "system,task,score\n" + "".join(f"s{k},t{k % 99},1\n" for k in range(99_000))),
    "one row": ("scores.csv", lambda: "system," + "a," * 5_000_000),
    "marks": ("scores.csv", lambda: "system,a" + "\u0301" * 120_000 + "\nx,1\n"),
}
# Beginnings of names that take long to compare: by their letters, or by the marks on these.
NAMES: dict[str, str] = {
    "Hangul": "\uac01" * 190,
    "Cyrillic": "\u0410" * 150,
    "Chinese": "".join(map(chr, range(0x4E00, 0x4E00 + 190))),
    "marks on Latin letters": "e\u0323\u0301" * 60,
    "marks on Cyrillic letters": "\u0431\u0304" * 95,
}


def named(beginning: str, n_systems: int, n_tasks: int) -> str:
    """A scores.csv of systems whose names begin alike."""
    rows = (f"{beginning}{k}{',1' * n_tasks}\n" for k in range(n_systems))
    return f"system,{','.join(f'task-{t + 1}' for t in range(n_tasks))}\n{''.join(rows)}"


# Tables of scores of single instances.
INSTANCES: dict[str, Callable[[], str]] = {
    "many tasks": lambda: "system,task,instance,score\n" + "".join(f"s,t{k},i,1\n" for k in range(600_000)),
    "many instances": lambda: "system,task,instance,score\n" + "".join(f"s,task-1,i{k},1\n" for k in range(450_000)),
    "many systems": lambda: "system,task,instance,score\n" + "".join(f"s{k},task-1,i,1\n" for k in range(450_000)),
    "one row": lambda: "system,instance," + "a," * 5_000_000,
    "wide": lambda: "system,instance," + ",".join(f"t{k}" for k in range(2000)) + "\n" + "s,i" + ",1" * 2000 + "\n",
}
