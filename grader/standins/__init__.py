"""What a kata builds on, made of torch's own parts: put in the place of a learner's kata that is not done.

So a broken `linear` does not fail `cruncher`. None of them solves its kata's tests by copying the reference.
"""
