"""Record 8: a head of its own.

Embedding and head are two matrices now. The head starts at zero, the embedding at unit scale with a normalisation
after it, and each gets the rate that suits it: a row of the embedding is touched rarely and may move far, the head
may not.

    python r08.py DATA OUT SEED
"""

import functools
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
    "full": {"width": 64, "layers": 4, "heads": 1, "context": 128, "batch": 8, "steps": 1345},
    "micro": {"width": 32, "layers": 4, "heads": 1, "context": 64, "batch": 8, "steps": 153},
}
EMBEDDING_RATE = 0.05
HEAD_RATE = 0.01
LEARNING_RATE = 8e-3  # everything else
WARMUP = 0.05  # share of the steps
COOLDOWN = 0.5  # share of the steps
WEIGHT_DECAY = 0.1
CLIP = 1.0


# ---- model ----------------------------------------------------------------------------------------------------------


@functools.cache
def rotation(length: int, channels: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and signed sines for each position and channel."""
    half = channels // 2
    angles = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(half) / half)
    return angles.cos().repeat(1, 2), torch.cat((-angles.sin(), angles.sin()), dim=-1)


def rotate(x: torch.Tensor) -> torch.Tensor:
    """Turn each pair of channels of (..., T, channels) by an angle that grows with the position."""
    cos, sin = rotation(x.size(-2), x.size(-1))
    a, b = x.chunk(2, dim=-1)
    return torch.addcmul(x * cos, torch.cat((b, a), dim=-1), sin)


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        qk, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).split((2, 1))
        q, k = rotate(qk)
        y = F.scaled_dot_product_attention(q, k, v[0], is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm_1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm_2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm_1(x))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class Model(nn.Module):
    def __init__(self, vocabulary: int, size: dict[str, int]) -> None:
        super().__init__()
        width, layers = size["width"], size["layers"]
        self.embedding = nn.Embedding(vocabulary, width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.blocks = nn.ModuleList(Block(width, size["heads"]) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for name, parameter in self.named_parameters():
            if name.endswith(("bias", "out.weight", "down.weight", "head.weight")):
                nn.init.zeros_(parameter)
            elif parameter.ndim == 2:
                nn.init.normal_(parameter, std=1.0 if name.startswith("embedding") else 0.5 / math.sqrt(width))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """(B, T) tokens -> (B, T, vocabulary) logits."""
        x = F.layer_norm(self.embedding(tokens), self.embedding.weight.shape[-1:])
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


# ---- optimiser ------------------------------------------------------------------------------------------------------


class AdamW:
    """Adam with decoupled weight decay, written out; the library's loads a compiler front end, a second of CPU time."""

    def __init__(self, parameters: list[nn.Parameter], lr: float, decay: float) -> None:
        self.parameters, self.lr, self.decay, self.count = parameters, lr, decay, 0
        self.means = [torch.zeros_like(parameter) for parameter in parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in parameters]

    @torch.no_grad()
    def step(self, factor: float) -> None:
        self.count += 1
        lr = self.lr * factor
        for parameter, mean, square in zip(self.parameters, self.means, self.squares, strict=True):
            gradient = parameter.grad
            mean.lerp_(gradient, 0.1)
            square.mul_(0.95).addcmul_(gradient, gradient, value=0.05)
            spread = (square / (1 - 0.95**self.count)).sqrt_().add_(1e-8)
            parameter.mul_(1 - lr * self.decay).addcdiv_(mean, spread, value=-lr / (1 - 0.9**self.count))


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
    others = [p for name, p in model.named_parameters() if not name.startswith(("embedding", "head"))]
    optimisers = [
        AdamW([model.embedding.weight], EMBEDDING_RATE, 0.0),
        AdamW([model.head.weight], HEAD_RATE, 0.0),
        AdamW(others, LEARNING_RATE, WEIGHT_DECAY),
    ]
    for step in range(steps):
        starts = torch.randint(len(tokens) - context, (batch, 1))
        window = tokens[starts + torch.arange(context + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        for optimiser in optimisers:
            optimiser.step(schedule(step, steps))
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
