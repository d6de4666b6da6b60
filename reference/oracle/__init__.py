"""WHAT each kata computes, in NumPy float64: a few lines of mathematics each."""
