"""Runs a module of the packaged grader from any directory: python -I run.py MODULE ARGUMENT…

Modules are imported only from the directory of the grader and never from that of the student.
"""

import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "torchkata"))
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
