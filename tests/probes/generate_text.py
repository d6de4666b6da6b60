"""Probes for generate_text."""

from typing import Any

import torch
from torch import Tensor

from torchkata import typed

from .tables import Tables

IMPORT = "from tests.probes.tables import Tables\n"
SHOW_GRAPH = f"{IMPORT}model = Tables(tables)\ngenerate(model, prompt, n, temperature)\nmodel.builds_graphs"
SHOW_PROMPT = f"{IMPORT}generate(Tables(tables), prompt, n, temperature)\nprompt"


def write_call(seed: int | None) -> str:
    """Return the code of a call, with a generator if there is a seed."""
    generator = "" if seed is None else ", torch.Generator().manual_seed(seed)"
    return f"{IMPORT}generate(Tables(tables), prompt, n, temperature{generator})"


def write_lengths(seed: int | None) -> str:
    """Return the code of a call, and of the numbers of tokens that the model is given."""
    call = write_call(seed).removeprefix(IMPORT).replace("Tables(tables)", "model")
    return f"{IMPORT}model = Tables(tables)\n{call}\n[tokens for _, _, tokens in model.events]"


def write_state(seed: int | None) -> str:
    """Return the code of a call, and of whether it changes the state of torch's global generator."""
    call = write_call(seed).removeprefix(IMPORT)
    return f"{IMPORT}state = torch.get_rng_state()\n{call}\nnot torch.equal(state, torch.get_rng_state())"


@typed(write_call)
def generate(
    assignment: Any, tables: Tensor, prompt: Tensor, n: int, temperature: float, seed: int | None
) -> dict[str, object]:
    """Continue a prompt. Without a seed, no generator is passed."""
    model, given = Tables(tables), prompt.clone()
    state = torch.get_rng_state()
    more = () if seed is None else (torch.Generator().manual_seed(seed),)
    tokens = assignment.generate_text.generate(model, given, n, temperature, *more)
    return {
        "tokens": tokens,
        "lengths": [length for _, _, length in model.events],
        "prompt": given,
        "global generator used": not torch.equal(state, torch.get_rng_state()),
        "builds graphs": model.builds_graphs,
    }


@typed(write_call)
def generate_or_refuse(
    assignment: Any, tables: Tensor, prompt: Tensor, n: int, temperature: float, seed: int
) -> dict[str, object]:
    """Continue a prompt, and return the tokens or the reason why torch.multinomial refuses to draw one."""
    generator = torch.Generator().manual_seed(seed)
    try:
        tokens = assignment.generate_text.generate(Tables(tables), prompt.clone(), n, temperature, generator)
    except RuntimeError as error:
        if "multinomial" not in str(error) and "probability tensor" not in str(error):
            raise
        return {"tokens": None, "error": str(error)}
    return {"tokens": tokens, "error": ""}


@typed(
    f"{IMPORT}after = 100 * torch.eye(vocab).roll(1, dims=1)  # after 0 comes 1, after 1 comes 2, …\n"
    "generate(Tables(after[None]), prompt, n, 0.0)"
)
def count_up(assignment: Any, vocab: int, prompt: Tensor, n: int) -> object:
    """Continue a prompt with a model in which each token is followed by the next one, and the last by 0."""
    after = 100 * torch.eye(vocab).roll(1, dims=1)
    return assignment.generate_text.generate(Tables(after[None]), prompt.clone(), n, 0.0)


def write_calls(is_global: bool) -> str:
    """Return the code of the calls, with the global generator or with one of their own."""
    generator = "" if is_global else ", torch.Generator().manual_seed(seed)"
    call = f"generate(Tables(tables), prompt, n, 1.0{generator})"
    return f"{IMPORT}for n in lengths:\n" + "    torch.manual_seed(seed)\n" * is_global + f"    print({call})"


@typed(write_calls)
def generate_each(
    assignment: Any, tables: Tensor, prompt: Tensor, lengths: list[int], seed: int, is_global: bool
) -> list[object]:
    """Continue a prompt by each number of tokens in `lengths`, from the same seed each time.

    If `is_global`, torch's global generator is seeded. Otherwise, a seeded generator is passed to the function.
    """
    found = []
    for n in lengths:
        generator = torch.default_generator if is_global else torch.Generator()
        generator.manual_seed(seed)
        more = () if is_global else (generator,)
        found.append(assignment.generate_text.generate(Tables(tables), prompt.clone(), n, 1.0, *more))
    return found
