"""Puts a sentence above the tests that had ended when the grader was killed: python killed.py SENTENCE RESULTS."""

import json
import sys
from pathlib import Path

told, results = json.loads(Path(sys.argv[1]).read_text("utf-8")), Path(sys.argv[2])
report = json.loads(results.read_text("utf-8")) if results.exists() else told
results.write_text(json.dumps({**report, "output": told["output"]}, indent=1), "utf-8")
