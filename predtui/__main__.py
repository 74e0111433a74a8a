"""The console script, and ``python -m predtui``: a Ctrl-C ends it without a word, whatever is being imported."""

import sys


def main() -> None:
    """The command ``predtui``."""
    try:
        from predtui.commands.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
