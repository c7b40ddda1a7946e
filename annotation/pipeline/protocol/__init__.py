"""The paper's protocol: stages and questions, facts, and the state that facts fold to.

`stage_spec.py` says what each stage is, `stages/` what it does with answers, `settings.py` which
numbers a campaign may change, `state.py` what is known of an image. `../engine.py` puts the facts
of an image together.
"""
