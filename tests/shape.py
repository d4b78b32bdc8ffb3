"""The shape of the code in figures: `python -m tests.shape`, `--list leaderboard/boards` for what is behind them, and
`--before COMMIT` for how many lines of Python there were then.

`make check` keeps the order of imports.
"""

import argparse
import ast
import io
import re
import subprocess
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("ranking_engine", "plurank", "leaderboard", "jobs", "config")
BESIDE = ("performance", "reproduction", "tests")
MAX_LINES = 400
MAX_WIDTH = 120
MAX_MODULES = 25
WORD = re.compile(r"\w+")
VAGUE = frozenset({"found", "told", "asked", "shown", "stated"})  # participles that name nothing


@dataclass(frozen=True)
class Finding:
    """One thing that is counted, and where it is."""

    subject: str
    path: Path
    line: int
    text: str


def modules(*folders: str) -> list[Path]:
    """The Python files in these folders of the checkout, migrations left out."""
    files = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(path for path in files if "migrations" not in path.parts)


def findings() -> list[Finding]:
    """Everything that is to be none, or few."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in modules(*PACKAGES)}
    every = [*_long_modules(), *_full_folders(), *_same_class_names(trees), *_circles(trees), *_wide_lines()]
    for path, tree in trees.items():
        every += [*_called_once(path, tree), *_vague_names(path, tree)]
    every += _without_underscore(trees)
    for path in modules(*BESIDE):
        every += _vague_names(path, ast.parse(path.read_text(encoding="utf-8")))
    return every


def _long_modules() -> Iterator[Finding]:
    for path in modules(*PACKAGES, *BESIDE):
        n_lines = len(path.read_text(encoding="utf-8").splitlines())
        if n_lines > MAX_LINES:
            yield Finding("long module", path, 1, f"{n_lines} lines")


def _full_folders() -> Iterator[Finding]:
    sizes = Counter(path.parent for path in modules(*PACKAGES, *BESIDE))
    for folder, n_modules in sizes.items():
        if n_modules > MAX_MODULES:
            yield Finding("full folder", folder, 1, f"{n_modules} modules")


def _same_class_names(trees: dict[Path, ast.Module]) -> Iterator[Finding]:
    places = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append((path, node.lineno))
    for name, where in places.items():
        # A command of Django must be called so.
        if len(where) > 1 and name != "Command":
            yield Finding("class name used twice", *where[0], f"{name}, also in {_short(where[1][0])}")


def _called_once(path: Path, tree: ast.Module) -> Iterator[Finding]:
    """Private functions and methods whose only mention in their module is one call."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    helpers = {
        node.name: node.lineno
        for node in ast.walk(tree)
        if isinstance(node, functions) and node.name.startswith("_") and not node.name.endswith("__")
    }
    mentions = Counter[str]()
    calls = Counter[str]()
    for node in ast.walk(tree):
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
        if name in helpers:
            mentions[name] += 1
        if isinstance(node, ast.Call):
            called = node.func
            name = (
                called.id if isinstance(called, ast.Name) else called.attr if isinstance(called, ast.Attribute) else ""
            )
            if name in helpers:
                calls[name] += 1
    for name, line in helpers.items():
        if mentions[name] == calls[name] == 1:
            yield Finding("helper called once", path, line, name)


def _without_underscore(trees: dict[Path, ast.Module]) -> Iterator[Finding]:
    """Functions that look like the interface of their module, and that no other file names.

    A function that its decorator registers, a command, and a name in `__all__` have readers elsewhere.
    """
    patterns = ("*.py", "*.toml", "[!.]*/**/*.py", "[!.]*/**/*.html")
    files = {path for pattern in patterns for path in ROOT.glob(pattern)}
    words = [set(WORD.findall(path.read_text(encoding="utf-8"))) for path in files]
    n_files = Counter(word for names in words for word in names)
    for path, tree in trees.items():
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        for node in tree.body:
            if (
                isinstance(node, ast.FunctionDef)
                and not node.name.startswith("_")
                and not node.decorator_list
                and node.name not in texts
                and n_files[node.name] == 1
            ):
                yield Finding("helper without its underscore", path, node.lineno, node.name)


def _vague_names(path: Path, tree: ast.Module) -> Iterator[Finding]:
    # The fields of an answer of the API are called as programs know them.
    serializers = [n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name.endswith("Serializer")]
    fields = {target for n in serializers for line in n.body if isinstance(line, ast.Assign) for target in line.targets}
    for node in ast.walk(tree):
        if node in fields:
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE:
            yield Finding("vague name", path, node.lineno, node.id)
        elif isinstance(node, ast.arg) and node.arg in VAGUE:
            yield Finding("vague name", path, node.lineno, node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name.lower() in VAGUE:
            yield Finding("vague name", path, node.lineno, node.name)


def _circles(trees: dict[Path, ast.Module]) -> Iterator[Finding]:
    """Modules that cannot be imported one after the other, by the imports at their tops."""
    paths = {_dotted(path): path for path in trees}
    graph = {name: _imported(trees[path], set(paths)) - {name} for name, path in paths.items()}
    while free := [name for name, needed in graph.items() if not needed & graph.keys()]:
        for name in free:
            del graph[name]
    # What is left needs itself, or something that does.
    needed = {name for names in graph.values() for name in names}
    for name in sorted(graph.keys() & needed):
        yield Finding("circle of imports", paths[name], 1, name)


def _imported(tree: ast.Module, names: set[str]) -> set[str]:
    imported = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names} & names
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & names
            # `from package import module` needs the module, and its package only for its other names.
            imported |= inner if len(inner) == len(node.names) else inner | ({node.module} & names)
    return imported


def _dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def _wide_lines() -> Iterator[Finding]:
    for path in sorted((ROOT / "templates").rglob("*")):
        if path.suffix in {".html", ".txt", ".svg"}:
            for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
                if len(line) > MAX_WIDTH:
                    yield Finding("wide template line", path, i, f"{len(line)} characters")


def lines_in(archive: bytes) -> tuple[list[int], list[int]]:
    """The lines of every Python file of a tar archive, and of every one of its tests; migrations left out."""
    code: list[int] = []
    tests: list[int] = []
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        for member in packed:
            path = PurePosixPath(member.name)
            if member.isfile() and path.suffix == ".py" and "migrations" not in path.parts:
                file = packed.extractfile(member)
                n_lines = file.read().count(b"\n") if file else 0
                (tests if path.parts[0] == "tests" else code).append(n_lines)
    return code, tests


def _short(path: Path) -> str:
    return str(path.relative_to(ROOT))


def main() -> None:
    """Print the figures, and with `--list` what is behind them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--list", metavar="PATH", help="list every finding under this path of the checkout")
    parser.add_argument("--before", metavar="COMMIT", help="print the lines of Python of this commit, too")
    arguments = parser.parse_args()
    listed = arguments.list
    every = findings()
    if listed is not None:
        for finding in every:
            if finding.path.is_relative_to((ROOT / listed).resolve()):
                print(f"{_short(finding.path)}:{finding.line}: {finding.subject}: {finding.text}")
        return
    counts = Counter(finding.subject for finding in every)
    code, tests = ([path.read_text(encoding="utf-8").count("\n") for path in files] for files in (
        modules(*PACKAGES, "performance", "reproduction"), modules("tests")
    ))  # fmt: skip
    if arguments.before:
        archive = subprocess.run(
            ["git", "archive", "--format=tar", "--end-of-options", arguments.before],
            cwd=ROOT, capture_output=True, check=True,
        ).stdout  # fmt: skip
        then, tests_then = lines_in(archive)
        print(
            f"{sum(then):7,}  lines of Python in {len(then)} modules, and {sum(tests_then):,} of tests in "
            f"{len(tests_then)}, at {arguments.before}"
        )
    print(f"{sum(code):7,}  lines of Python in {len(code)} modules, and {sum(tests):,} of tests in {len(tests)}")
    fullest = Counter(path.parent for path in modules(*PACKAGES)).most_common(1)[0]
    print(f"{fullest[1]:7,}  modules in the fullest folder, {_short(fullest[0])}")
    for subject in (
        "long module", "full folder", "circle of imports", "class name used twice", "helper called once",
        "helper without its underscore", "vague name", "wide template line",
    ):  # fmt: skip
        print(f"{counts[subject]:7,}  {subject}")


if __name__ == "__main__":
    main()
