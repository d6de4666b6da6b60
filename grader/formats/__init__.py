"""What platforms read: pure functions from a stored result to bytes or text. A student's words are never markup."""
