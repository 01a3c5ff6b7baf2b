"""The guarded readers: each hostile file is refused with its code, and its honest neighbour is read."""

import io
import os
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest

from surpass.guard import Malformed, per_instance, read_array, read_arrays, read_json, read_text
from surpass.guard.beneath import open_beneath

GOOD = np.arange(6.0).reshape(2, 3)


def _npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def _header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


class Bomb:
    def __reduce__(self):
        return (os.system, ("touch /tmp/surpass-pickle-ran",))


def test_an_honest_array_is_read(tmp_path):
    path = tmp_path / "a.npy"
    path.write_bytes(_npy(GOOD))
    assert (read_array(path, shape=(2, None), dtype="float64") == GOOD).all()
    path.write_bytes(_npy(np.asfortranarray(GOOD)))
    assert (read_array(path, shape=(2, 3), dtype="float64") == GOOD).all()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty"),
        (b"not numpy", "unreadable"),
        (_npy(GOOD)[:-1], "unreadable"),
        (_npy(GOOD) + b"x", "unreadable"),
        (_npy(GOOD.astype("float32")), "dtype"),
        (_npy(GOOD.T), "shape"),
        (_npy(np.vstack([GOOD, GOOD])), "shape"),
        (_npy(np.where(GOOD == 2, np.nan, GOOD)), "not-finite"),
        (_npy(np.where(GOOD == 2, -np.inf, GOOD)), "not-finite"),
        (_npy(np.array([Bomb()], dtype=object), allow_pickle=True), "pickle"),
        (pickle.dumps(Bomb()), "unreadable"),
        (_npy(GOOD).replace(b"(2, 3)", b"(99, 9)")[:128] + b"\0" * 48, "unreadable"),
        (b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 65535, "unreadable"),
        (b"\x93NUMPY\x01\x00\x04\x00((((", "unreadable"),
        (
            _header("{'descr': '|V0', 'fortran_order': False, 'shape': (10**30,), }".replace("10**30", "1" + "0" * 30)),
            "unreadable",
        ),
        (_npy(np.zeros(1 << 15)), "too-large"),
    ],
)
def test_a_hostile_array_is_refused(tmp_path, content, code):
    path = tmp_path / "a.npy"
    path.write_bytes(content)
    with pytest.raises(Malformed) as caught:
        read_array(path, shape=(2, 3), dtype="float64", max_bytes=1 << 17)
    assert caught.value.code == code


def test_links_devices_pipes_and_folders_are_not_files(tmp_path):
    (tmp_path / "truth").write_bytes(_npy(GOOD))
    (tmp_path / "link").symlink_to(tmp_path / "truth")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for name in ("link", "fifo", "folder"):
        with pytest.raises(Malformed) as caught:
            read_array(tmp_path / name, shape=(2, 3), dtype="float64")
        assert caught.value.code == "not-a-file"
    with pytest.raises(Malformed) as caught:
        read_array(tmp_path / "none", shape=(2, 3), dtype="float64")
    assert caught.value.code == "missing"


def test_an_archive_is_read_and_a_zip_bomb_is_not(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, u=GOOD, v=GOOD)
    wanted = {"u": ((2, 3), "float64"), "v": ((2, 3), "float64")}
    assert set(read_arrays(path, wanted)) == {"u", "v"}
    with pytest.raises(Malformed) as caught:
        read_arrays(path, {"w": ((2, 3), "float64")})
    assert caught.value.code == "missing"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("u.npy", _npy(np.zeros((1000, 1000))))
    with pytest.raises(Malformed) as caught:
        read_arrays(path, {"u": ((1000, 1000), "float64")}, max_bytes=1 << 20)
    assert caught.value.code == "too-large"
    path.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(Malformed) as caught:
        read_arrays(path, wanted)
    assert caught.value.code == "unreadable"


def _refused(path, wanted, **options):
    with pytest.raises(Malformed) as caught:
        read_arrays(path, wanted, **options)
    return caught.value.code


def test_a_damaged_archive_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    wanted = {"u": ((2, 3), "float64")}
    np.savez_compressed(path, u=GOOD)
    content = bytearray(path.read_bytes())
    start = 30 + int.from_bytes(content[26:28], "little") + int.from_bytes(content[28:30], "little")
    content[start : start + 8] = b"\xff" * 8
    path.write_bytes(content)
    assert _refused(path, wanted) == "unreadable"
    for method in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("u.npy", _npy(GOOD))
        assert _refused(path, wanted) == "unreadable"


def test_an_archive_that_lies_about_its_sizes_stays_within_the_bound(tmp_path):
    """A first array that claims to be huge must not make the bound of the second negative, which is no bound."""
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("u.npy", _npy(GOOD))
        archive.writestr("v.npy", _npy(np.zeros(1 << 22)))
    content = path.read_bytes()
    honest, huge = len(_npy(GOOD)).to_bytes(4, "little"), (1 << 30).to_bytes(4, "little")
    directory = content.index(b"PK\x01\x02")
    path.write_bytes(content[:directory] + content[directory:].replace(honest, huge, 1))
    with zipfile.ZipFile(path) as archive:
        assert archive.getinfo("u.npy").file_size == 1 << 30
    wanted = {"u": ((2, 3), "float64"), "v": ((1 << 22,), "float64")}
    tracemalloc.start()
    try:
        assert _refused(path, wanted, max_bytes=1 << 18) == "too-large"
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_the_bound_covers_all_arrays_of_an_archive_together(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, u=GOOD, v=GOOD)
    wanted = {"u": ((2, 3), "float64"), "v": ((2, 3), "float64")}
    size = len(_npy(GOOD))
    bound = max(2 * size, path.stat().st_size)
    assert set(read_arrays(path, wanted, max_bytes=bound)) == {"u", "v"}
    wide = np.zeros((2, 1000))
    np.savez_compressed(path, u=wide, v=wide)
    wanted = {"u": ((2, 1000), "float64"), "v": ((2, 1000), "float64")}
    assert _refused(path, wanted, max_bytes=2 * len(_npy(wide)) - 1) == "too-large"
    assert _refused(path, wanted, max_bytes=len(_npy(wide))) == "too-large"


def test_documents(tmp_path):
    path = tmp_path / "a.json"
    for text, code in [
        ('{"a": NaN}', "not-finite"),
        ('{"a": 1e999}', "not-finite"),
        ("[-1e999]", "not-finite"),
        ("{", "unreadable"),
        ("[" * 100_000, "unreadable"),
        ("9" * 5000, "unreadable"),
        ('{"a": 1, "a": 2}', "unreadable"),
        ('[{"b": {"a": 1, "a": 1}}]', "unreadable"),
    ]:
        path.write_text(text)
        with pytest.raises(Malformed) as caught:
            read_json(path)
        assert caught.value.code == code
    path.write_text('{"a": 1, "b": [{"a": 1.5}, {"a": -2e3}]}')
    assert read_json(path) == {"a": 1, "b": [{"a": 1.5}, {"a": -2000.0}]}
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(Malformed) as caught:
        read_text(path)
    assert caught.value.code == "unreadable"


def test_one_malformed_instance_fails_alone():
    def bad():
        raise Malformed("shape", "too long")

    results = per_instance({"good": lambda: {"m": 1.0}, "bad": bad})
    assert results["good"] == {"m": 1.0}
    assert results["bad"].code == "shape"


def test_nothing_above_or_beside_a_folder_can_be_reached(tmp_path):
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "file").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    (root / "out").symlink_to(tmp_path)
    (root / "leaf").symlink_to(tmp_path / "secret")
    with os.fdopen(open_beneath(root, "sub/file", os.O_RDONLY)) as file:
        assert file.read() == "inside"
    for path, code in [
        ("../secret", "bad-name"),
        ("/etc/passwd", "bad-name"),
        ("out/secret", "link"),
        ("leaf", "link"),
    ]:
        with pytest.raises(Malformed) as caught:
            open_beneath(root, path, os.O_RDONLY)
        assert caught.value.code == code
    os.close(open_beneath(root, "new/deep/file", os.O_WRONLY | os.O_CREAT))
    assert (root / "new" / "deep" / "file").is_file()
    with pytest.raises(Malformed):
        open_beneath(root, "out/planted", os.O_WRONLY | os.O_CREAT)
    assert not (tmp_path / "planted").exists()
