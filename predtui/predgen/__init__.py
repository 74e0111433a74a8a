"""Input-time speculation: PredGen's Algorithm 1, its verifiers, candidates and policy."""
