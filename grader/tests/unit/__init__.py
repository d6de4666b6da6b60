"""Tests of one module or function at a time: no process, no sandbox, seconds for all of them."""
