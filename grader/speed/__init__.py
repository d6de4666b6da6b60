"""Times workloads and decides verdicts in the grader's process. No student code runs here."""
