"""`grader new`: create a course or a kata from templates."""

from grader.commands.new.write import new_course, new_kata

__all__ = ["new_course", "new_kata"]
