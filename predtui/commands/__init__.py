"""The commands of ``predtui.cli``, by group."""
