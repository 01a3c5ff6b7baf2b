"""Sealing: an honest folder is copied byte for byte, a hostile one is refused by name, nothing outside is touched."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from surpass.guard.removal import remove_tree
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
    ],
)
def test_a_hostile_folder_is_refused_and_leaves_nothing(source, tmp_path, make, code):
    make(source)
    with pytest.raises(Rejection) as caught:
        seal(source, tmp_path / "sealed", CAPS)
    assert (caught.value.outcome, caught.value.code) == (Outcome.INVALID, code)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["work"]


def test_a_file_that_its_owner_made_unreadable_is_refused():
    """As root every file is readable, so the sealing runs as another user, in a folder that is open to it."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        root.chmod(0o777)
        (root / "work").mkdir()
        (root / "work" / "x").write_text("hidden")
        (root / "work" / "x").chmod(0)
        child = os.fork()
        if child == 0:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            try:
                seal(root / "work", root / "sealed", CAPS)
            except Rejection as rejection:
                os._exit(0 if rejection.code == "unreadable" else 3)
            os._exit(4)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_tree_too_deep_for_recursion_is_removed(source):
    script = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"
    subprocess.run(["python3", "-c", script], cwd=source, check=True)
    remove_tree(source)
    assert not source.exists()
    remove_tree(source)
