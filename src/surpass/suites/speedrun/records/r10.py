"""Record 10: orthogonalisation in stacks, three steps instead of five.

At this width a matrix is so small that the overhead of an operation exceeds its arithmetic. Equal matrices of all
layers are orthogonalised as one batched product, and three Newton-Schulz steps instead of five are enough for an
update.

    python r10.py DATA OUT SEED
"""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SIZES = {
    "full": {"width": 64, "layers": 4, "heads": 1, "context": 128, "batch": 8, "steps": 860},
    "micro": {"width": 32, "layers": 3, "heads": 1, "context": 64, "batch": 8, "steps": 148},
}
EMBEDDING_RATE = 0.05
HEAD_RATE = 0.01
MUON_RATE = 0.03  # matrices inside the blocks
WARMUP = 0.05  # share of the steps
COOLDOWN = 0.5  # share of the steps


# ---- model ----------------------------------------------------------------------------------------------------------


def rotate(x: torch.Tensor) -> torch.Tensor:
    """Turn each pair of channels of (..., T, channels) by an angle that grows with the position."""
    half = x.size(-1) // 2
    angles = torch.arange(x.size(-2))[:, None] * 10000.0 ** (-torch.arange(half) / half)
    cos, sin = angles.cos(), angles.sin()
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


def norm(x: torch.Tensor) -> torch.Tensor:
    """Layer normalisation without gain or bias: one fused kernel, nothing to learn."""
    return F.layer_norm(x, x.shape[-1:])


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k = norm(q), norm(k)
        y = F.scaled_dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(norm(x))
        return x + self.down(F.gelu(self.up(norm(x))))


class Model(nn.Module):
    def __init__(self, vocabulary: int, size: dict[str, int]) -> None:
        super().__init__()
        width, layers = size["width"], size["layers"]
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, size["heads"]) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary, bias=False)
        for name, parameter in self.named_parameters():
            if name.endswith(("out.weight", "down.weight", "head.weight")):
                nn.init.zeros_(parameter)
            else:
                nn.init.normal_(parameter, std=1.0 if name.startswith("embedding") else 0.5 / math.sqrt(width))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """(B, T) tokens -> (B, T, vocabulary) logits."""
        x = norm(self.embedding(tokens))
        for block in self.blocks:
            x = block(x)
        return self.head(norm(x))


# ---- optimiser ------------------------------------------------------------------------------------------------------


def orthogonal(x: torch.Tensor) -> torch.Tensor:
    """The nearest semi-orthogonal matrices to a stack of wide ones, roughly, by three quintic Newton-Schulz steps."""
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(3):
        square = torch.bmm(x, x.mT)
        polynomial = torch.baddbmm(square, square, square, beta=-4.7750, alpha=2.0315)
        x = torch.baddbmm(x, polynomial, x, beta=3.4445)
    return x


class Muon(torch.optim.Optimizer):
    """Nesterov momentum whose update is orthogonalised; for matrices inside the blocks.

    A group is a list of matrices that are cut or turned into equal wide ones and orthogonalised as one stack.
    """

    def __init__(self, groups: list[dict], lr: float, momentum: float) -> None:
        super().__init__(groups, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            gradient = torch.cat([group["stack"](parameter.grad) for parameter in group["params"]])
            momentum = group.setdefault("state", torch.zeros_like(gradient))
            momentum.lerp_(gradient, 1 - group["momentum"])
            update = orthogonal(gradient.lerp_(momentum, group["momentum"])).mul_(-group["lr"] * group["scale"])
            start = 0
            for parameter in group["params"]:
                target = group["stack"](parameter.data)
                target.add_(update[start : start + len(target)])
                start += len(target)


# ---- training -------------------------------------------------------------------------------------------------------


def schedule(step: int, steps: int) -> float:
    """Linear warm-up, flat, linear to zero."""
    return min(1.0, (step + 1) / (WARMUP * steps), (steps - step) / (COOLDOWN * steps))


def train(data: Path, out: Path, seed: int) -> None:
    """Train on data/train.bin and write out/model.npz; everything random comes from the seed."""
    torch.manual_seed(seed)
    meta = json.loads((Path(data) / "meta.json").read_text())
    size = SIZES[meta["profile"]]
    tokens = torch.from_numpy(np.fromfile(Path(data) / "train.bin", dtype=np.uint16).astype(np.int64))
    batch, context, steps = size["batch"], size["context"], size["steps"]

    model = Model(meta["vocab_size"], size)
    blocks, width = model.blocks, size["width"]
    stacks = [
        # Queries, keys, values and outputs: square. The two of the MLP: wide, the one upwards turned on its side.
        {
            "params": [w for b in blocks for w in (b.attention.qkv.weight, b.attention.out.weight)],
            "stack": lambda w: w.view(-1, width, width),
            "scale": 1.0,
        },
        {"params": [b.up.weight for b in blocks], "stack": lambda w: w.T[None], "scale": 2.0},
        {"params": [b.down.weight for b in blocks], "stack": lambda w: w[None], "scale": 1.0},
    ]
    groups = [
        {"params": [model.embedding.weight], "lr": EMBEDDING_RATE},
        {"params": [model.head.weight], "lr": HEAD_RATE},
    ]
    adam = torch.optim.AdamW(groups, betas=(0.9, 0.95), weight_decay=0.0)
    muon = Muon(stacks, lr=MUON_RATE, momentum=0.95)
    rates = [(group, group["lr"]) for optimizer in (adam, muon) for group in optimizer.param_groups]
    for step in range(steps):
        starts = torch.randint(len(tokens) - context, (batch,)).tolist()
        window = torch.stack([tokens[start : start + context + 1] for start in starts])
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())
        model.zero_grad()
        loss.backward()
        for group, rate in rates:
            group["lr"] = rate * schedule(step, steps)
        adam.step()
        muon.step()
        report(step + 1, steps, loss)
    save(model, meta, Path(out))


def report(done: int, steps: int, loss: torch.Tensor) -> None:
    """Some 40 lines a run, for whoever wants to end a hopeless one early."""
    if done % max(1, steps // 40) == 0 or done == steps:
        print(f"step {done}/{steps} train_loss {loss.item():.4f}", flush=True)


def save(model: Model, meta: dict, out: Path) -> None:
    arrays = {name: parameter.detach().numpy() for name, parameter in model.named_parameters()}
    np.savez(out / "model.npz", profile=meta["profile"], vocab_size=meta["vocab_size"], **arrays)


def load(out: Path) -> Callable[[np.ndarray], np.ndarray]:
    """The trained model as a function from (B, T) int64 tokens to (B, T, vocabulary) float32 logits."""
    with np.load(Path(out) / "model.npz", allow_pickle=False) as file:
        arrays = dict(file)
    model = Model(int(arrays.pop("vocab_size")), SIZES[str(arrays.pop("profile"))])
    model.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})

    @torch.no_grad()
    def logits(tokens: np.ndarray) -> np.ndarray:
        return model(torch.from_numpy(tokens)).numpy()

    return logits


if __name__ == "__main__":
    train(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
