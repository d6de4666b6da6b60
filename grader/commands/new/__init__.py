"""`grader new`: a course that runs at once, and further katas for a course."""

from grader.commands.new.write import new_course, new_kata

__all__ = ["new_course", "new_kata"]
