"""What a device can do, what a piece of work needs, and what the two together teach."""
