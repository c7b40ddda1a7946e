"""The paper's protocol: stages and questions, facts, and the state that facts fold to.

`stage_spec.py` defines each stage, and `stages/` says what each does with answers. `settings.py`
has the numbers that a campaign may change, and `state.py` what is known of an image. `../engine.py`
combines the facts of an image.
"""
