"""The phrases of the fact intents, kept apart from the code that draws their cases."""
