"""The tokenizer and the chat template that a GGUF file carries. Must not know of logits or of conversations."""

from __future__ import annotations

import codecs
import ctypes
from collections.abc import Sequence

import llama_cpp
import numpy as np

from predtui.llm.base import ChatTemplate
from predtui.llm.templates import JinjaTemplate, PlainTemplate

_SENTENCEPIECE = 1
_LONGEST_PIECE = 512


class GgufTokenizer:
    """A ``Tokenizer`` over a llama.cpp vocabulary (its pointer, valid as long as the model is open)."""

    def __init__(self, vocab: int) -> None:
        self._vocab = vocab
        self._bos = int(llama_cpp.llama_vocab_bos(vocab)) if llama_cpp.llama_vocab_get_add_bos(vocab) else -1
        self._leading_space = llama_cpp.llama_vocab_type(vocab) == _SENTENCEPIECE
        self._pieces: dict[int, bytes] = {}
        self._ends: dict[int, bool] = {}

    def encode(self, text: str, special: bool = False) -> list[int]:
        """A rendered template (``special``) begins with exactly one BOS where the model wants one, whether or not the
        template writes it; other text gets none."""
        data = text.encode("utf-8", errors="replace")
        tokens = np.empty(len(data) + 2, np.int32)
        pointer = tokens.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))
        count = llama_cpp.llama_tokenize(self._vocab, data, len(data), pointer, tokens.size, False, special)
        if count < 0:
            tokens = np.empty(-count, np.int32)
            pointer = tokens.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))
            count = llama_cpp.llama_tokenize(self._vocab, data, len(data), pointer, tokens.size, False, special)
        ids: list[int] = tokens[:count].tolist()
        if special and self._bos >= 0 and ids[:1] != [self._bos]:
            ids.insert(0, self._bos)
        return ids

    def decode(self, tokens: Sequence[int]) -> str:
        data = b"".join([self.piece(token) for token in tokens])
        if self._leading_space and data.startswith(b" "):
            data = data[1:]
        return codecs.getincrementaldecoder("utf-8")("replace").decode(data)

    def is_end(self, token: int) -> bool:
        if token not in self._ends:
            self._ends[token] = bool(llama_cpp.llama_vocab_is_eog(self._vocab, token))
        return self._ends[token]

    def piece(self, token: int) -> bytes:
        piece = self._pieces.get(token)
        if piece is None:
            piece = self._pieces[token] = token_piece(self._vocab, token, special=False)
        return piece


def token_piece(vocab: int, token: int, special: bool) -> bytes:
    """The bytes of a token; a special token's are empty unless ``special``."""
    buffer = ctypes.create_string_buffer(_LONGEST_PIECE)
    count = llama_cpp.llama_token_to_piece(vocab, token, buffer, _LONGEST_PIECE, 0, special)
    return buffer.raw[: max(0, count)]


def chat_template(model: int, vocab: int) -> ChatTemplate:
    """The template in the file's metadata, or the plain one where it has none. Raises PredtuiError for a broken one."""
    source = llama_cpp.llama_model_chat_template(model, None)
    if not source:
        return PlainTemplate()
    ends = [int(llama_cpp.llama_vocab_bos(vocab)), int(llama_cpp.llama_vocab_eos(vocab))]
    bos, eos = (token_piece(vocab, t, special=True).decode("utf-8", "replace") if t >= 0 else "" for t in ends)
    return JinjaTemplate(source.decode("utf-8", "replace"), bos, eos)
