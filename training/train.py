"""Trains the encoder on the arrays of ``prepare.py``; CPU, one thread, a fixed seed.

    python training/train.py DATA.npz WEIGHTS.npz [--minutes 25] [--width 256]

Development documents are scored after every epoch and never trained on. A head has no loss in documents of a corpus
that does not annotate it.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from decode import spans, viterbi
from minilm import piece_vectors
from model import LABELS, Encoder
from torch import nn

BATCH_TOKENS = 4_000
#: The running average of the weights takes every so many steps.
AVERAGED = 4
#: Share of the stretches of a corpus seen in one epoch, where it is not all.
SHARE = {"bioid_cellline": 0.3, "linnaeus": 0.4, "nlm_chem": 0.7}


class Data:
    def __init__(self, path: Path) -> None:
        found = np.load(path)
        self.stretches, self.corpora, self.heads = (
            found["stretches"],
            found["corpora"].tolist(),
            found["heads"].tolist(),
        )
        self.pieces, self.hashes, self.bits, self.labels = (found[k] for k in ("pieces", "hashes", "bits", "labels"))
        held = self.stretches[:, 3] == 1
        self.train, self.dev = np.flatnonzero(~held), np.flatnonzero(held)

    def batch(self, rows: list[int]) -> tuple[torch.Tensor, ...]:
        bounds = self.stretches[rows, :2]
        longest = int((bounds[:, 1] - bounds[:, 0]).max())

        def padded(values: np.ndarray, fill: int, dtype: type) -> torch.Tensor:
            out = np.full((len(rows), longest, values.shape[1]), fill, dtype)
            for place, (begin, end) in enumerate(bounds):
                out[place, : end - begin] = values[begin:end]
            return torch.from_numpy(out)

        mask = np.zeros((len(rows), longest, 1), np.float32)
        for place, (begin, end) in enumerate(bounds):
            mask[place, : end - begin] = 1
        return (
            padded(self.pieces, 0, np.int64),
            padded(self.hashes, 0, np.int64),
            padded(self.bits, 0, np.float32),
            torch.from_numpy(mask),
            padded(self.labels, -1, np.int64),
        )


def batches(data: Data, rows: np.ndarray, rng: np.random.Generator | None) -> list[list[int]]:
    """Stretches of like length together."""
    lengths = data.stretches[rows, 1] - data.stretches[rows, 0]
    noise = rng.uniform(0, 12, len(rows)) if rng is not None else np.zeros(len(rows))
    found: list[list[int]] = []
    current: list[int] = []
    for place in np.argsort(lengths + noise, kind="stable"):
        current.append(int(rows[place]))
        if len(current) * int(lengths[place]) >= BATCH_TOKENS:
            found.append(current)
            current = []
    if current:
        found.append(current)
    if rng is not None:
        rng.shuffle(found)
    return found


def evaluate(model: nn.Module, data: Data) -> dict[str, float]:
    """Strict F1 of token spans per corpus and head."""
    model.eval()
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    with torch.no_grad():
        for rows in batches(data, data.dev, None):
            *inputs, labels = data.batch(rows)
            scores = model(*inputs).log_softmax(-1).numpy()
            for place, row in enumerate(rows):
                begin, end, corpus, _ = data.stretches[row]
                for head, name in enumerate(data.heads):
                    gold = labels[place, : end - begin, head].tolist()
                    if all(label < 0 for label in gold):
                        continue
                    wanted = set(spans(gold))
                    got = {s for s in spans(viterbi(scores[place, : end - begin, head])) if gold[s[0]] >= 0}
                    count = counts[data.corpora[corpus], name]
                    for slot, value in enumerate((len(wanted & got), len(got), len(wanted))):
                        count[slot] += value
    return {
        f"{corpus} {head}": round(2 * hit / max(1, got + wanted), 4)
        for (corpus, head), (hit, got, wanted) in sorted(counts.items())
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--width", type=int, default=224)
    parser.add_argument("--hashed", type=int, default=96)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--hash-rows", type=int, default=49_152)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    data = Data(options.data)
    model = Encoder(
        torch.from_numpy(piece_vectors()), options.hash_rows, data.bits.shape[1], len(data.heads),
        options.width, options.hashed,
    )  # fmt: skip
    average = {name: value.clone() for name, value in model.named_parameters()}
    plain = [value for name, value in model.named_parameters() if "hashes" in name or value.ndim < 2]
    decayed = [value for name, value in model.named_parameters() if not ("hashes" in name or value.ndim < 2)]
    optimiser = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.02}, {"params": plain, "weight_decay": 0.0}], lr=options.rate
    )
    share = np.asarray([SHARE.get(name, 1.0) for name in data.corpora])[data.stretches[data.train, 2]]
    per_epoch = len(batches(data, data.train[rng.random(len(share)) < share], rng))
    total = per_epoch * options.epochs
    begin, step = time.monotonic(), 0
    for epoch in range(options.epochs):
        model.train()
        losses = []
        for rows in batches(data, data.train[rng.random(len(share)) < share], rng):
            done = min(1.0, step / total)
            for group in optimiser.param_groups:
                group["lr"] = (
                    options.rate * min(1.0, (step + 1) / 200) * (0.02 + 0.98 * (1 + math.cos(math.pi * done)) / 2)
                )
            *inputs, labels = data.batch(rows)
            logits = model(*inputs)
            loss = (
                nn.functional.cross_entropy(
                    logits.reshape(-1, LABELS), labels.reshape(-1), ignore_index=-1, reduction="sum"
                )
                / inputs[3].sum()
            )
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            step += 1
            if step % AVERAGED == 0:
                decay = min(0.99, (1 + step) / (10 + step))
                with torch.no_grad():
                    for name, value in model.named_parameters():
                        average[name].lerp_(value, 1 - decay)
            losses.append(loss.item())
            if step % 100 == 0:
                print(
                    f"step {step}/{total} loss {np.mean(losses[-100:]):.4f} {time.monotonic() - begin:.0f}s", flush=True
                )
        own = {name: value.detach().clone() for name, value in model.named_parameters()}
        model.load_state_dict(average, strict=False)
        figures = evaluate(model, data)
        print(json.dumps({"epoch": epoch + 1, "seconds": round(time.monotonic() - begin), "f1": figures}), flush=True)
        np.savez(options.weights, **{name: value.numpy() for name, value in model.state_dict().items()})
        model.load_state_dict(own, strict=False)


if __name__ == "__main__":
    main()
