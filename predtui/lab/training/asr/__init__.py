"""How the pocket Whisper is made: synthetic speech, a small model of the Whisper architecture, its export and card."""
