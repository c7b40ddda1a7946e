"""Trust: how accurate a worker is, where they stand at a stage, and what happens when trust ends."""
