"""`grader translations`: lists missing and outdated translations, and updates the English in the catalogues."""
