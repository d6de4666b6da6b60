AIM = "lets torch compute float32 matmuls in lower precision"
SLOW = "linear/row_by_row"
EXPECTED = "stopped"

# %% CONTROL
torch.set_float32_matmul_precision("highest")

# %% CHEAT
torch.set_float32_matmul_precision("medium")
torch.backends.mkldnn.matmul.fp32_precision = "bf16"
