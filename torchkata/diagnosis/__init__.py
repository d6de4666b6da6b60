"""What a failure says: which known mistake, which formula or which crash explains it."""
