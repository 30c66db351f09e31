"""Strategies: which rules may apply to a form, with which values.  They propose and are not trusted."""
