"""``python -m predtui`` is the command ``predtui``."""

from predtui.cli import main

if __name__ == "__main__":
    main()
