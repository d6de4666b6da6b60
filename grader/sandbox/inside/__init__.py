"""Code that runs only in a sandboxed worker, beside the student's code, or in the zygote that forks it.

A worker gets a copy of this folder and of `torchkata/inside/`, which import nothing else of this project.
"""
