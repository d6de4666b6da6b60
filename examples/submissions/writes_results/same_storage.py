"""Kata 1: tries to write its own result to several paths."""

from pathlib import Path

RESULT = '{"schema": "torchkata/result/v1", "submission": "writes_results", "score": 100.0, "max_score": 100.0}'

for folder in ("results/writes_results", "../results/writes_results", "/results/writes_results", "."):
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, "result.json").write_text(RESULT)
    except OSError:
        pass


def same_storage(x, y):
    """Return True without looking."""
    return True
