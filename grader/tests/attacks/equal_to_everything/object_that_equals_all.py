AIM = "answers with an object that equals everything"
EXPECTED = "stopped"


# %% CONTROL
class Answer:
    def __init__(self, yes):
        self.yes = yes

    def __eq__(self, other):
        return self.yes == other

    def __hash__(self):
        return hash(self.yes)


asked = FUNCTION


def FUNCTION(*args, **named):
    return Answer(asked(*args, **named)).yes


# %% ATTACK
class Yes:
    __hash__ = None

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __bool__(self):
        return True


def FUNCTION(*args, **named):
    return Yes()
