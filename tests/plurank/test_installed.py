"""The distribution in fresh environments: what is built, what it needs, and that its manual is so there."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEMONSTRATION = ROOT / "leaderboard" / "demonstration" / "glue"
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


def test_the_wheel_holds_the_engine_and_its_face_and_nothing_of_the_site(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"plurank", "ranking_engine"}
    assert "plurank/py.typed" in names
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist: ") and "extra ==" not in line]
    assert [line.split()[1].partition(">")[0] for line in needed] == ["highspy", "numpy", "scipy"]


@pytest.mark.slow  # installs packages: some ten seconds where they are at hand, a minute where they are not
@pytest.mark.parametrize("versions", ["highest", "lowest-direct"])
def test_the_manual_is_so_in_a_fresh_environment(wheel, tmp_path, versions):
    uv, python = (sys.executable, "-m", "uv"), str(tmp_path / "venv" / "bin" / "python")
    run(*uv, "venv", "--quiet", "--python", sys.executable, str(tmp_path / "venv"))
    run(*uv, "pip", "install", "--quiet", "--python", python, "--resolution", versions, f"{wheel}[client]")
    run(python, "-c", EXAMPLES, str(ROOT / "docs" / "python.md"), str(DEMONSTRATION / "scores.csv"), folder=tmp_path)
    command = str(tmp_path / "venv" / "bin" / "plurank")
    assert run(command, "rank", str(DEMONSTRATION / "scores.csv"), "--rule", "borda", folder=tmp_path).count("\n") > 80
    assert run(command, "--version", folder=tmp_path).startswith("plurank ")
