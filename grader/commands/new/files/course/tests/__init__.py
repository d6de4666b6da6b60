"""The property tests, one file for each kata. They exchange only plain values with student code."""
