AIM = "changes settings that affect the next submission: default dtype, seeds, threads, autograd, directory, umask"
WRONG = "same_storage/values"
EXPECTED = "stopped"

# %% CONTROL
import torch

with torch.no_grad():
    torch.ones(1)

# %% ATTACK
import os
import sys

import torch

torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.set_num_threads(1)
torch.manual_seed(0)
torch.use_deterministic_algorithms(True)
sys.setrecursionlimit(60)
os.umask(0o777)
os.chdir("/")
