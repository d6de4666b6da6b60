"""`grader translations`: lists missing and outdated translations, and updates the English texts in the catalogues."""
