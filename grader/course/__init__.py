"""A whole class: which submissions there are, which are still to be graded, and tables of what is stored."""
