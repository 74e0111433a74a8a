"""The parts of the main screen. Each draws plain values taken from the Turn and knows nothing of its neighbours."""
