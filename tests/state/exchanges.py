"""What a conversation is again that was written as JSON."""

from __future__ import annotations

import json

from predtui.state.exchange import Exchange


def of_json(text: str) -> list[Exchange]:
    """JSON has lists where an exchange has tuples."""
    return [Exchange(**{**each, "notes": tuple(each["notes"])}) for each in json.loads(text)]
