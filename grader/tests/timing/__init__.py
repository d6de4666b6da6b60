"""Tests that measure time, need an idle machine or take minutes. They are run by `make prove`, not by `make test`."""
