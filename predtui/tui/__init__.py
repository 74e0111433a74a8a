"""The screen: draws the Turn and nothing else. Imports no engine."""
