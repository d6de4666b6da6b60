AIM = "starts from zero weights, whose gradients are zero"
SLOW = "train/every_step_three_times"
EXPECTED = "stopped"

# %% CONTROL
Linear = Cruncher.__init__.__globals__["Linear"]
begun = Linear.__init__


def begin(self, *sizes):
    begun(self, *sizes)
    self.weight.data.mul_(0.97)


Linear.__init__ = begin

# %% CHEAT
Linear = Cruncher.__init__.__globals__["Linear"]
begun = Linear.__init__


def begin(self, *sizes):
    begun(self, *sizes)
    self.weight.data.zero_()


Linear.__init__ = begin


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    for _ in range(num_train_steps):
        get_batch(B=B)
    return Cruncher(D, num_layers), torch.zeros(num_train_steps)
