"""Speed as a picture: a roofline."""
