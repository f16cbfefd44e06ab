"""Commands on this machine: status, streams, time-outs, quoting."""

import signal
import sys
import time
from pathlib import Path

import pytest

from zmysql.host import CommandFailed, Local, Ssh


def test_a_failure_names_the_command_the_status_and_the_reason() -> None:
    with pytest.raises(CommandFailed, match=r"`sh -c 'echo no way >&2; exit 3'` failed with status 3: no way"):
        Local().run(["sh", "-c", "echo no way >&2; exit 3"])


def test_a_command_that_is_not_there_has_status_127() -> None:
    assert Local().run(["no-such-program"], check=False).exit_status == 127
    assert not Local().has("no-such-program")
    assert Local().has("sh")


def test_a_file_that_is_no_program_has_status_126(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\0\0\0\0")
    assert Local().run([str(tmp_path / "x")], check=False).exit_status == 126
    (tmp_path / "x").chmod(0o755)
    done = Local().run([str(tmp_path / "x")], check=False)
    assert (done.exit_status, done.stderr) == (126, f"{tmp_path}/x: Exec format error")


def test_a_command_that_takes_too_long_is_killed() -> None:
    assert Local().run(["sleep", "60"], check=False, timeout=0.1).exit_status == 124


def test_the_locale_is_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_MESSAGES", "de_DE.UTF-8")
    assert "LC_ALL=C" in Local().run(["env"]).stdout.splitlines()
    assert "LC_MESSAGES" not in Local().run(["env"]).stdout


def test_a_started_process_is_read_line_by_line_and_interrupted() -> None:
    script = "trap 'echo last; echo noise >&2; exit 4' INT; echo first; while :; do sleep 0.05; done"
    with Local().start(["sh", "-c", script]) as process:
        lines = process.lines()
        assert next(lines) == b"first\n"
        process.interrupt()
        assert list(lines) == [b"last\n"]
        assert process.wait() == 4
        assert process.stderr() == "noise\n"


def test_leaving_a_process_ends_it() -> None:
    with Local().start(["sleep", "60"]) as process:
        pass
    assert process.poll() == -signal.SIGKILL


def remote_line(*argv: str) -> str:
    """Give what ssh hands to the shell of the other machine."""
    command = Ssh("db1", options=["-p", "22"]).command(argv)
    assert command[:3] == ["ssh", "-p", "22"]
    return command[-1]


def test_a_started_process_reads_what_is_written_to_it_until_its_input_ends() -> None:
    with Local().start(["cat"], feed=True) as process:
        process.write(b"first\n")
        assert next(process.lines()) == b"first\n"
        process.close_stdin()
        assert process.wait(10) == 0


def test_the_input_of_a_started_process_ends_when_we_are_killed(tmp_path: Path) -> None:
    reads = f"echo started; cat; touch {tmp_path}/ended"
    code = (
        "import time; from zmysql.host import Local\n"
        f"with Local().start(['sh', '-c', {reads!r}], feed=True) as process:\n"
        "    next(process.lines()); print('ready', flush=True); time.sleep(60)\n"
    )
    with Local().start([sys.executable, "-c", code]) as killed:
        assert next(killed.lines()) == b"ready\n"
        killed.kill()
    until = time.monotonic() + 10
    while not (tmp_path / "ended").exists():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_carriage_return_stays_what_it_is() -> None:
    assert Local().run(["printf", "a\\r\\nb"]).stdout == "a\r\nb"


def test_ssh_quotes_each_word_for_the_remote_shell() -> None:
    line = remote_line("echo", "a b", "$HOME", "it's")
    assert line == """env LC_ALL=C "PATH=${PATH}:/usr/local/sbin:/usr/sbin:/sbin" echo 'a b' '$HOME' 'it'"'"'s'"""


@pytest.mark.parametrize(
    "words",
    [("a b", "$HOME", "it's"), ("two\nlines", "no!", "\\0012", "100%"), ("\n", "!", "", "end\n", "\\\n'!7")],
)
def test_every_shell_gives_the_words_back(words: tuple[str, ...]) -> None:
    """csh can quote neither a newline nor an exclamation mark, so the line has none."""
    line = remote_line("printf", "%s;", *words)
    assert not set(line) & set("\n!")
    assert Local().run(["sh", "-c", line]).stdout == "".join(f"{word};" for word in words)


def test_files_are_copied(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0\xff")
    Local().put(tmp_path / "a", str(tmp_path / "b"))
    Local().get(str(tmp_path / "b"), tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == b"\0\xff"
