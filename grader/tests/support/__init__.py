"""What several tests share: runs of our commands, made courses and classes, pretended devices, a browser."""
