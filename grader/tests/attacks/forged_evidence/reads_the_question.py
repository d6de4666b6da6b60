AIM = "reads in the probe's frame how the tensors were made, instead of comparing storages"
WRONG = "same_storage/values"
EXPECTED = "not stopped: a worker must get its inputs and can compute everything that follows from them"

# %% CONTROL
import traceback

asked = same_storage


def same_storage(x, y):
    assert traceback.extract_stack(limit=1)[0].name == "same_storage"
    return asked(x, y)


# %% ATTACK
import sys

VIEWS = ("slice", "row", "transpose", "expand", "every_second", "detach", "bits", "bytes", "flatten", "parameter")


def same_storage(x, y):
    frame = sys._getframe(1)
    while frame is not None and "recipe" not in frame.f_locals:
        frame = frame.f_back
    if frame is None:
        return None
    owner = [0]
    for source, step, *_ in frame.f_locals["recipe"]:
        owner.append(owner[source] if step in VIEWS else len(owner))
    tensors = frame.f_locals["tensors"]
    place = {id(tensor): owner[i] for i, tensor in enumerate(tensors)}
    return place[id(x)] == place[id(y)]
