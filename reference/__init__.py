"""What a kata computes (oracle) and how it is done in PyTorch (solution). Imports nothing of ours."""
