"""What happens around a file: names, folders, pipes, full disks, and writers that are killed."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adaline.errors import InvalidType, ModelFileError
from adaline.storage import container, load, save
from adaline.systems import Ridge

X = np.random.default_rng(0).normal(size=(30, 3))
MODEL = Ridge().fit(X, X[:, 0])

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither pipes by name nor signals")


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


def failing(error: OSError) -> Any:
    """Return a function that fails."""

    def fail(*_: Any) -> None:
        raise error

    return fail


@pytest.mark.parametrize("name", ["m" * 250, "m" * 255, "\u00e4" * 120, "a b", ".m", os.fsdecode(b"m\xff\xfe")])
def test_any_name_that_a_file_can_have(name: str, tmp_path: Path) -> None:
    for _ in range(2):
        save(MODEL, tmp_path / name)
    np.testing.assert_array_equal(load(tmp_path / name).coef_, MODEL.coef_)
    assert names(tmp_path) == [name]


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, said in {
        "m" * 256: "too long",
        "a\0b": "NUL",
        "nowhere/m": "there is no folder .*nowhere. Make it first",
        "folder": "it is a folder",
        "pipe": "it is no regular file",
        "../../../../../../dev/null": "it is no regular file",
    }.items():
        with pytest.raises(ModelFileError, match=f"cannot write .*{said}"):
            save(MODEL, f"{tmp_path}/{name}")
        with pytest.raises(ModelFileError, match="is no regular file" if "regular" in said else None):
            load(f"{tmp_path}/{name}")
    with pytest.raises(InvalidType, match="name of a file"):
        save(MODEL, 3)  # type: ignore[arg-type]
    with pytest.raises(ModelFileError, match="name of the file is empty"):
        save(MODEL, "")
    with pytest.raises(ModelFileError, match="there is no such file") as caught:
        load(os.fsencode(tmp_path) + b"/m\xff")
    str(caught.value).encode()  # a name that is not UTF-8 can be printed
    assert names(tmp_path) == ["folder", "pipe"]


def test_saving_follows_a_link_and_replaces(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "m")
    for target in (X[:, 0], X[:, 1]):
        model = Ridge().fit(X, target)
        save(model, str(tmp_path / "link"))
        np.testing.assert_array_equal(load(tmp_path / "m").coef_, model.coef_)
    assert (tmp_path / "link").is_symlink()


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(MODEL, tmp_path / "m")
    before = (tmp_path / "m").read_bytes()
    limits, heard = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(ModelFileError, match=r"cannot write .*File too large"):
            save(MODEL, tmp_path / "m")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, heard)
    monkeypatch.setattr(os, "fsync", failing(OSError(28, "No space left on device")))
    with pytest.raises(ModelFileError, match=r"cannot write .*: No space left"):
        save(MODEL, tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before
    assert names(tmp_path) == ["m"]


WRITER = """
import sys, time
from adaline.storage.container import replacing
with replacing(sys.argv[1]) as temporary:
    open(temporary, "wb").write(bytes(1000))
    print("writing", flush=True)
    time.sleep(600)
"""


def writer(path: Path) -> subprocess.Popen[bytes]:
    """Return a process that is in the middle of writing a file."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == b"writing"
    return process


def test_a_save_removes_what_killed_writers_left_and_leaves_living_ones_alone(tmp_path: Path) -> None:
    path = tmp_path / "m"
    dead, other, alive = writer(path), writer(tmp_path / "other"), writer(path)
    try:
        assert len(names(tmp_path)) == 3
        for process in (dead, other):
            process.send_signal(signal.SIGKILL)
            process.wait()
        save(MODEL, path)
        left = names(tmp_path)
        assert len(left) == 3  # the file, the living writer's, and that of the other name
        assert "m" in left
        alive.send_signal(signal.SIGKILL)
        alive.wait()
        for name in ("m", "other"):
            save(MODEL, tmp_path / name)
        assert names(tmp_path) == ["m", "other"]
    finally:
        for process in (dead, other, alive):
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


OFTEN = """
import sys
from adaline import load, save
model = load(sys.argv[1])
for _ in range(40):
    save(model, sys.argv[2])
    load(sys.argv[2])
"""


@pytest.mark.night
def test_processes_that_save_the_same_name_at_once(tmp_path: Path) -> None:
    save(MODEL, tmp_path / "model")
    words = [sys.executable, "-c", OFTEN, str(tmp_path / "model"), str(tmp_path / "m")]
    workers = [subprocess.Popen(words) for _ in range(3)]
    try:
        assert [worker.wait(timeout=300) for worker in workers] == [0, 0, 0]
    finally:
        for worker in workers:
            worker.kill()
    assert names(tmp_path) == ["m", "model"]


def test_only_so_many_write_one_name_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "MOST_WRITERS", 2)
    with container.replacing(tmp_path / "m") as first, container.replacing(tmp_path / "m") as second:
        assert first != second
        with pytest.raises(ModelFileError, match="2 others are writing it"):
            save(MODEL, tmp_path / "m")
        for name in (first, second):
            Path(name).write_bytes(b"")


def test_an_error_of_the_writer_is_its_own(tmp_path: Path) -> None:
    for error in (ValueError("x"), KeyError("x"), KeyboardInterrupt()):
        with pytest.raises(type(error)), container.replacing(tmp_path / "m"):
            raise error
    with pytest.raises(ModelFileError, match=r"cannot write .*File exists"), container.replacing(tmp_path / "m"):
        raise FileExistsError(17, "File exists")
    assert names(tmp_path) == []


def test_a_temporary_name_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    with container.replacing(tmp_path / "m") as temporary:
        pass
    os.symlink(tmp_path / "precious", temporary)
    save(MODEL, tmp_path / "m")
    assert (tmp_path / "precious").read_text() == "mine"
    load(tmp_path / "m")


def test_a_file_system_without_locks_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container.fcntl, "flock", failing(OSError(errno.ENOTSUP, "no locks here")))
    save(MODEL, tmp_path / "m")
    assert names(tmp_path) == ["m"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are listed under Linux")
@pytest.mark.parametrize("fails", [False, True])
def test_without_locks_the_file_is_closed_before_it_is_renamed(
    fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Windows, which has no such locks, demands."""
    replace = os.replace

    def checked(old: str, new: str) -> None:
        links = [Path("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
        assert str(old) not in [os.readlink(link) for link in links if link.is_symlink()]
        if fails:
            raise PermissionError(13, "Permission denied")
        replace(old, new)

    monkeypatch.setattr(container, "fcntl", None)
    monkeypatch.setattr(os, "replace", checked)
    if fails:
        with pytest.raises(ModelFileError, match="Permission denied"):
            save(MODEL, tmp_path / "m")
    else:
        save(MODEL, tmp_path / "m")
        load(tmp_path / "m")
    assert names(tmp_path) == [] if fails else ["m"]
