AIM = "answers with a subclass of str that equals everything"
EXPECTED = "stopped"


# %% CONTROL
class Name(str):
    pass


assert Name("mine") == "mine"


# %% ATTACK
class Text(str):
    __hash__ = str.__hash__

    def __eq__(self, other):
        return True

    def __len__(self):
        return 1

    def encode(self, *args):
        return Text("x")

    def decode(self):
        return self


def FUNCTION(*args, **named):
    return Text("True")
