"""What a student would type to do what the probes of checkpoint do. Arguments are those of the probes, by name."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from .cruncher import list_keys
from .loading import typed_load

FIT = """
def fit(model, opt, xs, ys):
    for x, y in zip(xs, ys):
        loss = (model(x) - y).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(loss.item())
""".strip()
OTHER = "other.load_state_dict({{key: weight + {change} for key, weight in model.state_dict().items()}})"
PATH = "Path('run.pt')"
LOAD = f"load_checkpoint({PATH}, other, other_opt)"


def made(weights: Sequence[Tensor], name: str = "model", opt: str = "opt", dtype: str = "float32") -> list[str]:
    """A model that they fit, and its optimizer."""
    cast = "" if dtype == "float32" else f".to(torch.{dtype})"
    model = f"{name} = Cruncher({len(weights[-1])}, {len(weights) - 1}){cast}"
    return [model, f"{opt} = AdaGrad({name}.parameters(), lr=0.1)"]


def holding(weights: Sequence[Tensor]) -> str:
    """Puts the weights into `model`."""
    return typed_load("model", list_keys(weights))


def another(weights: Sequence[Tensor], change: int = 1) -> list[str]:
    """A fresh model with weights of its own, and its optimizer."""
    return [*made(weights, "other", "other_opt"), OTHER.format(change=change)]


def saved(step: object, path: str = PATH) -> str:
    """Saves `model`."""
    return f"save_checkpoint({path}, model, opt, {step})"


def resume(weights: Sequence[Tensor], stop: int, step: int, _as_path: bool) -> str:
    """A run that is stopped, saved, loaded into fresh objects, and goes on."""
    path = PATH if _as_path else "'run.pt'"
    start = [holding(weights), f"fit(model, opt, xs[:{stop}], ys[:{stop}])"] if stop else []
    before = [FIT, *made(weights), *start, holding(weights)]
    save = ["opt.param_groups[0]['lr'] = 0.05", saved(step, path), *another(weights)]
    return "\n".join(
        [
            *before,
            *save,
            f"load_checkpoint({path}, other, other_opt)",
            f"fit(other, other_opt, xs[{stop}:], ys[{stop}:])",
        ]
    )


def saved_and_loaded(step: int, as_path: bool) -> str:
    """A checkpoint of a new model, loaded again."""
    path = PATH if as_path else "'run.pt'"
    made = ["model = Cruncher(2, 0)", "opt = AdaGrad(model.parameters(), lr=0.1)"]
    return "\n".join([*made, saved(step, path), f"load_checkpoint({path}, model, opt)"])


def around_saving(weights: Sequence[Tensor]) -> str:
    """A step or more, then saving."""
    return "\n".join([FIT, *made(weights), "fit(model, opt, xs, ys)", holding(weights), saved(1)])


def trained_on(weights: Sequence[Tensor]) -> str:
    """Training that goes on after saving, then loading."""
    return "\n".join([around_saving(weights), "fit(model, opt, xs, ys)", *another(weights), LOAD])


def files(name: str) -> str:
    """Saving under a name."""
    return "\n".join(
        [
            "model = Cruncher(2, 0)",
            "opt = AdaGrad(model.parameters(), lr=0.1)",
            saved(1, f"Path({name!r})"),
            "[file.name for file in Path().iterdir()]",
        ]
    )


def requires_grad(weights: Sequence[Tensor], frozen: int) -> str:
    """Two models with a frozen parameter, one that is saved, one that loads."""
    freeze = f"    list(each.parameters())[{frozen}].requires_grad_(False)"
    lines = [*made(weights), *another(weights), "for each in (model, other):", freeze, saved(1), LOAD]
    return "\n".join([*lines, "[p.requires_grad for p in other.parameters()]"])


def special_values(weights: Sequence[Tensor], dtype: str) -> str:
    """Models of a dtype, each with a buffer, one that is saved, one that loads."""
    lines = [*made(weights, dtype=dtype), *made(weights, "other", "other_opt", dtype), holding(weights)]
    lines += [f"model.register_buffer('average', weights[0].to(torch.{dtype}))"]
    lines += [f"other.register_buffer('average', torch.zeros_like(weights[0], dtype=torch.{dtype}))"]
    return "\n".join([*lines, saved(0), LOAD, "other.state_dict()"])


def failing_save(weights: Sequence[Tensor]) -> str:
    """A second save when no file may become half as large as the first."""
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, resource.RLIM_INFINITY))"
    lines = [
        *made(weights),
        saved(7),
        limit.format(most="Path('run.pt').stat().st_size // 2"),
        "try:",
        "    " + saved(8),
        "except Exception as error:",
        "    print(error)",
        limit.format(most="resource.RLIM_INFINITY"),
    ]
    return "\n".join([*lines, *another(weights, 2), LOAD])


def moves() -> str:
    """Saving over an older checkpoint."""
    made = ["model = Cruncher(dim, 1)", "opt = AdaGrad(model.parameters(), lr=0.1)"]
    return "\n".join([*made, saved(1), saved(2)])


def hostile_file(written_by: str) -> str:
    """A file that makes a folder when what it holds is unpickled."""
    write = (
        "torch.save(content, 'run.pt')"
        if written_by == "torch"
        else "Path('run.pt').write_bytes(pickle.dumps(content))"
    )
    lines = [
        "class Payload:",
        "    def __reduce__(self):",
        "        return os.mkdir, ('it-ran',)",
        "content = {'model': Payload(), 'optimizer': {}, 'step': 1}",
        write,
        "other = Cruncher(dim, 1)",
        "other_opt = AdaGrad(other.parameters(), lr=0.1)",
        "try:",
        f"    {LOAD}",
        "except Exception as error:",
        "    print(error)",
        "Path('it-ran').exists()",
    ]
    return "\n".join(lines)


def from_elsewhere(weights: Sequence[Tensor]) -> str:
    """Loading onto the CPU; here without the GPU on which the file says that it was saved."""
    load = f"load_checkpoint({PATH}, other, other_opt, device='cpu')"
    return "\n".join([*made(weights), holding(weights), saved(1), *another(weights), load])


def truncated(weights: Sequence[Tensor], part: float) -> str:
    """Loading a part of a file."""
    cut = f"Path('run.pt').write_bytes(content[:min(int(len(content) * {part}), len(content) - 1)])"
    lines = [FIT, *made(weights), holding(weights), "fit(model, opt, xs, ys)", saved(1), *another(weights, 2)]
    return "\n".join([*lines, LOAD, "content = Path('run.pt').read_bytes()", cut, LOAD])


def misfit(saved: Mapping[str, Sequence[int]], other_model: Mapping[str, Sequence[int]]) -> str:
    """A checkpoint of a model with some parameters, loaded into one with others."""
    lines = []
    for name, opt, shapes in (("model", "opt", saved), ("other", "other_opt", other_model)):
        lines.append(f"{name} = nn.Module()")
        lines += [
            f"{name}.{key} = nn.Parameter(torch.ones({', '.join(map(str, shape))}))" for key, shape in shapes.items()
        ]
        lines.append(f"{opt} = AdaGrad([nn.Parameter(torch.ones(2))], lr=0.1)")
    return "\n".join([*lines, f"save_checkpoint({PATH}, model, opt, 1)", LOAD])
