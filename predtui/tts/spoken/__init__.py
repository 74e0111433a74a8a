"""How what is written is said, a kind a module: addresses, quantities, arithmetic, abbreviations, other scripts."""
