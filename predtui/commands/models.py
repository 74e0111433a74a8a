"""``predtui models``: what is on this machine, what there is to get, and getting it. Imports nothing heavy."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predtui.commands.inputs import existing
from predtui.commands.install import STEP_S, say
from predtui.commands.plan import plan
from predtui.commands.with_settings import Commands
from predtui.errors import PredtuiError

if TYPE_CHECKING:
    from predtui.models.download import Progress
    from predtui.models.places import Found
    from predtui.models.pull import Offer

models = Commands(help="Models: what is here, what there is, and getting it.", no_args_is_help=True)
models.command("plan")(plan)

NAME = "A name of predtui models list, OWNER/NAME[:QUANT] on the Hugging Face hub, or the address of a .gguf file."
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Offline = Annotated[bool, typer.Option("--offline", help="Ask nobody; HF_HUB_OFFLINE=1 does the same.")]


@models.command("list")
def list_() -> None:
    """The models that are on this machine, by where they are, and those that predtui proposes."""
    from predtui.models.curated import KINDS, proposals
    from predtui.models.places import inventory, pulled

    for line in _here(inventory(_folder())):
        print(line)
    print("\nTo get: predtui models pull NAME")
    for kind, entries in groupby(proposals().values(), key=lambda proposal: proposal.kind):
        print(f"\n  {KINDS[kind]}")
        for one in entries:
            mark, memory = "●" if pulled(one.name) else " ", f"{one.memory / 1000:.1f} GB of memory"
            print(f"  {mark} {one.name:<15} {one.megabytes:>6,} MB  {memory}, {one.licence}; {one.languages}")
            print(f"    {one.good}")


@models.command("search")
def search(words: Annotated[list[str], typer.Argument(help="What to look for.")], offline: Offline = False) -> None:
    """Ask the Hugging Face hub for GGUF models; those that most people fetch come first."""
    from predtui.models.hub import Hub, must_be_online

    must_be_online(offline)
    hits = Hub().search(" ".join(words))
    for hit in hits:
        gated = ", gated" if hit.gated else ""
        print(f"{hit.name:<60} {hit.downloads:>10,} a month  {hit.licence or 'no licence told'}{gated}")
    print("\nGet one: predtui models pull OWNER/NAME[:QUANT]" if hits else "There is none. Try fewer words.")


@models.command("pull")
def pull(
    name: Annotated[str, typer.Argument(help=NAME)],
    yes: Yes = False,
    sha256: Annotated[str, typer.Option(help="What the file of an address must have.")] = "",
    offline: Offline = False,
) -> None:
    """Get a model: tells size and licence, asks, and fetches it. What was interrupted goes on where it was."""
    from predtui.models.prepare import prepare

    offer, fetch = prepare(name, sha256, offline)
    for line in _told(offer):
        print(line)
    if offer.files:
        _agreed(f"Fetch {_megabytes(offer.size)}?", yes, "is fetched")
        shown = _Shown()
        try:
            fetch.run(shown.report, _inspected)
        except KeyboardInterrupt:
            say("stopped: what has come is kept, and the same command goes on from there.", end="\n")
            raise typer.Exit(130) from None
        say(f"[{shown.elapsed:4.0f} s] {offer.model}: done", end="\n")
    print(f"It is in {offer.folder}. Try it: predtui {_option(offer)}")


@models.command("remove")
def remove(
    name: Annotated[str, typer.Argument(help="As --model takes it; of several quantisations, that which is named.")],
    yes: Yes = False,
) -> None:
    """Remove a model that predtui has pulled or taken in. Those of other programs are theirs."""
    from predtui.models.keep import kept
    from predtui.models.keep import remove as remove_files

    files = kept(name)
    for path in files:
        print(path)
    _agreed(f"Remove {_megabytes(sum(path.stat().st_size for path in files))}?", yes, "is removed")
    remove_files(files)
    print("Removed.")


@models.command("forget")
def forget() -> None:
    """Delete what drafts have learnt of replies (--drafter osd), for all models. One that is in use keeps it anew."""
    from predtui.decoding.learnt import discard
    from predtui.settings import learnt_folder

    count = discard(learnt_folder())
    print(f"Forgotten: {count} file{'s' * (count != 1)} in {learnt_folder()}." if count else "Nothing was learnt.")


@models.command("where")
def where(
    name: Annotated[str, typer.Argument(help="As --model takes it; without one, all places that are looked at.")] = "",
) -> None:
    """Where a model is, or where models are looked for."""
    from predtui.llm.llamacpp.engine import file_of
    from predtui.models.places import in_folder, places, pulled

    if not name:
        for whose, path in places(_folder()):
            print(f"{whose:<14} {path}{'' if path.is_dir() else '  (not there)'}")
        return
    found: Path | None = pulled(name) if _folder_model(name) else file_of(in_folder(name, _folder()))
    if found is None or not found.exists():
        raise PredtuiError(f"There is no file {found}.", "See what is here: predtui models list")
    print(found)


@models.command("import")
def import_(
    path: Annotated[
        Path,
        typer.Argument(help="A GGUF file, the first of several, or a folder with safetensors.", callback=existing),
    ],
) -> None:
    """Keep a model that lies elsewhere on this machine: linked where that can be, else copied."""
    from predtui.models.keep import sources, take_in

    files = sources(path)
    if path.is_file():
        print(_inspected(path))
    name = take_in(path, files)
    print(f"It is kept. Talk with it: predtui --model {name}{'' if path.is_file() else ' --engine torch'}")


class _Shown:
    """Progress, over itself on a terminal, and a line every few seconds elsewhere."""

    def __init__(self) -> None:
        self._begun, self._reported = time.monotonic(), -STEP_S

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._begun

    def report(self, progress: Progress) -> None:
        step = 0.1 if sys.stdout.isatty() else STEP_S
        if self.elapsed - self._reported >= step:
            self._reported = self.elapsed
            say(f"[{self.elapsed:4.0f} s] {progress}")


def _here(found: list[Found]) -> Iterator[str]:
    from predtui.foreign import printable
    from predtui.llm.llamacpp.engine import file_of
    from predtui.llm.room import too_large
    from predtui.models.published import SMOLLM2, find
    from predtui.models.shipped import POCKET

    yield "with predtui:"
    for name in (POCKET, *([SMOLLM2.name] if find(SMOLLM2) else [])):
        yield f"  {_megabytes(file_of(name).stat().st_size):>10}  {'':<8} {name}"
    for whose, group in groupby(found, key=lambda one: one.place):
        yield f"{whose}:"
        for one in group:
            large = f"  ({why})" if (why := too_large(one.size)) else ""
            yield f"  {_megabytes(one.size):>10}  {one.quantisation:<8} {printable(one.model)}{large}"


def _told(offer: Offer) -> Iterator[str]:
    from predtui.models.prepare import UNCHECKED, licence

    yield f"{offer.model}, of {offer.page}"
    yield licence(offer)
    for name in offer.here:
        yield f"  {name}, here already"
    for file in offer.files:
        yield f"  {file.path.name}, {_megabytes(file.size)}"
    if offer.files and not offer.checked:
        yield f"{UNCHECKED} (--sha256)."


def _agreed(question: str, yes: bool, done: str) -> None:
    """Raises PredtuiError where there is nobody to ask, and ends the command where the answer is no."""
    if yes:
        return
    if not _answers():
        raise PredtuiError(f"Nothing {done} without a yes.", "Say it with --yes.")
    if not typer.confirm(question):
        print(f"Nothing {done}.")
        raise typer.Exit(1)


def _answers() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin is not None and sys.stdin.isatty()


def _inspected(path: Path) -> str:
    """A line on a GGUF file. Raises PredtuiError for one that is damaged, or not to talk with."""
    from predtui.llm.llamacpp.engine import describe

    return describe(str(path))


def _option(offer: Offer) -> str:
    """What names the model on the command line."""
    from predtui.models.curated import proposals

    if proposal := proposals().get(offer.model):
        return proposal.option
    names = (*offer.here, *(file.path.name for file in offer.files))
    if any(name.endswith(".onnx") for name in names):
        return f"--tts-model {offer.model}"
    engine = "" if any(name.lower().endswith(".gguf") for name in names) else "--engine torch "
    return f"{engine}--model {offer.model}"


def _folder_model(name: str) -> bool:
    """Whether it is pulled, and no GGUF file."""
    from predtui.models.places import pulled

    folder = pulled(name)
    return folder is not None and not any(folder.rglob("*.gguf"))


def _folder() -> str:
    """``llm.folder``, where the settings can be read."""
    from predtui.config import load_or_default

    return load_or_default()[0].llm.folder


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
