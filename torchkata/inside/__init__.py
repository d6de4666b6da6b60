"""Code that runs beside a student's code, in pytest at home and in the grader's sandboxed workers.

A worker gets a copy of this folder and of `grader/sandbox/inside/`, which import nothing else of this project. Student
code can read and change everything in its process. The grader imports these modules too, but in another process.
"""
