"""From submissions to results: what is handed in, the collected tests, one session for each submission."""
