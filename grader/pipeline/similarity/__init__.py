"""Whose hand-in looks like whose: code by its syntax alone, compared across a class. Nothing of it is run."""
