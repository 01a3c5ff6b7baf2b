"""Record 13: each embedding carries a little of the two tokens before.

Much of what attention learns first is to fetch the tokens just before. Each embedding now has a share of the one
before and of the one before that, learned for each channel: that is given away for the price of two additions, and
all layers are free for longer dependencies.

    python r13.py DATA OUT SEED
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
    "full": {"width": 64, "layers": 3, "context": 128, "batch": 8, "steps": 605},
    "micro": {"width": 32, "layers": 3, "context": 64, "batch": 8, "steps": 56},
}
EMBEDDING_RATE = 0.15
HEAD_RATE = 0.02
PARTS = (3, 1, 4, 4)  # squares of a block: queries, keys and values; out; up; down
MUON_RATE = 0.05  # matrices inside the blocks
WARMUP = 0.05  # share of the steps
SHARE_RATE = 0.05  # shares of earlier positions
COOLDOWN = 0.75  # share of the steps


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


def norm(x: torch.Tensor) -> torch.Tensor:
    """Layer normalisation without gain or bias: one fused kernel, nothing to learn."""
    return F.layer_norm(x, x.shape[-1:])


def attention(x: torch.Tensor, qkv: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """Causal attention with one head; qkv is (3, width, width), out is (1, width, width)."""
    batch, length, width = x.shape
    qk, v = F.linear(x, qkv.flatten(0, 1)).view(batch, length, 3, 1, width).permute(2, 0, 3, 1, 4).split((2, 1))
    q, k = rotate(norm(qk))
    y = F.scaled_dot_product_attention(q, k, v[0], is_causal=True)
    return F.linear(y.view(batch, length, width), out[0])


def mlp(x: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    """Two layers, the hidden one several times as wide; up and down are (times, width, width)."""
    return F.gelu(F.linear(x, up.flatten(0, 1))) @ down.flatten(0, 1)


def smear(x: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
    """Add to each position its shares of the positions just before, nearest first; x is (B, T, channels)."""
    padded = F.pad(x, (0, 0, len(shares), 0))
    for distance, share in enumerate(shares.unbind(), 1):
        start = len(shares) - distance
        x = torch.addcmul(x, share, padded[:, start : start + x.size(1)])
    return x


class Model(nn.Module):
    def __init__(self, vocabulary: int, size: dict[str, int]) -> None:
        super().__init__()
        width, layers = size["width"], size["layers"]
        self.embedding = nn.Embedding(vocabulary, width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        # All matrices of all blocks, as squares: 3 for queries, keys and values, 1 out, 4 up, 4 down.
        self.squares = nn.Parameter(torch.randn(layers, sum(PARTS), width, width) * 0.5 / math.sqrt(width))
        self.nearby = nn.Parameter(torch.tensor([[0.3], [0.0]]).repeat(1, width))
        nn.init.normal_(self.embedding.weight)
        nn.init.zeros_(self.head.weight)
        with torch.no_grad():
            for squares in self.squares:
                _, out, _, down = squares.split(PARTS)
                out.zero_()
                down.zero_()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """(B, T) tokens -> (B, T, vocabulary) logits."""
        x = norm(smear(self.embedding(tokens), self.nearby))
        for squares in self.squares.unbind():
            qkv, out, up, down = squares.split(PARTS)
            x = x + attention(norm(x), qkv, out)
            x = x + mlp(norm(x), up, down)
        return self.head(norm(x))


# ---- optimiser ------------------------------------------------------------------------------------------------------


class Adam:
    """Adam, written out; the library's loads a compiler front end, a second of CPU time."""

    def __init__(self, parameters: list[nn.Parameter], lr: float) -> None:
        self.parameters, self.lr, self.count = parameters, lr, 0
        self.means = [torch.zeros_like(parameter) for parameter in parameters]
        self.squares = [torch.zeros_like(parameter) for parameter in parameters]

    @torch.no_grad()
    def step(self, factor: float) -> None:
        self.count += 1
        lr = self.lr * factor
        for parameter, mean, square in zip(self.parameters, self.means, self.squares, strict=True):
            gradient = parameter.grad
            mean.lerp_(gradient, 0.2)
            square.mul_(0.95).addcmul_(gradient, gradient, value=0.05)
            spread = (square / (1 - 0.95**self.count)).sqrt_().add_(1e-8)
            parameter.addcdiv_(mean, spread, value=-lr / (1 - 0.8**self.count))


def orthogonal(x: torch.Tensor) -> torch.Tensor:
    """The nearest semi-orthogonal matrices to a stack of squares, roughly, by three quintic Newton-Schulz steps."""
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(3):
        square = torch.bmm(x, x.mT)
        polynomial = torch.baddbmm(square, square, square, beta=-4.7750, alpha=2.0315)
        x = torch.baddbmm(x, polynomial, x, beta=3.4445)
    return x


class Muon:
    """Nesterov momentum whose update is orthogonalised, on all the squares of the blocks at once."""

    def __init__(self, squares: nn.Parameter, lr: float, momentum: float) -> None:
        self.squares, self.lr, self.momentum = squares, lr, momentum
        self.average = torch.zeros_like(squares)
        self.scale = torch.ones(squares.size(1), 1, 1)
        self.scale[-PARTS[-1] :] = 0.5  # the squares of `down` add up in one output

    @torch.no_grad()
    def step(self, factor: float) -> None:
        gradient = self.squares.grad
        self.average.lerp_(gradient, 1 - self.momentum)
        update = orthogonal(gradient.lerp_(self.average, self.momentum).flatten(0, 1)).view_as(gradient)
        self.squares.addcmul_(update, self.scale, value=-self.lr * factor)


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
    steps = size["steps"]

    model = Model(meta["vocab_size"], size)
    optimisers = [
        Adam([model.embedding.weight], EMBEDDING_RATE),
        Adam([model.head.weight], HEAD_RATE),
        Adam([model.nearby], SHARE_RATE),
        Muon(model.squares, MUON_RATE, 0.9),
    ]
    for step in range(steps):
        shrink = 4 if step < steps * 0.35 else 2 if step < steps * 0.65 else 1
        context, batch = size["context"] // shrink, size["batch"] * shrink
        starts = torch.randint(len(tokens) - context, (batch, 1))
        window = tokens[starts + torch.arange(context + 1)]
        logits = model(window[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())
        model.zero_grad()
        loss.backward()
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
