"""Trust: how accurate a worker is, where they stand at a stage, and what ends their trust."""
