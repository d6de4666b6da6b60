AIM = "answers with lists nested ten thousand deep"
EXPECTED = "stopped"

# %% CONTROL
assert [[[1.0]]][0][0][0] == 1.0


# %% ATTACK
def FUNCTION(*args, **named):
    answer = []
    for _ in range(10_000):
        answer = [answer]
    return answer
