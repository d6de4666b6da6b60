"""Times and judges workloads in the grader's process. Nothing here runs student code."""
