"""predtui: a terminal voice assistant that starts answering while its user is still speaking."""

from predtui.system.quiet import silence

__version__ = "0.1.0"

silence()
