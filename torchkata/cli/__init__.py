"""The `kata` command for students.

torch is imported only by `watch` and by commands that run a kata, so that all other commands start quickly.
"""
