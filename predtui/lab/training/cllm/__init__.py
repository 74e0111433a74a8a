"""Consistency tuning: teaches a causal language model to jump to the end of its own Jacobi trajectories.

After CLLM (Kou et al. 2024) and PredGen, section 3.4. Must not know of the engine that decodes, or of the screen.
"""
