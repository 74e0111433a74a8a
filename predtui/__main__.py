"""``python -m predtui`` is the command ``predtui``."""

from predtui.commands.cli import main

if __name__ == "__main__":
    main()
