"""Completion, by the shells themselves: what each offers after what was typed."""

import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys

import pytest

from plurank.command_line import completion, main, parser
from ranking_engine.catalogue.registry import RULES

COMMANDS = {command.name for command in completion.commands_of(parser())}
# What was typed, and what has to be among the offers; `*.csv` is a file of the folder.
CASES = [
    (["ra"], {"rank"}),
    (["pa"], {"papers"}),
    (["rank", "--form"], {"--format"}),
    (["rank", "--format", "la"], {"latex"}),
    (["compare", "--rule", "bor"], {"borda"}),
    (["stability", "--study", "mis"], {"missing_scores"}),
    (["prospects", "sc"], {"scores.csv"}),
    (["rank", "--benchmark", "sc"], {"scores.csv"}),
    (["completion", "z"], {"zsh"}),
]
BASH = """
eval "$({python} -m plurank completion bash)"
COMP_WORDS=(plurank {words}); COMP_CWORD={last}
_plurank
[ ${{#COMPREPLY[@]}} -eq 0 ] && mapfile -t COMPREPLY < <(compgen -f -- {word})
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def offers_of_bash(words, folder):
    script = BASH.format(python=shlex.quote(sys.executable), words=" ".join(words), last=len(words), word=words[-1])
    return printed_by("bash", script, folder)


def offers_of_fish(words, folder):
    script = (
        f"{shlex.quote(sys.executable)} -m plurank completion fish | source; complete -C 'plurank {' '.join(words)}'"
    )
    return printed_by("fish", script, folder)


def printed_by(shell, script, folder):
    """The first word of each line."""
    answer = subprocess.run(
        [shell, "-c", script], cwd=folder, env=environment(), capture_output=True, text=True, check=True
    )
    return {line.partition("\t")[0] for line in answer.stdout.splitlines()}


def offers_of_zsh(words, folder):
    """The one word that fits: zsh completes in a terminal alone, which gets the words and a tabulator."""
    (folder / ".zshrc").write_text(
        "PS1= RPS1=; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D\n"
        f'eval "$({shlex.quote(sys.executable)} -m plurank completion zsh)"\n'
        "zle-line-init() { print -n READY }; zle -N zle-line-init\n"
    )
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(
        ["zsh", "-i"], cwd=folder, env={**environment(), "ZDOTDIR": str(folder), "TERM": "dumb", "COLUMNS": "200"},
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, close_fds=True,
    )  # fmt: skip
    try:
        until(ours, "READY", "")
        os.write(ours, f"plurank {' '.join(words)}\t".encode())
        os.write(ours, b"\x01print -r -- \x05 end\r")  # to the beginning of the line, and to its end
        line = re.search(r"\nplurank (.*) end\r\n", until(ours, " end\r\n", ""))
        return {line[1].split()[-1]} if line else set()
    finally:
        os.close(theirs)
        os.close(ours)
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()


def until(terminal, mark, text):
    """What a terminal prints until the mark at the end of a line, within a minute."""
    while mark not in text and select.select([terminal], [], [], 60)[0]:
        text += os.read(terminal, 4096).decode(errors="replace")
    return text


def environment():
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))  # noqa: PTH100, PTH118, PTH120
    return {**os.environ, "PYTHONPATH": root}


OFFERS = {"bash": offers_of_bash, "zsh": offers_of_zsh, "fish": offers_of_fish}


@pytest.mark.parametrize("shell", [shell for shell in OFFERS if shutil.which(shell)])
@pytest.mark.parametrize(
    ("words", "expected"), CASES, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_shell_offers_commands_options_values_and_files(tmp_path, shell, words, expected):
    (tmp_path / "scores.csv").touch()
    offers = OFFERS[shell](words, tmp_path)
    assert expected <= offers
    assert all(offer.startswith(words[-1]) for offer in offers)


@pytest.mark.parametrize("shell", [shell for shell in completion.SHELLS if shutil.which(shell)])
def test_a_shell_takes_the_script(tmp_path, shell, capsys):
    assert main(["completion", shell]) == 0
    script = tmp_path / "script"
    script.write_text(capsys.readouterr().out)
    answer = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize("shell", list(completion.SHELLS))
def test_every_command_is_in_every_script_with_its_options_and_rules(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert {name for name in COMMANDS if name not in script} == set()
    assert {"rank", "papers", "submit", "completion"} <= COMMANDS
    for command in completion.commands_of(parser()):
        for flag in command.flags:
            assert flag.name.removeprefix("--") in script
    assert {key for key in RULES if key not in script} == set()


def test_a_shell_that_is_not_known_is_refused(capsys):
    with pytest.raises(SystemExit) as end:
        main(["completion", "tcsh"])
    assert end.value.code == 2
    assert "bash" in capsys.readouterr().err


def test_what_is_said_of_an_option_ends_with_a_word_and_keeps_equals_signs():
    (ranked,) = (command for command in completion.commands_of(parser()) if command.name == "rank")
    helps = {flag.name: flag.help for flag in ranked.flags}
    assert helps["--column"] == "what a column of a table is, where that is not clear, such as"
    assert helps["--option"] == "an option of one rule, such as copeland.variant=lower"
