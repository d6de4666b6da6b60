"""The class as one page for the instructor, and a page for each student: files that ask no network for anything."""
