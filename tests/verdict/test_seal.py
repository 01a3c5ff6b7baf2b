"""Sealing: an honest folder is copied byte for byte, a hostile one is refused by name, nothing outside is touched."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surpass.guard.removal import remove_tree
from surpass.task import CACHE_NAMES, package_files
from surpass.verdict import Outcome, Rejection, digest_folder
from surpass.verdict.seal import Caps, seal

CAPS = Caps(total_bytes=10_000, files=50, depth=8)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def test_an_honest_folder_is_copied_and_its_hash_recognised(source, tmp_path):
    (source / "a" / "b").mkdir(parents=True)
    (source / "a" / "b" / "c.txt").write_bytes(b"content")
    (source / "run.sh").write_text("#!/bin/sh\n")
    (source / "run.sh").chmod(0o755)
    (source / "__pycache__").mkdir()
    (source / "__pycache__" / "x.pyc").write_bytes(b"cache")
    sealed = seal(source, tmp_path / "sealed", CAPS)
    assert (sealed.path / "a" / "b" / "c.txt").read_bytes() == b"content"
    assert not (sealed.path / "__pycache__").exists()
    assert digest_folder(sealed.path) == sealed.digest
    (sealed.path / "a" / "b" / "c.txt").write_bytes(b"contenT")
    assert digest_folder(sealed.path) != sealed.digest


FILES = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.binary(max_size=20), min_size=1, max_size=6)


@given(FILES, FILES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hashes_are_equal_exactly_when_contents_are(tmp_path, one, two):
    digests = []
    for files in (one, two):
        folder = tmp_path / os.urandom(6).hex()
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content)
        digests.append(seal(folder, folder.with_suffix(".sealed"), CAPS).digest)
    assert (digests[0] == digests[1]) == (one == two)


def _link(root: Path) -> None:
    (root / "x").symlink_to("/etc/passwd")


def _dangling(root: Path) -> None:
    (root / "x").symlink_to("/nowhere")


def _linked_folder(root: Path) -> None:
    (root / "x").symlink_to("/etc", target_is_directory=True)


def _pipe(root: Path) -> None:
    os.mkfifo(root / "x")


def _socket(root: Path) -> None:
    here = Path.cwd()
    os.chdir(root)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("x")
    os.chdir(here)


def _many(root: Path) -> None:
    for number in range(51):
        (root / str(number)).touch()


def _large(root: Path) -> None:
    (root / "x").write_bytes(bytes(10_001))


def _sparse(root: Path) -> None:
    with (root / "x").open("wb") as file:
        file.truncate(1 << 40)


def _deep(root: Path) -> None:
    (root / "/".join("d" * 12)).mkdir(parents=True)


def _bad_bytes(root: Path) -> None:
    (root / os.fsdecode(b"\xff\xfe")).touch()


def _newline(root: Path) -> None:
    (root / "a\nb").touch()


def _delete(root: Path) -> None:
    (root / "a\x7f").touch()


def _c1(root: Path) -> None:
    (root / "a\x9b").mkdir()


def _reversed(root: Path) -> None:
    (root / "a\u202ecod.exe").touch()


def _isolated(root: Path) -> None:
    (root / "a\u2066b").touch()


def _hidden_file(root: Path) -> None:
    (root / "x").write_text("hidden")
    (root / "x").chmod(0o277)


def _hidden_folder(root: Path) -> None:
    (root / "x").mkdir(mode=0o377)


def _unsearchable_folder(root: Path) -> None:
    (root / "x").mkdir()
    (root / "x" / "y").write_text("hidden")
    (root / "x").chmod(0o600)


def _hidden_root(root: Path) -> None:
    root.chmod(0)


def _no_root(root: Path) -> None:
    root.rmdir()
    root.touch()


def _long(root: Path) -> None:
    (root / "/".join(["n" * 250] * 5)).mkdir(parents=True)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (_link, "link"),
        (_dangling, "link"),
        (_linked_folder, "link"),
        (_pipe, "special-file"),
        (_socket, "special-file"),
        (_many, "too-many-files"),
        (_large, "too-large"),
        (_sparse, "too-large"),
        (_deep, "too-deep"),
        (_bad_bytes, "bad-name"),
        (_newline, "bad-name"),
        (_long, "bad-name"),
        (_delete, "bad-name"),
        (_c1, "bad-name"),
        (_reversed, "bad-name"),
        (_isolated, "bad-name"),
        (_hidden_file, "unreadable"),
        (_hidden_folder, "unreadable"),
        (_unsearchable_folder, "unreadable"),
        (_hidden_root, "unreadable"),
        (_no_root, "unreadable"),
    ],
)
def test_a_hostile_folder_is_refused_and_leaves_nothing(source, tmp_path, make, code):
    make(source)
    with pytest.raises(Rejection) as caught:
        seal(source, tmp_path / "sealed", CAPS)
    assert (caught.value.outcome, caught.value.code) == (Outcome.INVALID, code)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["work"]


@pytest.mark.parametrize("make", [_hidden_file, _hidden_folder, _unsearchable_folder, _hidden_root])
def test_what_its_owner_made_unreadable_is_refused_to_an_ordinary_user_too(make):
    """As root everything is readable, so the sealing runs as another user, in a folder that is open to it."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        root.chmod(0o777)
        child = os.fork()
        if child == 0:
            os._exit(_seal_as_an_ordinary_user(root, make))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        remove_tree(root / "work")
        assert status == 0


def _seal_as_an_ordinary_user(root: Path, make) -> int:
    try:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        (root / "work").mkdir()
        make(root / "work")
        seal(root / "work", root / "sealed", CAPS)
    except Rejection as rejection:
        return 0 if (rejection.outcome, rejection.code) == (Outcome.INVALID, "unreadable") else 3
    except BaseException:  # noqa: BLE001  a child that goes on would run the rest of the tests
        return 4
    return 5


@pytest.mark.parametrize("number", [errno.ENAMETOOLONG, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("call", ["open", "read", "scandir"])
def test_an_error_of_the_source_is_a_rejection(source, tmp_path, monkeypatch, number, call):
    (source / "x").write_text("content")

    def fail(*arguments, **options):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch, pytest.raises(Rejection) as caught:
        patch.setattr(os, call, fail)
        seal(source, tmp_path / "sealed", CAPS)
    assert caught.value.code == "unreadable"


def test_an_error_of_the_destination_is_not_the_candidates_doing(source, tmp_path):
    (source / "x").write_text("content")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        seal(source, tmp_path / "file" / "sealed", CAPS)
    (tmp_path / "sealed").mkdir()
    (tmp_path / "sealed" / "other").touch()
    with pytest.raises(OSError, match="sealed"):
        seal(source, tmp_path / "sealed", CAPS)


def test_what_an_earlier_sealing_left_is_replaced(source, tmp_path):
    (source / "x").write_text("content")
    (tmp_path / "sealed.part" / "old").mkdir(parents=True)
    assert [path.name for path in seal(source, tmp_path / "sealed", CAPS).path.iterdir()] == ["x"]


def test_caches_are_the_same_as_in_a_tasks_digest(source, tmp_path):
    for name in CACHE_NAMES:
        (source / name).mkdir()
        (source / name / "x").touch()
    sealed = seal(source, tmp_path / "sealed", CAPS)
    assert list(sealed.path.iterdir()) == list(package_files(source)) == []


def test_a_tree_too_deep_for_recursion_is_removed(source):
    script = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"
    subprocess.run(["python3", "-c", script], cwd=source, check=True)
    remove_tree(source)
    assert not source.exists()
    remove_tree(source)
