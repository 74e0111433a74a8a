"""The commands of ``predtui.commands.cli``, by group."""
