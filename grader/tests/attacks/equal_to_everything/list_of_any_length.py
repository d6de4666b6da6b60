AIM = "returns a list that adapts its length and items to the reader"
WRONG = "linear/with_a_constant_bias"
EXPECTED = "stopped"


# %% CONTROL
class Shapes(list):
    def __len__(self):
        return super().__len__()


assert len(Shapes([1, 2])) == 2


# %% ATTACK
class Items(list):
    __hash__ = None

    def __eq__(self, other):
        return True

    def __len__(self):
        return 10**9

    def __iter__(self):
        while True:
            yield 0.0


class Linear(nn.Module):
    def __init__(self, input_dim, output_dim):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(input_dim, output_dim) / input_dim**0.5)

    def forward(self, x):
        return Items([0.0])
