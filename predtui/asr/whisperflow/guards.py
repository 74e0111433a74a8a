"""Whisper's guards against words that nobody said (Radford et al., 2022, section 4.5), and against loops."""

from __future__ import annotations

import math
from dataclasses import replace

from predtui.asr.faster_whisper import credible
from predtui.asr.plain import is_caption
from predtui.asr.whisperflow.loops import without_loops
from predtui.asr.whisperflow.transcription import Transcription


def believed(heard: Transcription, least: float = -math.inf) -> Transcription:
    """``heard`` without phrases written twice, or nothing where its words are an invention over silence, a loop of
    which no time tells what was said, or less sure than ``least``, in mean log-probability."""
    words = without_loops(heard.words)
    compression = heard.compression if len(words) == len(heard.words) else 0.0
    caption = is_caption(one.word.text for one in words)
    if not caption and heard.mean_logprob >= least and credible(heard.no_speech, heard.mean_logprob, compression):
        return replace(heard, words=words)
    return Transcription((), heard.no_speech, heard.mean_logprob, 0.0, heard.effort)
