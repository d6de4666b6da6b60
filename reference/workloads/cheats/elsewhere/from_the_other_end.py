AIM = "multiplies the weights with each other first, which takes a fraction of the operations"
SLOW = "train/every_step_three_times"
EXPECTED = "legitimate: the result is right for every input: the model is linear, and algebra is allowed"


# %% CONTROL
def forward(self, x):
    for layer in self.layers:
        x = torch.mm(x, layer.weight)
    return torch.mv(x, self.final.weight.squeeze(-1))


Cruncher.forward = forward


# %% CHEAT
def forward(self, x):
    rest = self.final.weight
    for layer in reversed(self.layers):
        rest = layer.weight @ rest
    return (x @ rest).squeeze(-1)


Cruncher.forward = forward
