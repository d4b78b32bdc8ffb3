"""The distribution in fresh environments: what is built, what it needs, and that its manual is so there."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
DEMONSTRATION = ROOT / "leaderboard" / "demonstration" / "glue"
EXTRAS = "client,files,frames,plots"
WITHOUT_WHEELS = {
    "3.11": set(),
    "3.12": {"pyyaml"},
    "3.13": {"highspy", "matplotlib", "numpy", "pyarrow", "pyyaml", "scipy", "zstandard"},
}
EXAMPLES = """
import doctest, importlib, pathlib, pkgutil, sys
import plurank
modules = [module.name for module in pkgutil.walk_packages(plurank.__path__, "plurank.")]
names = ["plurank", *(name for name in modules if name != "plurank.__main__")]
results = [doctest.testmod(importlib.import_module(name)) for name in names]
results.append(doctest.testfile(sys.argv[1], module_relative=False))
assert not any(result.failed for result in results) and sum(result.attempted for result in results) > 15
board = plurank.read(sys.argv[2])
assert len(board.rank().columns) > 20 and board.prospects(n_draws=100).prospects.is_complete
assert "site-packages" in plurank.__file__, plurank.__file__
assert not {"django", "celery", "yaml", "pandas", "leaderboard"} & set(sys.modules)
"""


def run(*command, folder=ROOT):
    answer = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, f"{answer.stdout[-3000:]}\n{answer.stderr[-3000:]}"
    return answer.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run(
        sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--target", "wheel", "--directory", str(folder)
    )
    (path,) = folder.glob("plurank-*.whl")
    assert len(list(folder.glob("plurank-*.tar.gz"))) == 1
    return path


def requirements_of(wheel):
    """What the wheel requires, of itself and with each extra."""
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(next(name for name in archive.namelist() if name.endswith("/METADATA"))).decode()
    prefix = "Requires-Dist: "
    return [Requirement(line.removeprefix(prefix)) for line in metadata.splitlines() if line.startswith(prefix)]


def lower_bound(requirement):
    """The oldest version that is allowed."""
    (bound,) = [Version(one.version) for one in requirement.specifier if one.operator == ">="]
    return bound


def test_the_wheel_holds_the_engine_and_its_face_and_nothing_of_the_site(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"plurank", "ranking_engine"}
    assert {"plurank/py.typed", "ranking_engine/py.typed"} <= set(names)
    needed = [requirement.name for requirement in requirements_of(wheel) if requirement.marker is None]
    assert needed == ["highspy", "numpy", "scipy"]


TYPED = """
import plurank
import ranking_engine

board = plurank.Board({"A": {"x": 1.0}, "B": {"x": 2.0}})
ranks: dict[str, int | None] = board.rank("borda").ranks
matrix: ranking_engine.ScoreMatrix = board.matrix
reveal_type(board.prospects().of("A").weights)
reveal_type(plurank.score("accuracy", {"a": 1}, {"a": 1}))
"""


def test_user_code_is_typed_through_and_through(wheel, tmp_path):
    """Without its own marker `ranking_engine` is untyped to others, and names of plurank that come from it are Any."""
    packages = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    (tmp_path / "user.py").write_text(TYPED)
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    answer = subprocess.run(
        (sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "user.py"),
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "Any" not in answer.stdout
    assert answer.stdout.count("Revealed type") == 2


def python_of(version):
    """The interpreter of a version: that of the tests, one on the path, or one that pyenv keeps; None without any."""
    if version == ".".join(map(str, sys.version_info[:2])):
        return sys.executable
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    on_path = filter(None, [shutil.which(f"python{version}")])
    for path in [*on_path, *map(str, sorted(kept.glob(f"{version}.*/bin/python")))]:
        answer = subprocess.run([path, "-c", "print('runs')"], capture_output=True, text=True, check=False)
        if answer.stdout == "runs\n":  # what pyenv puts on the path may only say that there is none
            return path
    return None


@pytest.mark.slow  # installs packages: some ten seconds where they are at hand, a minute where they are not
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize(("extras", "versions"), [("client", "highest"), (EXTRAS, "lowest-direct")])
def test_the_manual_is_so_in_a_fresh_environment(wheel, tmp_path, extras, versions, version):
    interpreter = python_of(version)
    if interpreter is None:
        pytest.skip(f"there is no Python {version} on this machine")
    uv, python = (sys.executable, "-m", "uv"), str(tmp_path / "venv" / "bin" / "python")
    run(*uv, "venv", "--quiet", "--python", interpreter, str(tmp_path / "venv"))
    # Everything that the wheel needs is named beside it: the oldest versions are taken of what is named, not of what
    # that needs. Pythons that are newer than a package's oldest version have no wheel of it, and take the next.
    chosen = extras.split(",") if extras == EXTRAS else []
    direct = [
        one
        for one in requirements_of(wheel)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in chosen)
    ]
    needed = [f"{one.name}{one.specifier}" for one in direct]
    install = (*uv, "pip", "install", "--quiet", "--python", python, "--only-binary", ":all:")
    run(*install, "--resolution", versions, f"{wheel}[{extras}]", *needed)
    if versions == "lowest-direct":
        listed = json.loads(run(*uv, "pip", "list", "--format", "json", "--python", python))
        installed = {package["name"]: Version(package["version"]) for package in listed}
        least = {one.name: lower_bound(one) for one in direct}
        later = {name for name, bound in least.items() if installed[name] != bound}
        assert later <= WITHOUT_WHEELS[version], installed
        assert installed["numpy"] <= Version("2.1.0")
    run(python, "-c", EXAMPLES, str(ROOT / "docs" / "python.md"), str(DEMONSTRATION / "scores.csv"), folder=tmp_path)
    command = str(tmp_path / "venv" / "bin" / "plurank")
    assert run(command, "rank", str(DEMONSTRATION / "scores.csv"), "--rule", "borda", folder=tmp_path).count("\n") > 80
    assert run(command, "--version", folder=tmp_path).startswith("plurank ")
    # Linear programs are solved for this one: no package writes among the results.
    table = run(command, "prospects", str(DEMONSTRATION / "scores.csv"), "--format", "csv", folder=tmp_path)
    assert table.startswith("system,")
