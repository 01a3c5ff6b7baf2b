"""Lays out one tier's data: the training split for everybody, one hidden split to be judged on."""

import shutil
from pathlib import Path

import data


def generate(tier: str, seed: int, inputs: Path, truth: Path, *, profile: str = "full") -> None:
    """`inputs` gets the training split; `truth` the tier's validation split, nothing at the open tier.

    The splits are fixed and checked by hash, so the seed changes nothing: a loss is only comparable on the same text.
    """
    built = truth / "built"
    data.build(built, profile)
    shutil.copytree(built / "train", inputs, dirs_exist_ok=True)
    if tier != "dev":
        shutil.copytree(built / tier, truth, dirs_exist_ok=True)
    shutil.rmtree(built)
