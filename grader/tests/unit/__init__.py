"""Tests of single modules and functions, which need no sandbox and take a few seconds."""
