"""Stability of proofs under other names, orders and seeds: mutants of obligations are decided again."""
