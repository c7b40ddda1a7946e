"""The commands of `python -m grounding`: a module each, with `add_arguments` and `run`."""
