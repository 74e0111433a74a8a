"""Options that several benches have, as typer reads them. Imports nothing heavy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from predtui.commands.outputs import writable

Json = Annotated[Path | None, typer.Option(help="Write the figures here.", callback=writable)]
Plot = Annotated[Path | None, typer.Option(help="Draw the figures here, as SVG.", callback=writable)]
Markdown = Annotated[Path | None, typer.Option(help="Write Spec-Bench's table here, as Markdown.", callback=writable)]
MaxTokens = Annotated[int, typer.Option(help="The longest reply.", min=1)]
Seed = Annotated[int, typer.Option(help="Seed of the held-out pocket prompts.")]
Threads = Annotated[int, typer.Option(help="CPU threads of a model; 0 chooses by its size.", min=0)]
Limit = Annotated[int, typer.Option(help="Prompts.", min=1)]
Prompts = Annotated[
    str,
    typer.Option(
        help='pocket, everyday, a file with one prompt per line, or a JSONL file of {"turns": [..]} or {"prompt": ..}.'
    ),
]
Wpm = Annotated[float, typer.Option(help="Typing speed in words per minute, of five characters each.", min=1)]
Together = Annotated[int, typer.Option(help="Prompts per conversation.", min=1)]
