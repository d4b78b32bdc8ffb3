"""Options of single rules on the command line, progress bars, exit statuses and --help."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest

from ranking_engine import RULES
from ranking_engine.command_line import main
from ranking_engine.command_line.progress import ProgressBar, bar_line
from ranking_engine.command_line.rule_options import option_lines, options_in_force, read_rule_options

TOY = "system,1,2,3,4,5\nA,4,4,1,1,1\nB,3,1,4,3,3\nC,2,3,2,4,2\nD,1,2,3,2,4\n"
WITH_OPTIONS = (
    "positional, copeland, minimax, schulze, ranked_pairs, kemeny, soft_condorcet, win_rate, relative_difference, "
    "bradley_terry, plackett_luce"
)


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(TOY)
    return path


def run_json(capsys, *arguments):
    assert main(["rank", *map(str, arguments), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def example_of(rule, name):
    """Another value than the default of an option."""
    if name in rule.options:
        return rule.options[name][-1], rule.options[name][-1]
    return ("3,2,1", [3, 2, 1]) if name in rule.parameters else ("0.5", 0.5)


@pytest.mark.parametrize(
    ("key", "name"),
    [(rule.key, name) for rule in RULES.values() for name in (*rule.options, *rule.numbers, *rule.parameters)],
)
def test_every_option_of_every_rule_can_be_stated_and_is_told(toy, capsys, key, name):
    text, value = example_of(RULES[key], name)
    report = run_json(capsys, toy, "--rule", "borda", "--option", f"{key}.{name}={text}")
    assert list(report["rules"]) == ["borda", key]
    assert report["rules"][key]["options"][name] == value
    assert main(["rank", str(toy), "--rule", "borda", "--option", f"{key}.{name}={text}"]) == 0
    value_text = "3, 2, 1" if name == "vector" else text
    assert f"{RULES[key].name}: {name} {value_text}\n" in capsys.readouterr().out


def test_options_change_the_ranking(toy, capsys):
    ranking = run_json(capsys, toy, "--option", "copeland.variant=lower")["rules"]["copeland"]
    assert ranking["scores"] == {"A": 0.0, "B": 3.0, "C": 2.0, "D": 1.0}


def test_without_a_statement_options_have_their_defaults():
    assert options_in_force(RULES["kemeny"], "best", {}) == {"seconds": 30.0}
    assert options_in_force(RULES["borda"], None, {}) == {"ties": "worst"}
    assert options_in_force(RULES["win_rate"], None, {"variant": "helm"}) == {"variant": "helm"}
    assert options_in_force(RULES["mean"], "best", {}) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x=1", "--option x=1: expected RULE.NAME=VALUE, such as copeland.variant=lower"),
        ("kemeny.seconds", "--option kemeny.seconds: expected RULE.NAME=VALUE, such as copeland.variant=lower"),
        ("kemny.seconds=1", f"--option kemny: no such rule; did you mean kemeny? Rules with options: {WITH_OPTIONS}"),
        ("x.y=1", f"--option x: no such rule. Rules with options: {WITH_OPTIONS}"),
        ("mean.a=1", f"--option mean: the rule mean has no options; these have some: {WITH_OPTIONS}"),
        (
            "borda.ties=best",
            f"--option borda: the rule borda has no options but --ties; these have some: {WITH_OPTIONS}",
        ),
        ("kemeny.time=1", "--option kemeny.time: no such option; kemeny has seconds"),
        ("kemeny.seconds=soon", "--option kemeny.seconds=soon: expected a number from 0 to 86400"),
        ("kemeny.seconds=nan", "--option kemeny.seconds=nan: expected a number from 0 to 86400"),
        ("bradley_terry.prior=-1", "--option bradley_terry.prior=-1: expected a number from 0 to 1e+06"),
        (
            "minimax.variant=x",
            "--option minimax.variant=x: expected one of winning_votes, margins, pairwise_opposition",
        ),
    ],
)
def test_bad_options_list_what_is_allowed(text, message):
    with pytest.raises(ValueError, match=re.escape(message) + "$"):
        read_rule_options([text])


def test_help_names_every_rule_and_option_and_every_example_runs(toy, capsys, monkeypatch):
    (toy.parent / "all.csv").write_text(TOY)
    (toy.parent / "benchmark.toml").write_text("gamma = 3\n")
    monkeypatch.chdir(toy.parent)
    for command in ("rank", "compare"):
        with pytest.raises(SystemExit) as caught:
            main([command, "--help"])
        text = capsys.readouterr().out
        assert caught.value.code == 0
        assert all(re.search(rf"\b{key}\b", text) for key in RULES)
        joined = re.sub(r"\s+", "", text)
        assert all(re.sub(r"\s+", "", line) in joined for line in option_lines())
        assert "exit status: 0 it is done" in text
        examples = re.findall(r"^      (.*python -m ranking_engine .*)$", text, re.MULTILINE)
        assert len(examples) >= 3
        for example in examples:
            if "|" not in example:  # a pipe reads standard input, see test_command_line
                assert main(example.split()[3:]) == 0
    capsys.readouterr()


def test_a_bar_says_how_far_the_work_is():
    assert bar_line("ranking", 12, 24, "Borda") == "ranking [############            ] 12/24 Borda"
    assert bar_line("ranking", 0, 0) == "ranking [########################] 0/0"


def test_a_bar_is_drawn_on_a_terminal_only_and_wiped_at_the_end():
    silent = io.StringIO()
    with ProgressBar("work", silent) as bar:
        bar(1, 2)
    assert silent.getvalue() == ""
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    with ProgressBar("work", terminal) as bar:
        bar(1, 2, "first")
        bar(1, 2, "first")  # at once, and nothing new
    half = "#" * 12 + " " * 12
    assert terminal.getvalue() == f"\r\x1b[Kwork [{half}] 1/2 first\r\x1b[K"


def test_ranking_on_a_terminal_shows_each_rule_in_turn(toy):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ranking_engine", "rank", str(toy), "--rule", "borda", "--rule", "kemeny"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.close(theirs)
    drawn = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "0/2 Borda" in drawn
    assert "1/2 Kemeny" in drawn
    assert drawn.endswith("\r\x1b[K")
    assert done.stdout.startswith("system  Borda  Kemeny\n")


def test_ctrl_c_ends_with_status_130_and_one_line():
    script = """
import sys
from ranking_engine.command_line import main
print("up", file=sys.stderr, flush=True)
sys.exit(main(["rank", "-"]))
"""
    pipe = subprocess.PIPE
    running = subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert running.stderr.readline() == "up\n"
    time.sleep(1)  # it waits for standard input now, on a busy machine too
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=20)
    assert (running.returncode, out, err) == (130, "", "interrupted\n")


def test_names_that_the_terminal_has_no_letters_for_are_spelled_out(toy):
    toy.write_text("system,a\nБ,1\n", encoding="utf-8")
    command = [sys.executable, "-m", "ranking_engine", "rank", str(toy), "--rule", "mean"]
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "\\u0411" in done.stdout


def test_many_systems_are_ranked_without_comparing_all_pairs(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    path.write_text("system,a\n" + "".join(f"s{k},{k}\n" for k in range(20_001)))
    assert main(["rank", str(path), "--rule", "mean"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[1].split() == ["s20000", "1"]
    assert "The Condorcet winner and the Smith set are not computed for so many systems\n" in out


def test_tasks_of_weight_0_vote_where_asked(toy, capsys):
    weights = toy.with_name("w.json")
    weights.write_text('{"1": 0, "2": 0}')
    arguments = (toy, "--rule", "plurality", "--weights", weights)
    assert run_json(capsys, *arguments)["rules"]["plurality"]["scores"]["A"] == 0
    assert run_json(capsys, *arguments, "--all-tasks")["rules"]["plurality"]["scores"]["A"] == 2


def test_strengths_that_do_not_exist_name_the_groups(toy, capsys):
    toy.write_text("system,a\nA,2\nB,1\n")
    answer = run_json(capsys, toy, "--rule", "bradley_terry")["rules"]["bradley_terry"]
    assert (answer["status"], answer["details"]["components"]) == ("undefined", [["A"], ["B"]])
    toy.write_text("system,a\n" + "".join(f"{name},1\n" for name in "AB"))
    answer = run_json(capsys, toy, "--rule", "bradley_terry", "--option", "bradley_terry.prior=1")
    assert answer["rules"]["bradley_terry"]["scores"] == {"A": 0.0, "B": 0.0}


def test_from_ten_tasks_on_strengths_have_standard_errors(toy, capsys):
    tasks = ",".join(f"t{k}" for k in range(10))
    toy.write_text(f"system,{tasks}\nA,{'1,0,' * 4}1,1\nB,{'0,1,' * 4}0,0\n")
    details = run_json(capsys, toy, "--rule", "bradley_terry")["rules"]["bradley_terry"]["details"]
    assert set(details["standard_errors"]) == {"A", "B"}
    assert details["standard_errors"]["A"] == pytest.approx(details["standard_errors"]["B"])
