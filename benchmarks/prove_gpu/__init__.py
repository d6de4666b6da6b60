"""Step-by-step checks of everything that needs a real GPU. Run: python -m benchmarks.prove_gpu"""
