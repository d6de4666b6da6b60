AIM = "rejects the inputs for which it is wrong, so that only the others count"
WRONG = "same_storage/first_elements"
EXPECTED = "stopped"

# %% CONTROL
asked = same_storage


def same_storage(x, y):
    if x.storage_offset() == y.storage_offset() == 0:
        return asked(x, y)
    return asked(y, x)


# %% ATTACK
import hypothesis

asked = same_storage


def same_storage(x, y):
    hypothesis.assume(x.storage_offset() == y.storage_offset() == 0)
    return asked(x, y)
