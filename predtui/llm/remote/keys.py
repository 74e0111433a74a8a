"""Where the key of a server comes from: the environment, or the keyring where that package is installed.

It is never taken from a command line or a settings file, and never written anywhere. Must not know of requests.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from contextlib import suppress
from urllib.parse import urlsplit

VARIABLE = "PREDTUI_API_KEY"
"""For whatever server is named."""
OPENAI = "OPENAI_API_KEY"
"""For OpenAI's own alone: another server has no business with it."""
VARIABLES = (VARIABLE, OPENAI)
SERVICE = "predtui"
"""In the keyring; the host is the name there."""


def key_for(url: str) -> str:
    """The key for the server at ``url``; empty where there is none."""
    host = urlsplit(url).hostname or ""
    if key := os.environ.get(VARIABLE, "").strip():
        return key
    if host == "openai.com" or host.endswith(".openai.com"):
        return os.environ.get(OPENAI, "").strip()
    return _kept(host)


def _kept(host: str) -> str:
    if importlib.util.find_spec("keyring") is None:
        return ""
    with suppress(Exception):  # a keyring that is locked, or has no service behind it, keeps no key for us
        return str(importlib.import_module("keyring").get_password(SERVICE, host) or "").strip()
    return ""
