"""What each in a class gets: who is who, and the rules by which points become marks. Pure functions on results."""
