"""The reports that a person or a CI system reads."""
