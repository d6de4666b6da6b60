"""The trusted grader: it runs pytest, draws inputs and decides verdicts. Only `sandbox/inside/` runs student code."""
