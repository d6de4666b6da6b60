"""What comes back from a checkpoint."""


def loaded_step(step: int) -> int:
    """The step that was saved."""
    return step
