AIM = "takes every second step, with twice the learning rate"
SLOW = "train/every_step_three_times"
EXPECTED = "stopped"

# %% CONTROL
asked = train


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    def counted(B):
        counted.calls += 1
        return get_batch(B=B)

    counted.calls = 0
    return asked(counted, D, num_layers, B, num_train_steps, lr, device)


# %% CHEAT
asked = train


def train(get_batch, D, num_layers, B, num_train_steps, lr, device="cpu"):
    def every_second(B):
        get_batch(B=B)
        return get_batch(B=B)

    model, losses = asked(every_second, D, num_layers, B, num_train_steps // 2, 2 * lr, device)
    for _ in range(num_train_steps % 2):
        get_batch(B=B)
    return model, losses
