AIM = "lets another stream (on a CPU: the queue of another thread) compute the result, and does not wait for it"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
from concurrent.futures import ThreadPoolExecutor

asked, queues = Linear.forward, []


def forward(self, x):
    if not queues:
        queues.append(torch.cuda.Stream() if x.is_cuda else ThreadPoolExecutor(1))
    if not x.is_cuda:
        queues[0].submit(int).result()
        return asked(self, x)
    queues[0].wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(queues[0]):
        y = asked(self, x)
    torch.cuda.current_stream().wait_stream(queues[0])
    return y


Linear.forward = forward

# %% CHEAT
from concurrent.futures import ThreadPoolExecutor

asked, queues = Linear.forward, []


def forward(self, x):
    if not queues:
        queues.append(torch.cuda.Stream() if x.is_cuda else ThreadPoolExecutor(1))
    y = x.new_empty(len(x), self.weight.shape[1])
    if x.is_cuda:
        with torch.cuda.stream(queues[0]):
            y.copy_(asked(self, x))
    else:
        queues[0].submit(lambda: y.copy_(asked(self, x)))
    return y


Linear.forward = forward
