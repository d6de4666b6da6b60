"""Starts a module of the packed grader, wherever it is called: python -I run.py MODULE ARGUMENT…

So no directory but the grader's own is one that Python imports from: least of all the student's.
"""

import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "torchkata"))
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
