"""Tools for developing indexproof, run by ``indexproof dev``: fuzzing, fault injection and stability of proofs."""
