"""The command `kata`, for students.

Only `watch` and commands of a kata import torch, so that the other commands start quickly.
"""
