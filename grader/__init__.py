"""The trusted grader: it runs pytest, draws inputs and decides verdicts, and never imports a student's code."""
