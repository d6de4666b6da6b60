AIM = "replaces the product behind which batches are copied, which the workload itself queues"
SLOW = "get_batch/through_lists"
EXPECTED = "stopped"

# %% CONTROL
asked = torch.mm
torch.mm = lambda *args, **options: asked(*args, **options)

# %% CHEAT
torch.mm = lambda *args, **options: None
