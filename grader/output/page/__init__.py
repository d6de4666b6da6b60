"""HTML pages: one for the instructor about the class, and one for each student. They load nothing from the network."""
