"""The katas in a notebook: `%%kata linear` writes a cell to its file, and shows the verdict on it."""
