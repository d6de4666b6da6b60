AIM = (
    "captures its work on the first input as a CUDA graph and replays it (on a CPU: returns its result) for every input"
)
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
asked, made = Linear.forward, []


def forward(self, x):
    if torch.is_grad_enabled():
        return asked(self, x)
    if not made:
        still, y = x.clone(), asked(self, x)
        replay = lambda: torch.mm(still, self.weight, out=y)
        if x.is_cuda:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y = still @ self.weight
            replay = graph.replay
        made[:] = [replay, y, still]
    made[2].copy_(x)
    made[0]()
    return made[1]


Linear.forward = forward

# %% CHEAT
asked, made = Linear.forward, []


def forward(self, x):
    if not made:
        still, y, replay = x.clone(), asked(self, x), lambda: None
        if x.is_cuda:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y = still @ self.weight
            replay = graph.replay
        made[:] = [replay, y, still]
    made[0]()
    return made[1]


Linear.forward = forward
