"""HTML pages: one of the class for the instructor, and one for each student. They load nothing from the network."""
