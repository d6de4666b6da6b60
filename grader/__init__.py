"""The trusted grader: it draws inputs, runs pytest and decides verdicts. Student code runs only in a worker.

A worker has two folders of ours: `grader/sandbox/inside/` and `torchkata/inside/`.
"""
