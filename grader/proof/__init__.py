"""Proves a course: its tests against the zoo, the sandbox against attacks, the clock against cheats."""
