"""Kata 1: exits with code 0 before any test runs."""

import os

os._exit(0)
