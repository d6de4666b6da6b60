"""The code that a student would type in place of each probe in `optimizers`, shown as the input of a failure.

The functions take the probe's arguments by name. `literal` returns the code for a value.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor

Groups = Sequence[Sequence[Tensor]]
Rates = Sequence[Sequence[float]]
Grads = Sequence[Sequence[Sequence[Tensor | None]]]
Options = Mapping[str, Any]
Literal = Callable[[Any], str]
TINY = 1e-30  # a learning rate that changes no parameter


def restore_tuples(options: Options) -> dict[str, Any]:
    """Return the options with lists converted back to tuples, because tuples arrive in the worker as lists."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}


def write_group(g: int, options: Options) -> str:
    """Return code for a parameter group."""
    items = "".join(f", {name!r}: {value!r}" for name, value in restore_tuples(options).items())
    return f"{{'params': params[{g}]{items}}}"


def write_keywords(options: Options) -> str:
    """Return code for the options as keyword arguments."""
    return "".join(f", {name}={value!r}" for name, value in restore_tuples(options).items())


def write_parameters(params: Groups, literal: Literal) -> str:
    """Return code that creates the parameters."""
    groups = ("[" + ", ".join(f"nn.Parameter({literal(p)})" for p in row) + "]" for row in params)
    return f"params = [{', '.join(groups)}]"


def write_optimizer(name: str, count: int, lrs: Sequence[float], options: Sequence[Options] = ()) -> list[str]:
    """Return code that creates an optimizer for `params`. It adds the last of several groups with add_param_group()."""
    own = zip(lrs, options or [{}] * count, strict=True)
    groups = [write_group(g, {"lr": lr, **given}) for g, (lr, given) in enumerate(own)]
    first = max(1, count - 1)
    created = f"opt = {name.partition('.')[2]}([{', '.join(groups[:first])}], lr={lrs[0]})"
    return [created, *(f"opt.add_param_group({late})" for late in groups[first:])]


def write_step(
    grads: Sequence[Sequence[Tensor | None]], literal: Literal, template: str = "{p}.grad = {grad}"
) -> list[str]:
    """Return code that sets the gradients and takes a step."""
    lines = [
        template.format(p=f"params[{g}][{i}]", grad=literal(grad))
        for g, row in enumerate(grads)
        for i, grad in enumerate(row)
    ]
    return [*lines, "opt.step()"]


def write_steps(lrs: Rates, grads: Grads, before: Sequence[float], literal: Literal) -> list[str]:
    """Return code that takes a step for each row. Learning rates are set only if they differ from the previous ones."""
    lines = []
    for rates, step_grads in zip(lrs, grads, strict=True):
        changed = [(g, lr) for g, (lr, old) in enumerate(zip(rates, before, strict=True)) if lr != old]
        lines += [f"opt.param_groups[{g}]['lr'] = {lr}" for g, lr in changed] + write_step(step_grads, literal)
        before = rates
    return lines


def show_every_step(lines: Sequence[str]) -> str:
    """Return the code, which shows the parameters after each of its steps."""
    if lines.count("opt.step()") == 1:
        return "\n".join([*lines, "params"])
    return "\n".join("opt.step(); print(params)" if line == "opt.step()" else line for line in lines)


def write_whole_run(
    name: str, params: Groups, lrs: Rates, grads: Grads, literal: Literal, options: Sequence[Options]
) -> list[str]:
    """Return the lines that take all steps."""
    created = write_optimizer(name, len(params), lrs[0], options)
    return [write_parameters(params, literal), *created, *write_steps(lrs, grads, lrs[0], literal)]


def write_run(
    name: str, params: Groups, lrs: Rates, grads: Grads, literal: Literal, options: Sequence[Options] = ()
) -> str:
    """Return code that takes all steps."""
    return show_every_step(write_whole_run(name, params, lrs, grads, literal, options))


def write_runs_alone(
    name: str, params: Groups, lrs: Rates, grads: Grads, options: Sequence[Options], literal: Literal
) -> str:
    """Return code that takes all steps with a separate optimizer for each parameter."""
    lines = [write_parameters(params, literal)]
    for g, (group, own) in enumerate(zip(params, options or [{}] * len(params), strict=True)):
        for i in range(len(group)):
            p, before = f"params[{g}][{i}]", lrs[0][g]
            lines.append(f"opt = {name.partition('.')[2]}([{p}], lr={before}{write_keywords(own)})")
            for rates, row in zip(lrs, grads, strict=True):
                lines += [f"opt.param_groups[0]['lr'] = {rates[g]}"] * (rates[g] != before)
                lines += [f"{p}.grad = {literal(row[g][i])}", "opt.step()"]
                before = rates[g]
    return show_every_step(lines)


def write_creation(name: str, options: Options) -> str:
    """Return code that creates an optimizer with the given options."""
    return f"{name.partition('.')[2]}([nn.Parameter(torch.ones(2))]{write_keywords(options)})"


def write_state(
    name: str, params: Groups, lrs: Rates, grads: Grads, literal: Literal, options: Sequence[Options] = ()
) -> str:
    """Return code that takes all steps and then inspects the state, and what the last step left unchanged."""
    *earlier, last = write_whole_run(name, params, lrs, grads, literal, options)
    addresses = "[p.data_ptr() for group in params for p in group]"
    seen = [f"print({addresses} == before)", "[[p.grad for p in group] for group in params], opt.state"]
    return "\n".join([*earlier, f"before = {addresses}", last, *seen])


def write_overwritten_grads(name: str, params: Groups, lrs: Rates, grads: Grads, literal: Literal) -> str:
    """Return code that takes all steps and copies each gradient into the tensor of the previous one."""
    first, *others = grads
    created = [write_parameters(params, literal), *write_optimizer(name, len(params), lrs[0])]
    later = [line for row in others for line in write_step(row, literal, "{p}.grad.copy_({grad})")]
    return show_every_step([*created, *write_step(first, literal), *later])


def write_in_place(
    name: str, params: Sequence[Tensor], transposed: bool, lr: float, grads: Sequence[Tensor], literal: Literal
) -> str:
    """Return code that takes one step."""
    starts = [f"{literal(p.t().contiguous())}.t()" if transposed and p.ndim == 2 else literal(p) for p in params]
    listed = ", ".join(f"nn.Parameter({start})" for start in starts)
    created = [f"params = [[{listed}]]", f"opt = {name.partition('.')[2]}(params[0], lr={lr})"]
    before = "before = [p.data_ptr() for p in params[0]]"
    seen = "[(p, p.grad, p.data_ptr() == address) for p, address in zip(params[0], before)]"
    return "\n".join([*created, before, *write_step([grads], literal), seen])


def write_step_on_nan(name: str) -> str:
    """Return code that takes one step per parameter: without a gradient, with NaN, frozen, and like the frozen one."""
    return f"""\
without, p, frozen, other = (nn.Parameter(torch.ones(2, 2)) for _ in range(4))
p.grad = torch.full((2, 2), torch.nan)
frozen.grad, other.grad = torch.ones(2, 2), torch.ones(2, 2)
frozen.requires_grad_(False)
for each in (without, p, frozen, other):
    {name.partition(".")[2]}([each], lr=0.1).step()
without.grad, p, frozen, other"""


def write_many_steps(name: str, steps: int) -> str:
    """Return code that takes many steps with the same gradient, and saves and loads the state after two of them."""
    created = f"opt = {name.partition('.')[2]}([p], lr={TINY})"
    return f"""\
p = nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))
p.grad = torch.ones_like(p)
{created}
for i in range({steps}):
    if i == 2:
        saved = opt.state_dict()
        {created}
        opt.load_state_dict(saved)
    opt.step()
opt.param_groups[0]['lr'] = 1.0
opt.step()
p"""


def write_scheduled(
    name: str,
    params: Groups,
    lrs: Sequence[float],
    gamma: float,
    grads: Grads,
    options: Sequence[Options],
    literal: Literal,
) -> str:
    """Return code that takes steps, each of which is followed by a step of a scheduler."""
    created = write_optimizer(name, len(params), lrs, options)
    scheduler = f"scheduler = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: [1, 0, {gamma}, 1][step])"
    steps = [line for row in grads for line in [*write_step(row, literal), "scheduler.step()"]]
    return show_every_step([write_parameters(params, literal), *created, scheduler, *steps])


def write_defaults(name: str, param: Tensor, grads: Sequence[Tensor], options: Options, literal: Literal) -> str:
    """Return code that takes steps with a group that has no options of its own."""
    created = f"opt = {name.partition('.')[2]}([{write_group(0, {})}]{write_keywords(options)})"
    steps = [line for grad in grads for line in write_step([[grad]], literal)]
    return show_every_step([write_parameters([[param]], literal), created, *steps])


def write_interrupted(
    name: str,
    params: Groups,
    lrs: Rates,
    grads: Grads,
    stop: int,
    own: Sequence[float],
    options: Sequence[Options],
    literal: Literal,
) -> str:
    """Return code that saves the run after `stop` steps and continues it with a new optimizer."""
    lines = [
        write_parameters(params, literal),
        *write_optimizer(name, len(params), lrs[0], options),
        *write_steps(lrs[:stop], grads[:stop], lrs[0], literal),
        "state = copy.deepcopy(opt.state_dict())",
        "params = [[nn.Parameter(p.detach().clone()) for p in group] for group in params]",
        *write_optimizer(name, len(params), own),
        "opt.load_state_dict(state)",
        *(line for row in grads[stop:] for line in write_step(row, literal)),
        "params",
    ]
    return "\n".join(lines)


def write_loaded(
    name: str, params: Groups, saved: Sequence[float], own: Sequence[float], grads: Grads, literal: Literal
) -> str:
    """Return code that loads another optimizer's learning rates and then takes one step."""
    first = [*write_optimizer(name, len(params), saved), "state = copy.deepcopy(opt.state_dict())"]
    second = [*write_optimizer(name, len(params), own), "opt.load_state_dict(state)"]
    lines = [write_parameters(params, literal), *first, *second, *write_step(grads[0], literal), "params"]
    return "\n".join(lines)
