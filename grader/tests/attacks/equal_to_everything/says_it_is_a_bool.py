AIM = "returns an object whose __class__ is bool"
WRONG = "same_storage/values"
EXPECTED = "stopped"

# %% CONTROL
asked = same_storage


def same_storage(x, y):
    answer = asked(x, y)
    assert answer.__class__ is bool
    return answer


# %% ATTACK
class Sly:
    __class__ = bool
    __hash__ = None

    def __eq__(self, other):
        return True

    def __bool__(self):
        return True


def same_storage(x, y):
    return Sly()
