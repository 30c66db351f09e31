"""Arithmetic with linear forms in normal form: what the engine (:mod:`..engine`) reads expressions into."""
