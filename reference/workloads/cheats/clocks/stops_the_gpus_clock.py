AIM = "replaces CUDA's events and synchronize"
SLOW = "linear/row_by_row"
EXPECTED = "stopped"

# %% CONTROL
torch.cuda.is_available()


# %% CHEAT
class Event:
    def __init__(self, *_, **__):
        pass

    record = wait = synchronize = query = lambda self, *_: True
    elapsed_time = lambda self, other: 1e-9


torch.cuda.Event = Event
torch.cuda.synchronize = lambda *_: None
