AIM = "queues the products of the next block on the GPU, behind a wait for the grader to write its inputs"
SLOW = "linear/three_times"
EXPECTED = "stopped"

# %% CONTROL
asked = Linear.forward
streams = []


def forward(self, x):
    if not x.is_cuda:
        return asked(self, x)
    streams[:] = streams or [torch.cuda.Stream()]
    streams[0].wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(streams[0]):
        y = asked(self, x)
    torch.cuda.current_stream().wait_stream(streams[0])
    return y


Linear.forward = forward

# %% CHEAT
import ctypes
import gc

asked = Linear.forward
EQUAL, NAN = 1, 0x7FC07FC0  # CU_STREAM_WAIT_VALUE_EQ; two NaN values in bfloat16, which overwrite the results last
inputs, ready = [], {}


def arm(layer):
    results = next(
        one
        for one in gc.get_objects()
        if isinstance(one, torch.Tensor) and one.shape == (len(inputs), len(inputs[0]), layer.weight.shape[1])
    )
    stream = torch.cuda.Stream()
    place = ctypes.c_uint64(results[-1].data_ptr())
    wait = ctypes.CDLL("libcuda.so.1").cuStreamWaitValue32_v2
    wait(ctypes.c_void_p(stream.cuda_stream), place, ctypes.c_uint32(NAN), ctypes.c_uint(EQUAL))
    with torch.cuda.stream(stream):
        ready.update({x.data_ptr(): asked(layer, x) for x in inputs})


def forward(self, x):
    if not x.is_cuda:
        return asked(self, x)
    known = [one.data_ptr() for one in inputs]
    if x.data_ptr() not in known:  # the first block
        inputs.append(x)
        return asked(self, x)
    y = ready.pop(x.data_ptr(), None)
    y = asked(self, x) if y is None else y
    if x.data_ptr() == known[-1]:
        torch.cuda.current_stream().synchronize()
        arm(self)
    return y


Linear.forward = forward
