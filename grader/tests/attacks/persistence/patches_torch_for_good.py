AIM = "uses a torch that an accomplice has patched, and breaks it for the next submission"
WRONG = "same_storage/values"
EXPECTED = "stopped"

# %% CONTROL
import torch

torch.my_own_mark = 1

# %% BEFORE: an accomplice, graded just before by the same zygote
import torch

torch.left_behind = same_storage

# %% ATTACK
import torch

same_storage = getattr(torch, "left_behind", same_storage)
torch.Tensor.untyped_storage = torch.Tensor.clone = None
