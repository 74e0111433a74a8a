"""A pull that waits for a yes: what it would fetch, in words for whoever is asked. Must not know how they are asked."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from predtui.models.connection import Client
from predtui.models.download import no_token
from predtui.models.hub import Hub, must_be_online
from predtui.models.pull import Offer, Pull, offer_of
from predtui.settings import models_folder

UNCHECKED = "Nobody tells a checksum of it: whether it is what its owner meant cannot be checked"


def prepare(text: str, sha256: str = "", offline: bool = False) -> tuple[Offer, Pull]:
    """What ``predtui models pull TEXT`` would fetch, and the pull, which fetches nothing until it is run. Asks the hub,
    or the server of an address. Raises PredtuiError."""
    must_be_online(offline)
    client, hubs = Client(), list[Hub]()

    def hub() -> Hub:
        hubs.append(Hub())
        return hubs[0]

    offer = offer_of(text, hub, client, sha256)
    return offer, Pull(offer, client, hubs[0].token if hubs else no_token)


def licence(offer: Offer) -> str:
    terms = "; its owner gives it only to those who have accepted its terms" if offer.gated else ""
    return f"licence: {offer.licence or 'not told: read it there'}{terms}"


def summary(offer: Offer) -> Iterator[str]:
    """What it is, what it costs, and what there is room for, a line each."""
    yield f"{offer.model}, of {offer.page}"
    yield licence(offer)
    there = sum(min(file.size, _size_of_part(file.part)) for file in offer.files)
    come = f", of which {_megabytes(there)} have come before" if there else ""
    files = f" in {len(offer.files)} files" if len(offer.files) > 1 else ""
    yield f"{_megabytes(offer.size)} to fetch{files}{come}"
    folder = next((one for one in (offer.folder, *offer.folder.parents) if one.is_dir()), models_folder())
    with suppress(OSError):
        yield f"{_megabytes(shutil.disk_usage(folder).free)} are free where it will lie: {offer.folder}"
    if not offer.checked:
        yield f"{UNCHECKED}."


def _size_of_part(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
