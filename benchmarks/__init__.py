"""Speed, measured against a baseline in the same run. Nothing here decides whether a test passes."""
