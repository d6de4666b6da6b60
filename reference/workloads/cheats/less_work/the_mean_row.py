AIM = "trains on the mean of a batch instead of its rows"
SLOW = "cruncher/looks_first"
EXPECTED = "stopped"


# %% CONTROL
def forward(self, x):
    for layer in self.layers:
        x = layer(x)
    return self.final(x)[:, 0]


Cruncher.forward = forward


# %% CHEAT
def forward(self, x):
    y = x.mean(0, keepdim=True)
    for layer in self.layers:
        y = layer(y)
    return self.final(y).squeeze(-1).expand(len(x))


Cruncher.forward = forward
