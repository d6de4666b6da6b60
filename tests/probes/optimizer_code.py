"""What a student would type to take an optimizer through a run: one writer of code for each probe of `optimizers`.

Arguments are those of the probes; `name` is that of the student's class, and `literal` writes a value.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch import Tensor

from .optimizers import Grads, Groups, Options, as_given

Writer = Callable[..., str]
Literal = Callable[[Any], str]


def group(g: int, lr: float | None = None, options: Options = {}) -> str:  # noqa: B006  (it is only read)
    """A parameter group."""
    own = {} if lr is None else {"lr": lr}
    items = "".join(f", {name!r}: {value!r}" for name, value in {**own, **as_given(options)}.items())
    return f"{{'params': params[{g}]{items}}}"


def parameters(params: Groups, literal: Literal) -> list[str]:
    """The starts."""
    groups = ("[" + ", ".join(f"nn.Parameter({literal(p)})" for p in row) + "]" for row in params)
    return [f"params = [{', '.join(groups)}]"]


def built(name: str, count: int, lrs: Sequence[float], options: Sequence[Options] = ()) -> list[str]:
    """The optimizer of `params`; the last group joins after the others."""
    groups = [group(g, lr, own) for g, (lr, own) in enumerate(zip(lrs, options or [{}] * count, strict=True))]
    first = max(1, count - 1)
    made = [f"opt = {name}([{', '.join(groups[:first])}], lr={lrs[0]})"]
    return made + [f"opt.add_param_group({late})" for late in groups[first:]]


def step(grads: Sequence[Sequence[Tensor | None]], literal: Literal, wanted: str = "{p}.grad = {grad}") -> list[str]:
    """One step with these gradients."""
    lines = [
        wanted.format(p=f"params[{g}][{i}]", grad=literal(grad))
        for g, row in enumerate(grads)
        for i, grad in enumerate(row)
    ]
    return [*lines, "opt.step()"]


def steps(lrs: Sequence[Sequence[float]], grads: Grads, before: Sequence[float], literal: Literal) -> list[str]:
    """A step for each row; rates are set where they are not those from before."""
    lines = []
    for rates, step_grads in zip(lrs, grads, strict=True):
        changed = [(g, lr) for g, (lr, old) in enumerate(zip(rates, before, strict=True)) if lr != old]
        lines += [f"opt.param_groups[{g}]['lr'] = {lr}" for g, lr in changed] + step(step_grads, literal)
        before = rates
    return lines


def run(name: str, *after: str) -> Writer:
    """The run, and what is looked at after it."""

    def code(
        params: Groups,
        lrs: Sequence[Sequence[float]],
        grads: Grads,
        literal: Literal,
        options: Sequence[Options] = (),
    ) -> str:
        lines = [
            *parameters(params, literal),
            *built(name, len(params), lrs[0], options),
            *steps(lrs, grads, lrs[0], literal),
        ]
        return "\n".join([*lines, *after])

    return code


def refilled(name: str) -> Writer:
    """The run in which each gradient is written into the same tensor as the one before."""

    def code(params: Groups, lrs: Sequence[Sequence[float]], grads: Grads, literal: Literal) -> str:
        first, *others = grads
        later = [line for row in others for line in step(row, literal, "{p}.grad.copy_({grad})")]
        return "\n".join(
            [*parameters(params, literal), *built(name, len(params), lrs[0]), *step(first, literal), *later]
        )

    return code


def in_place(name: str) -> Writer:
    """One step of parameters of which the first has no gradient."""

    def code(
        params: Sequence[Tensor],
        transposed: bool,
        lr: float,
        grads: Sequence[Tensor],
        options: Options,
        literal: Literal,
    ) -> str:
        turned = [f"{literal(p.t().contiguous())}.t()" if transposed and p.ndim == 2 else literal(p) for p in params]
        starts = ", ".join(f"nn.Parameter({start})" for start in ["torch.ones(2)", *turned])
        given = "".join(f", {option}={value!r}" for option, value in as_given(options).items())
        made = [f"params = [[{starts}]]", f"opt = {name}(params[0], lr={lr}{given})"]
        return "\n".join([*made, *step([[None, *grads]], literal)])

    return code


def counted_on(name: str) -> Writer:
    """Many steps with the same gradient, and a break after two of them."""

    def code(steps: int) -> str:
        return "\n".join(
            [
                "p = nn.Parameter(torch.zeros(2, dtype=torch.bfloat16))",
                "p.grad = torch.ones_like(p)",
                f"opt = {name}([p], lr=0.0)",
                f"for i in range({steps}):",
                "    if i == 2:",
                "        saved = opt.state_dict()",
                f"        opt = {name}([p], lr=0.0)",
                "        opt.load_state_dict(saved)",
                "    opt.step()",
                "opt.param_groups[0]['lr'] = 1.0",
                "opt.step()",
                "p",
            ]
        )

    return code


def scheduled(name: str) -> Writer:
    """A step for each gradient, each followed by one of a scheduler."""

    def code(param: Tensor, lr: float, gamma: float, grads: Sequence[Tensor], literal: Literal) -> str:
        made = f"opt = {name}(params[0], lr={lr})"
        scheduler = f"scheduler = torch.optim.lr_scheduler.ExponentialLR(opt, {gamma})"
        walk = [line for grad in grads for line in [*step([[grad]], literal), "scheduler.step()"]]
        return "\n".join([*parameters([[param]], literal), made, scheduler, *walk])

    return code


def defaults(name: str) -> Writer:
    """A group without options of its own."""

    def code(param: Tensor, grads: Sequence[Tensor], options: Mapping[str, Any], literal: Literal) -> str:
        given = "".join(f", {option}={value!r}" for option, value in as_given(options).items())
        walk = [line for grad in grads for line in step([[grad]], literal)]
        return "\n".join([*parameters([[param]], literal), f"opt = {name}([{group(0)}]{given})", *walk])

    return code


def interrupted(name: str) -> Writer:
    """The run that is saved after `stop` steps, and goes on in a new optimizer."""

    def code(
        params: Groups,
        lrs: Sequence[Sequence[float]],
        grads: Grads,
        stop: int,
        literal: Literal,
        options: Sequence[Options] = (),
    ) -> str:
        before = [*built(name, len(params), lrs[0], options), *steps(lrs[:stop], grads[:stop], lrs[0], literal)]
        saved = [
            "state = copy.deepcopy(opt.state_dict())",
            "params = [[nn.Parameter(p.detach().clone()) for p in group] for group in params]",
        ]
        again = [*built(name, len(params), lrs[0]), "opt.load_state_dict(state)"]
        rest = steps(lrs[stop:], grads[stop:], lrs[max(stop - 1, 0)], literal)
        return "\n".join([*parameters(params, literal), *before, *saved, *again, *rest])

    return code


def loaded(name: str) -> Writer:
    """One step of an optimizer into which the rates of another were loaded."""

    def code(params: Groups, saved: Sequence[float], own: Sequence[float], grads: Grads, literal: Literal) -> str:
        first = [*built(name, len(params), saved), "state = copy.deepcopy(opt.state_dict())"]
        second = [*built(name, len(params), own), "opt.load_state_dict(state)"]
        return "\n".join([*parameters(params, literal), *first, *second, *step(grads[0], literal)])

    return code
