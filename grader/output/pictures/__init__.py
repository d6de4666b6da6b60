"""Speed as pictures: shares beside thresholds, and a roofline."""
