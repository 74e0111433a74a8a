"""The pocket models: tokenizer, training, export and card of the language models that ship with predtui.

Knows the corpus only as a function that draws examples; must not know of the engine or of the screen.
"""
