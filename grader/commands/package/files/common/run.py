"""Runs a module of the packed grader from any directory: python -I run.py MODULE ARGUMENT…

Python then imports only from the grader's directory and never from the student's.
"""

import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "torchkata"))
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
