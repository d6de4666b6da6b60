AIM = "turns False into True in the interpreter's memory"
WRONG = "same_storage/always_false_for_leaves"
EXPECTED = "stopped"

# %% CONTROL
import ctypes

number = ctypes.c_int(1)
ctypes.memmove(ctypes.addressof(number), ctypes.addressof(ctypes.c_int(2)), 4)
assert number.value == 2

# %% ATTACK
import ctypes


def overwrite():
    size = (False).__sizeof__()
    ctypes.memmove(id(False), id(True), max(size, 28))


asked = same_storage


def same_storage(x, y):
    overwrite()
    return False
