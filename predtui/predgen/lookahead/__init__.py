"""What the user may be about to say, answered ahead."""

from __future__ import annotations
