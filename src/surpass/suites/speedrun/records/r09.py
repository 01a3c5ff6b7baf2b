"""Record 9: no gains, no biases, no clipping.

A normalisation without gain and bias and linear maps without bias lose nothing here, and several dozen small
tensors vanish from forward, backward and optimiser. Muon's update has a fixed size, so clipping the gradient has no
use left.

    python r09.py DATA OUT SEED
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
    "full": {"width": 64, "layers": 4, "heads": 1, "context": 128, "batch": 8, "steps": 800},
    "micro": {"width": 32, "layers": 3, "heads": 1, "context": 64, "batch": 8, "steps": 141},
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


def orthogonal(matrix: torch.Tensor) -> torch.Tensor:
    """The nearest semi-orthogonal matrix, roughly: five Newton-Schulz steps pull all singular values to about 1."""
    x = matrix / (matrix.norm() + 1e-7)
    x = x.T if matrix.size(0) > matrix.size(1) else x
    for _ in range(5):
        square = x @ x.T
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return x.T if matrix.size(0) > matrix.size(1) else x


class Muon(torch.optim.Optimizer):
    """Nesterov momentum whose update is orthogonalised; for matrices inside the blocks."""

    def __init__(self, parameters: list[nn.Parameter], lr: float, momentum: float) -> None:
        super().__init__(parameters, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                state = self.state[parameter]
                if not state:
                    state["momentum"] = torch.zeros_like(parameter)
                state["momentum"].lerp_(parameter.grad, 1 - group["momentum"])
                update = parameter.grad.lerp(state["momentum"], group["momentum"])
                parts = update.split(update.size(1)) if update.size(0) == 3 * update.size(1) else [update]
                update = torch.cat([orthogonal(part) for part in parts])  # queries, keys and values each on their own
                scale = max(1, parts[0].size(0) / parts[0].size(1)) ** 0.5
                parameter.add_(update, alpha=-group["lr"] * scale)


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
    matrices = list(model.blocks.parameters())
    groups = [
        {"params": [model.embedding.weight], "lr": EMBEDDING_RATE},
        {"params": [model.head.weight], "lr": HEAD_RATE},
    ]
    adam = torch.optim.AdamW(groups, betas=(0.9, 0.95), weight_decay=0.0)
    muon = Muon(matrices, lr=MUON_RATE, momentum=0.95)
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
