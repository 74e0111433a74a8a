"""predtui: a terminal voice assistant that starts answering while its user is still speaking."""

__version__ = "0.1.0"
