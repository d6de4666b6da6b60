"""Changes additional settings, such as PYTHONHASHSEED, and returns a generator."""

import os
import random

import numpy as np
import torch


def seed_everything(seed: int) -> torch.Generator:
    seed = int(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)
    random.seed(seed)
    np.random.seed(seed)
    generator = torch.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    return generator
