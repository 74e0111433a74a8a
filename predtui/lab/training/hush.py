"""``predtui train hush``: learns the hush word of a Whisper (WhisperFlow, section 4.1).

Half a second of sound, appended to an unpadded one, that stands for the padding the model was trained with. The model
is frozen; the gradient of its cross-entropy goes through the log-mel spectrogram into the samples. Batches of one;
the mean of the best epochs is kept. A start near silence ends better than one from noise, so that is where it starts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from predtui.asr.whisperflow.mel import FRAMES_A_SECOND, HOP, filters
from predtui.files import replace_by
from predtui.lab.training.asr.config import SAMPLE_RATE
from predtui.lab.training.asr.model import Whisper
from predtui.lab.training.manifest import Utterance
from predtui.system.exits import terminate_as_interrupt

Level = Literal["raw", "mel"]
Position = Literal["end", "start"]


@dataclass(frozen=True, slots=True)
class HushOptions:
    """``loudness``: the root mean square of the start. ``level`` and ``position`` are the paper's ablations."""

    seconds: float = 0.5
    epochs: int = 12
    rate: float = 6e-4
    loudness: float = 3e-4
    best: int = 3
    level: Level = "raw"
    position: Position = "end"
    seed: int = 0

    def factor(self, share: float) -> float:
        """On the learning rate after ``share`` of the epochs: linear to a twentieth."""
        return 1.0 - 0.95 * share


@dataclass(frozen=True, slots=True)
class Epoch:
    """News: losses in nats a token, of training and of the held-out utterances."""

    number: int
    loss: float
    held_out: float
    share: float


@dataclass(slots=True)
class State:
    """How far a run is. ``kept`` are the best epochs' losses, in the order of the tensors kept for them."""

    epoch: int = 0
    kept: list[float] = field(default_factory=list)
    words: list[Tensor] = field(default_factory=list)


class Hush(nn.Module):
    """The only thing that learns: samples [n], or log-mel frames [mels, frames]."""

    def __init__(self, options: HushOptions, mels: int) -> None:
        super().__init__()
        torch.manual_seed(options.seed)
        self._options, self.filters = options, torch.from_numpy(filters(mels))
        count = int(options.seconds * SAMPLE_RATE)
        if options.level == "raw":
            start = options.loudness * torch.randn(count)
        else:
            start = 0.01 * torch.randn(mels, count // HOP)
        self.word = nn.Parameter(start)

    def forward(self, samples: Tensor) -> Tensor:
        """The log-mel frames [1, mels, frames] of ``samples`` [n] with the word at its place."""
        if self._options.level == "raw":
            return log_mel(torch.cat(self._placed(samples, self.word)), self.filters)[None]
        mel = log_mel(samples, self.filters)
        return torch.cat(self._placed(mel, mel.max() - 2.0 + self.word), dim=1)[None]

    def _placed(self, sound: Tensor, word: Tensor) -> list[Tensor]:
        return [sound, word] if self._options.position == "end" else [word, sound]


def log_mel(samples: Tensor, bank: Tensor) -> Tensor:
    """What ``predtui.asr.whisperflow.mel.log_mel`` computes, differentiable: [mels, frames] of [n] samples."""
    window = torch.from_numpy(np.hanning(401)[:-1].astype(np.float32))
    spectrum = torch.stft(samples, 400, HOP, window=window, center=True, pad_mode="reflect", return_complex=True)
    power = spectrum[:, :-1].abs().square()
    levels = (bank @ power).clamp(min=1e-10).log10()
    return (torch.maximum(levels, levels.max() - 8.0) + 4.0) / 4.0


class HushRun:
    """One run: ``model`` frozen, ``train`` and ``held_out`` utterances, ``opening`` the decoder's first tokens."""

    def __init__(
        self, model: Whisper, tokenizer: Tokenizer, opening: Sequence[int], options: HushOptions, folder: Path
    ) -> None:
        self._model, self._tokenizer, self._opening = model, tokenizer, list(opening)
        self._options, self._path = options, folder / "hush-checkpoint.safetensors"
        self.hush = Hush(options, model.shape.mels)
        self._optimizer = torch.optim.Adam(self.hush.parameters(), lr=options.rate, betas=(0.9, 0.98))
        self._end: int = tokenizer.get_vocab()["<|endoftext|>"]

    def __call__(
        self,
        train: Sequence[Utterance],
        held_out: Sequence[Utterance],
        resume: bool,
        report: Callable[[Epoch], None],
    ) -> Tensor:
        """The mean of the best epochs' words. Ctrl-C keeps the epochs that are done."""
        state = self._load() if resume and self._path.exists() else State()
        fitting = [one for one in train if self._fits(one)]
        with terminate_as_interrupt():
            while state.epoch < self._options.epochs:
                losses = list(self._learn(fitting, state.epoch))
                with torch.no_grad():
                    measured = float(np.mean([float(self._loss(one)) for one in held_out if self._fits(one)]))
                state = self._keep(state, measured)
                self._save(state)
                share = state.epoch / self._options.epochs
                report(Epoch(state.epoch, float(np.mean(losses)), measured, share))
        return torch.stack(state.words).mean(dim=0)

    def _learn(self, train: Sequence[Utterance], epoch: int) -> Iterator[float]:
        order = random.Random(f"hush {self._options.seed} {epoch}").sample(range(len(train)), len(train))
        for step, index in enumerate(order):
            share = (epoch + step / len(order)) / self._options.epochs
            self._optimizer.param_groups[0]["lr"] = self._options.rate * self._options.factor(share)
            self._optimizer.zero_grad()
            loss = self._loss(train[index])
            torch.autograd.backward(loss)
            self._optimizer.step()
            yield loss.item()

    def _loss(self, one: Utterance) -> Tensor:
        """Cross-entropy a token of the transcript and its end (the objective of section 4.1.2)."""
        tokens = self._tokenizer.encode(f" {one.text.strip()}", add_special_tokens=False).ids if one.text else []
        tokens = tokens[: self._model.shape.target_positions - len(self._opening)]
        ids = torch.tensor([[*self._opening, *tokens]])
        labels = torch.tensor([*tokens, self._end])
        logits = self._model(self.hush(torch.from_numpy(one.samples)), ids)[0, len(self._opening) - 1 :]
        return functional.cross_entropy(logits, labels)

    def _fits(self, one: Utterance) -> bool:
        room = self._model.shape.window / FRAMES_A_SECOND - self._options.seconds
        return SAMPLE_RATE // 4 <= len(one.samples) <= room * SAMPLE_RATE

    def _keep(self, state: State, measured: float) -> State:
        """``state`` with this epoch's word, if it is among the best."""
        words = [*zip(state.kept, state.words, strict=True), (measured, self.hush.word.detach().clone())]
        best = sorted(words, key=lambda one: one[0])[: self._options.best]
        return replace(state, epoch=state.epoch + 1, kept=[loss for loss, _ in best], words=[word for _, word in best])

    def _save(self, state: State) -> None:
        tensors = {"word": self.hush.word.detach().clone()}
        tensors |= {f"kept.{index}": word for index, word in enumerate(state.words)}
        moments = self._optimizer.state[self.hush.word]
        tensors |= {name: moments[name] for name in ("step", "exp_avg", "exp_avg_sq")}
        facts = {"epoch": state.epoch, "kept": state.kept, "options": asdict(self._options)}
        about = {"facts": json.dumps(facts)}
        replace_by(self._path, lambda place: save_file(tensors, str(place), metadata=about))

    def _load(self) -> State:
        """Raises ValueError where the checkpoint is of other options."""
        with safe_open(str(self._path), framework="pt") as file:
            facts = json.loads(file.metadata()["facts"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if {**facts["options"], "epochs": 0} != {**asdict(self._options), "epochs": 0}:
            raise ValueError(f"{self._path} is of a run with other options; remove it or train elsewhere")
        with torch.no_grad():
            self.hush.word.copy_(tensors["word"])
        self._optimizer.state[self.hush.word] = {name: tensors[name] for name in ("step", "exp_avg", "exp_avg_sq")}
        return State(facts["epoch"], facts["kept"], [tensors[f"kept.{i}"] for i in range(len(facts["kept"]))])
