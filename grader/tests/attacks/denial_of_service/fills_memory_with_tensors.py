AIM = "allocates tensors until memory runs out"
WRONG = "same_storage/values"
EXPECTED = "stopped"

# %% CONTROL
import torch

assert torch.ones(2**20).sum() == 2**20


# %% ATTACK
def same_storage(x, y):
    import torch

    kept = [torch.ones(2**24) for _ in range(32)]
    return len(kept)
