"""`completion`: what a shell needs to complete commands, options and their values; written from the parser itself."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

EXAMPLES = """\
examples:
  bash, in ~/.bashrc
      eval "$(plurank completion bash)"
  zsh, in ~/.zshrc after compinit
      eval "$(plurank completion zsh)"
  fish
      plurank completion fish > ~/.config/fish/completions/plurank.fish
"""


@dataclass(frozen=True)
class Flag:
    """An option of a command.

    Attributes:
        name: such as `--format`.
        help: the first words of what it does.
        takes_value: whether something follows it.
        values: all that may follow it; empty where that is a file or something of your own.
    """

    name: str
    help: str
    takes_value: bool
    values: tuple[str, ...]


@dataclass(frozen=True)
class CompletedCommand:
    """A command: its name, what it does, its options, and what its first argument may be where that is no file."""

    name: str
    help: str
    flags: tuple[Flag, ...]
    arguments: tuple[str, ...]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command and its arguments."""
    command = commands.add_parser(
        "completion",
        help="print what makes a shell complete this command",
        description="Print what makes a shell complete commands, options, rules and files.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("shell", choices=list(SHELLS))
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Return the script for a shell."""
    from plurank.command_line import parser  # noqa: PLC0415 -- which declares this command

    return SHELLS[options.shell](commands_of(parser()))


def commands_of(parser: argparse.ArgumentParser) -> list[CompletedCommand]:
    """What a parser declares, as far as a shell completes it."""
    actions = parser._actions  # noqa: SLF001 -- argparse has no other list of them
    (subparsers,) = (action for action in actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001
    helps = {action.dest: action.help or "" for action in subparsers._choices_actions}  # noqa: SLF001
    commands = []
    for name, command in subparsers.choices.items():
        own = command._actions  # noqa: SLF001
        flags = [
            Flag(
                max(action.option_strings, key=len), _first_words(action.help or ""), action.nargs != 0,
                tuple(map(str, action.choices or values_of(action))),
            )
            for action in own
            if action.option_strings
        ]  # fmt: skip
        first = next((action for action in own if not action.option_strings), None)
        arguments = tuple(map(str, first.choices)) if first is not None and first.choices else ()
        commands.append(CompletedCommand(name, _first_words(helps[name]), tuple(flags), arguments))
    return commands


def values_of(action: argparse.Action) -> Sequence[str]:
    """The rules, where an option takes one; its check has a list of its own."""
    from ranking_engine.catalogue.registry import RULES  # noqa: PLC0415 -- a quarter of a second for every other shell

    is_rule = "--rule" in action.option_strings or "--first-by" in action.option_strings
    return list(RULES) if is_rule and not action.choices else ()


def _first_words(text: str) -> str:
    """The beginning of a help text, without what shells take for a sign of their own."""
    words = re.split(r"[;(]", text.replace("%%", "%").replace("'", "’"))[0]
    return textwrap.shorten(re.sub(r"[^\w ,.:/<=>?’-]", "", words), 70, placeholder="")


def _bash(commands: Sequence[CompletedCommand]) -> str:
    lines = [
        "_plurank() {",
        '    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} choices=""',
        "    COMPREPLY=()",
        '    if [ "$COMP_CWORD" -eq 1 ]; then',
        f'        choices="{" ".join(command.name for command in commands)} --help --version"',
        "    else",
        '        case "${COMP_WORDS[1]} $before" in',
    ]
    for command in commands:
        valued = [flag for flag in command.flags if flag.values]
        lines += [f'            "{command.name} {flag.name}") choices="{" ".join(flag.values)}" ;;' for flag in valued]
        free = [f'"{command.name} {flag.name}"' for flag in command.flags if flag.takes_value and not flag.values]
        if free:
            lines.append(f"            {' | '.join(free)}) ;;")
        names = " ".join((*command.arguments, *(flag.name for flag in command.flags)))
        lines.append(f'            "{command.name} "*) choices="{names}" ;;')
    lines += [
        "        esac",
        "    fi",
        '    mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word")',
        "}",
        # Where none of these begins as the word does, it is a file.
        "complete -o bashdefault -o default -F _plurank plurank",
    ]
    return "\n".join(lines) + "\n"


def _zsh(commands: Sequence[CompletedCommand]) -> str:
    lines = ["#compdef plurank", "_plurank() {", "    local -a commands", "    commands=("]
    lines += [f"        '{command.name}:{command.help}'" for command in commands]
    lines += [
        "    )",
        "    if (( CURRENT == 2 )); then",
        "        _describe command commands",
        "        return",
        "    fi",
    ]
    lines += ["    local command=$words[2]", "    shift words", "    (( CURRENT-- ))", "    case $command in"]
    for command in commands:
        lines.append(f"        {command.name}) _arguments -S \\")
        for flag in command.flags:
            values = f":value:({' '.join(flag.values)})" if flag.values else ":value:_files" if flag.takes_value else ""
            lines.append(f"            '*{flag.name}[{flag.help}]{values}' \\")
        lines.append(
            f"            '*:file:{'(' + ' '.join(command.arguments) + ')' if command.arguments else '_files'}' ;;"
        )
    lines += ["    esac", "}", "compdef _plurank plurank"]
    return "\n".join(lines) + "\n"


def _fish(commands: Sequence[CompletedCommand]) -> str:
    names = " ".join(command.name for command in commands)
    none, lines = f"not __fish_seen_subcommand_from {names}", []
    for command in commands:
        lines.append(f"complete -c plurank -f -n '{none}' -a {command.name} -d '{command.help}'")
        seen = f"complete -c plurank -n '__fish_seen_subcommand_from {command.name}'"
        if command.arguments:
            lines.append(f"{seen} -f -a '{' '.join(command.arguments)}'")
        for flag in command.flags:
            values = f" -x -a '{' '.join(flag.values)}'" if flag.values else " -r" if flag.takes_value else ""
            lines.append(f"{seen} -l {flag.name.removeprefix('--')} -d '{flag.help}'{values}")
    return "\n".join(lines) + "\n"


SHELLS: Mapping[str, Callable[[Sequence[CompletedCommand]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
