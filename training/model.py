"""The encoder: MiniLM's word-piece vectors, hashed spellings and dictionary bits under a stack of convolutions."""

from __future__ import annotations

import torch
from torch import nn

LABELS = 5
#: Spacing of the three tokens that each layer reads.
DILATIONS = (1, 1, 2, 3)

DROPPED = 0.15


class Encoder(nn.Module):
    """Logits (batch, tokens, heads, LABELS). The word-piece vectors stay as MiniLM has them; a projection is learnt."""

    def __init__(self, pieces: torch.Tensor, hash_rows: int, bits: int, heads: int, width: int, hashed: int) -> None:
        super().__init__()
        self.register_buffer("pieces", pieces)
        self.project = nn.Linear(pieces.shape[1], width, bias=False)
        self.hashes = nn.Embedding(hash_rows, hashed, padding_idx=0)
        nn.init.normal_(self.hashes.weight, std=0.1)
        self.mix = nn.Linear(hashed, width)
        self.bits = nn.Linear(bits, width, bias=False)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(nn.Linear(3 * width, width) for _ in DILATIONS)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in DILATIONS)
        self.out = nn.Linear(2 * width, heads * LABELS)
        self.heads = heads

    def forward(
        self, pieces: torch.Tensor, hashes: torch.Tensor, bits: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        """``mask`` (batch, tokens, 1) is 0 behind the end of a stretch."""
        if self.training:
            hashes = hashes * (torch.rand(hashes.shape) > 0.15)
            kept = (torch.rand(len(bits), 1, 1) > 0.08) & (torch.rand(bits.shape) > 0.05)
            bits = bits * kept
        known = (pieces > 0).sum(-1, keepdim=True).clamp(min=1)
        words = nn.functional.embedding(pieces, self.pieces).sum(2) / known
        first = self.norm(self.project(words) + self.mix(self.hashes(hashes).sum(2)) + self.bits(bits))
        hidden = first = self._thin(first) * mask
        for layer, norm, step in zip(self.layers, self.norms, DILATIONS, strict=True):
            wide = nn.functional.pad(hidden, (0, 0, step, step))
            window = torch.cat([wide[:, : -2 * step], hidden, wide[:, 2 * step :]], -1)
            hidden = norm(hidden + self._thin(nn.functional.gelu(layer(window), approximate="tanh"))) * mask
        return self.out(torch.cat([hidden, first], -1)).view(*hidden.shape[:2], self.heads, LABELS)

    def _thin(self, values: torch.Tensor) -> torch.Tensor:
        """Dropout of whole channels of a stretch: as good here as single values, and far fewer random numbers."""
        if not self.training:
            return values
        return values * ((torch.rand(len(values), 1, values.shape[2]) > DROPPED) / (1 - DROPPED))
