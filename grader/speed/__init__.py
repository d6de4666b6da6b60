"""Timing and judging of workloads, in the grader's process. Nothing here runs student code."""
