"""Programs that read files of anyone have bounds on memory and time, and their arguments and their input."""

import signal
import subprocess

from ranking_engine.files.limited_process import limited_command


def run(tmp_path, program, *arguments, seconds=20):
    path = tmp_path / "program.py"
    path.write_text(program)
    return subprocess.run(
        limited_command(path, seconds, *arguments), input="given", capture_output=True, text=True, check=False
    )


def test_a_program_has_its_arguments_and_its_input(tmp_path):
    ran = run(
        tmp_path, "import sys\nif __name__ == '__main__':\n    print(sys.argv[1:], sys.stdin.read())\n", "one", "2"
    )
    assert (ran.returncode, ran.stdout) == (0, "['one', '2'] given\n")


def test_it_cannot_take_more_than_two_gigabytes(tmp_path):
    program = "try:\n    bytearray({})\nexcept MemoryError:\n    print('refused')\n"
    assert run(tmp_path, program.format(10**9)).stdout == ""
    assert run(tmp_path, program.format(2 * 10**9)).stdout == "refused\n"


def test_it_is_ended_when_its_time_is_over(tmp_path):
    assert run(tmp_path, "while True:\n    pass\n", seconds=1).returncode in (-signal.SIGXCPU, -signal.SIGKILL)
