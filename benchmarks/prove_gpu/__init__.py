"""The first hour on a GPU: whatever only a device can show, step by step. Run: python -m benchmarks.prove_gpu"""
