AIM = "computes once per shape"
SLOW = "linear/row_by_row"
EXPECTED = "stopped"

# %% CONTROL
asked, made = Linear.forward, {}


def forward(self, x):
    if x.shape not in made:
        made[x.shape] = x.new_empty(len(x), self.weight.shape[1])
    return torch.mm(x, self.weight, out=made[x.shape]) if not torch.is_grad_enabled() else asked(self, x)


Linear.forward = forward

# %% CHEAT
asked, kept = Linear.forward, {}


def forward(self, x):
    if x.shape not in kept:
        kept[x.shape] = asked(self, x)
    return kept[x.shape]


Linear.forward = forward
