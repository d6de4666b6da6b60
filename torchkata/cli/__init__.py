"""The command `kata`: what a student types between two edits.

Nothing here imports torch but `watch`, and what a kata brings.
"""
