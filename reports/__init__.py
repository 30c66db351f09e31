"""Everything a person or a CI system reads."""
