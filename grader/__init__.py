"""The trusted grader, which runs pytest, draws inputs and decides verdicts. It never imports student code."""
