"""Mistakes about what shares memory."""

import numpy as np
import torch

from reference.same_storage import oracle
from reference.same_storage.oracle import Placed
from torchkata import instead_of


@instead_of(
    oracle.same_storage,
    "the answer is always False, for x and x, too: x.storage(), for one, is a new object at each call",
)
def never(x: Placed, y: Placed) -> bool:
    return False


@instead_of(oracle.same_storage, "the answer is always True: for a tensor and its copy, too")
def always(x: Placed, y: Placed) -> bool:
    return True


@instead_of(oracle.same_storage, "the answer is the opposite of the right one, in every case")
def negated(x: Placed, y: Placed) -> bool:
    return x.allocation != y.allocation


@instead_of(oracle.same_storage, "only one and the same object is said to share its storage: a view is another object")
def same_object(x: Placed, y: Placed) -> bool:
    return x is y


@instead_of(
    oracle.same_storage,
    "x.data_ptr() and y.data_ptr() are compared: that is where each begins, and a view may begin further on",
)
def first_elements(x: Placed, y: Placed) -> bool:
    return x.tensor.data_ptr() == y.tensor.data_ptr()


@instead_of(oracle.same_storage, "x.data_ptr() is compared with y's storage: x may begin further on in its own")
def first_element_of_x(x: Placed, y: Placed) -> bool:
    return x.tensor.data_ptr() == y.tensor.untyped_storage().data_ptr()


@instead_of(oracle.same_storage, "x's storage is compared with y.data_ptr(): y may begin further on in its own")
def first_element_of_y(x: Placed, y: Placed) -> bool:
    return x.tensor.untyped_storage().data_ptr() == y.tensor.data_ptr()


@instead_of(oracle.same_storage, "the values are compared: those of a copy are equal, those of two views may differ")
def values(x: Placed, y: Placed) -> bool:
    return torch.equal(x.tensor, y.tensor)


@instead_of(oracle.same_storage, "the bytes in the storages are compared: those of a copy are equal, too")
def stored_bytes(x: Placed, y: Placed) -> bool:
    return bytes(x.tensor.untyped_storage()) == bytes(y.tensor.untyped_storage())


@instead_of(oracle.same_storage, "the sizes of the storages are compared: that of a copy is the same")
def storage_sizes(x: Placed, y: Placed) -> bool:
    return x.tensor.untyped_storage().nbytes() == y.tensor.untyped_storage().nbytes()


@instead_of(oracle.same_storage, "shape, strides and offset must be the same, too: a view may differ in all of them")
def same_layout(x: Placed, y: Placed) -> bool:
    return x.tensor.is_set_to(y.tensor)


@instead_of(
    oracle.same_storage,
    "tensors of two dtypes are never taken for one storage: x.view(torch.int32) is a view of the same bytes",
)
def same_dtype(x: Placed, y: Placed) -> bool:
    return x.allocation == y.allocation and x.tensor.dtype == y.tensor.dtype


@instead_of(oracle.same_storage, "storage_offset() counts elements, and is taken off an address, which counts bytes")
def offset_in_elements(x: Placed, y: Placed) -> bool:
    return beginning(x, 1) == beginning(y, 1)


@instead_of(oracle.same_storage, "each element is taken to have 4 bytes: int64 has 8, uint8 has 1")
def elements_of_four_bytes(x: Placed, y: Placed) -> bool:
    return beginning(x, 4) == beginning(y, 4)


@instead_of(oracle.same_storage, "both offsets are counted in elements of x's size: those of y may have another")
def elements_as_those_of_x(x: Placed, y: Placed) -> bool:
    size = x.tensor.element_size()
    return beginning(x, size) == beginning(y, size)


def beginning(x: Placed, element_size: int) -> int:
    """The address of the allocation, if elements had this size."""
    return x.tensor.data_ptr() - element_size * int(x.tensor.storage_offset())


@instead_of(oracle.same_storage, "an element must belong to both: two parts of one tensor share a storage without one")
def common_element(x: Placed, y: Placed) -> bool:
    return np.shares_memory(x.tensor.detach().numpy(), y.tensor.detach().numpy())


@instead_of(oracle.same_storage, "it is asked whether their bytes overlap: two parts of one storage need not")
def meeting_ranges(x: Placed, y: Placed) -> bool:
    return np.may_share_memory(x.tensor.detach().numpy(), y.tensor.detach().numpy())


@instead_of(oracle.same_storage, "the _base of both is compared, which is None for every tensor that is no view")
def bases(x: Placed, y: Placed) -> bool:
    return x is y or x.tensor._base is y.tensor._base


@instead_of(oracle.same_storage, "any two views are said to share a storage, also those of different tensors")
def any_views(x: Placed, y: Placed) -> bool:
    return x.allocation == y.allocation or (x.tensor._is_view() and y.tensor._is_view())


@instead_of(oracle.same_storage, "one must be the _base of the other: two views of one tensor share its storage, too")
def base_of_the_other(x: Placed, y: Placed) -> bool:
    return x is y or x.tensor._base is y.tensor or y.tensor._base is x.tensor


@instead_of(oracle.same_storage, "the bottom of both is looked for by _base: detach() and a Parameter have none")
def common_base(x: Placed, y: Placed) -> bool:
    def bottom(tensor: torch.Tensor) -> torch.Tensor:
        return tensor if tensor._base is None else tensor._base

    return bottom(x.tensor) is bottom(y.tensor)
