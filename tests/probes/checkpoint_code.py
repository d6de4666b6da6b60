"""Code that reproduces the probes of checkpoint. Each function takes its probe's arguments by name."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from .cruncher import list_keys
from .loading import typed_load

FIT = "from tests.probes.checkpoint import fit  # the training loop"
OTHER = "other.load_state_dict({{key: weight + {change} for key, weight in model.state_dict().items()}})"
PATH = "'run.pt'"
OTHERS = ("", ".tmp", ".json", ".new", ".bak")  # suffixes of other files in the checkpoint's folder
NEW = ["model = Cruncher(2, 0)", "opt = AdaGrad(model.parameters(), lr=0.1)"]
LOAD = f"load_checkpoint({PATH}, other, other_opt)"


def build(weights: Sequence[Tensor], name: str = "model", opt: str = "opt", dtype: str = "float32") -> list[str]:
    """Return code that builds a model of the right size for the weights, and its optimizer."""
    cast = "" if dtype == "float32" else f".to(torch.{dtype})"
    model = f"{name} = Cruncher({len(weights[-1])}, {len(weights) - 1}){cast}"
    return [model, f"{opt} = AdaGrad({name}.parameters(), lr=0.1)"]


def load_weights(weights: Sequence[Tensor]) -> str:
    """Return code that loads the weights into `model`."""
    return typed_load("model", list_keys(weights))


def build_other(weights: Sequence[Tensor], change: int = 1) -> list[str]:
    """Return code that builds a new model with different weights, and its optimizer."""
    return [*build(weights, "other", "other_opt"), OTHER.format(change=change)]


def save(step: object, path: str = PATH) -> str:
    """Return code that saves `model`."""
    return f"save_checkpoint({path}, model, opt, {step})"


def resume(weights: Sequence[Tensor], stop: int, step: int) -> str:
    """Return code that saves a run, loads it into new objects, and continues it."""
    start = [load_weights(weights), f"fit(model, opt, xs[:{stop}], ys[:{stop}])"] if stop else []
    return "\n".join(
        [
            *[FIT, *build(weights), *start, load_weights(weights)],
            *["opt.param_groups[0]['lr'] = 0.05", save(step), *build_other(weights)],
            LOAD,
            f"fit(other, other_opt, xs[{stop}:], ys[{stop}:])",
        ]
    )


def save_and_load(step: int, as_path: bool) -> str:
    """Return code that saves a model and loads it again."""
    path = f"Path({PATH})" if as_path else PATH
    trained = [FIT, *NEW, "fit(model, opt, [torch.ones(1, 2)], [torch.ones(1)])"]
    return "\n".join([*trained, save(step, path), f"load_checkpoint({path}, model, opt)"])


def around_saving(weights: Sequence[Tensor], training: bool) -> str:
    """Return code that trains a model, saves it, and shows what saving might have changed."""
    grads = "grads = [p.grad for p in model.parameters()]"
    seen = "model.training, model.state_dict(), grads, opt.state_dict()"
    return "\n".join([*save_trained(weights, training), grads, seen])


def save_trained(weights: Sequence[Tensor], training: bool = True) -> list[str]:
    """Return code that trains a model and then saves it."""
    mode = [] if training else ["model.eval()"]
    loaded = load_weights(weights)
    return [FIT, *build(weights), loaded, "fit(model, opt, xs, ys)", loaded, *mode, save(1)]


def trained_on(weights: Sequence[Tensor], training: bool) -> str:
    """Return code that saves a model, trains it further, and loads the checkpoint into another model."""
    mode = [] if training else ["other.eval()"]
    seen = "other.training, [p.grad for p in other.parameters()], other.state_dict()"
    return "\n".join([*save_trained(weights), *build_other(weights), "fit(model, opt, xs, ys)", *mode, LOAD, seen])


def files(name: str) -> str:
    """Return code that saves a checkpoint under a name and lists the folder."""
    moved = f"Path({name!r}).rename('moved.pt')\nload_checkpoint('moved.pt', model, opt)"
    return "\n".join([*NEW, save(1, repr(name)), "[file.name for file in Path().iterdir()]", moved])


def requires_grad(weights: Sequence[Tensor], frozen: int) -> str:
    """Return code that saves a model with a frozen parameter and loads it into another one."""
    freeze = f"    list(each.parameters())[{frozen}].requires_grad_(False)"
    lines = [*build(weights), *build_other(weights), "for each in (model, other):", freeze, save(1), LOAD]
    return "\n".join([*lines, "[p.requires_grad for p in other.parameters()]"])


def special_values(weights: Sequence[Tensor], dtype: str) -> str:
    """Return code that saves a model of the given dtype with a buffer, and loads it into another one."""
    lines = [*build(weights, dtype=dtype), *build(weights, "other", "other_opt", dtype), load_weights(weights)]
    lines += [f"model.register_buffer('average', weights[0].to(torch.{dtype}))"]
    lines += [f"other.register_buffer('average', torch.zeros_like(weights[0], dtype=torch.{dtype}))"]
    return "\n".join([*lines, save(1), LOAD, "other.state_dict()"])


def failing_save(weights: Sequence[Tensor]) -> str:
    """Return code that saves twice, the second time with file sizes limited to half the size of the first file."""
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, resource.RLIM_INFINITY))"
    lines = [
        *build(weights),
        save(7),
        limit.format(most="Path('run.pt').stat().st_size // 2"),
        "try:",
        "    " + save(8),
        "except Exception as error:",
        "    print(error)",
        limit.format(most="resource.RLIM_INFINITY"),
    ]
    return "\n".join([*lines, *build_other(weights, 2), LOAD])


def moves() -> str:
    """Return code that overwrites an older checkpoint in a folder with other files."""
    lines = [
        *["model = Cruncher(dim, 1)", NEW[1], save(1)],
        f"others = [Path('run' + suffix) for suffix in {OTHERS}]",
        "for file in others:",
        "    file.write_bytes(b'other')",
        save(2),
        "left = [file for file in others if file.exists() and file.read_bytes() == b'other']",
        "[file.name for file in others if file not in left]",
    ]
    return "\n".join(lines)


def write_events() -> str:
    """Return code that overwrites a checkpoint and shows which files are moved or removed meanwhile."""
    lines = [
        *[*NEW, save(1)],
        "events = []  # os.replace causes the event os.rename, as os.rename does",
        "def listen(event, args):",
        "    if event in ('os.rename', 'os.remove'):",
        "        events.append([event, *(str(arg) for arg in args if arg != -1)])",
        "sys.addaudithook(listen)",
        save(2),
        "events",
    ]
    return "\n".join(lines)


def hostile_file(written_by: str) -> str:
    """Return code that loads a file which creates a folder when it is unpickled."""
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
    """Return code that loads a file onto the CPU. The code also saves it from the CPU, since there may be no GPU."""
    load = f"load_checkpoint({PATH}, other, other_opt, device='cpu')"
    return "\n".join([*build(weights), load_weights(weights), save(1), *build_other(weights), load])


def truncated(weights: Sequence[Tensor], part: float) -> str:
    """Return code that loads a file before and after it is truncated."""
    cut = f"Path('run.pt').write_bytes(content[:min(int(len(content) * {part}), len(content) - 1)])"
    lines = [FIT, *build(weights), load_weights(weights), "fit(model, opt, xs, ys)", save(1), *build_other(weights, 2)]
    return "\n".join([*lines, LOAD, "content = Path('run.pt').read_bytes()", cut, LOAD])


def without_each_key(weights: Sequence[Tensor]) -> str:
    """Return code that loads copies of a file, each of which lacks one key."""
    loaded = load_weights(weights)
    lines = [FIT, *build(weights), loaded, "fit(model, opt, xs, ys)", loaded, save(1234567)]
    lines += ["content = torch.load('run.pt')", "for key in content:"]
    lines += ["    torch.save({k: v for k, v in content.items() if k != key}, 'run.pt')"]
    lines += [f"    {line}" for line in build_other(weights)]
    lines += ["    try:", f"        print(key, {LOAD})", "    except Exception as error:", "        print(key, error)"]
    return "\n".join(lines)


def load_mismatch(saved: Mapping[str, Sequence[int]], other_model: Mapping[str, Sequence[int]]) -> str:
    """Return code that saves a model and loads it into a model with other parameters."""
    lines = []
    for name, opt, shapes in (("model", "opt", saved), ("other", "other_opt", other_model)):
        lines.append(f"{name} = nn.Module()")
        lines += [
            f"{name}.{key} = nn.Parameter(torch.ones({', '.join(map(str, shape))}))" for key, shape in shapes.items()
        ]
        lines.append(f"{opt} = AdaGrad([nn.Parameter(torch.ones(2))], lr=0.1)")
    return "\n".join([*lines, f"save_checkpoint({PATH}, model, opt, 1)", LOAD])
