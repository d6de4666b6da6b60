"""The command `kata`, for students.

Only `watch` and commands that use a kata import torch, so that the other commands start quickly.
"""
