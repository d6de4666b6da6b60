"""Common mistakes in same_storage."""

import numpy as np
import torch

from reference.same_storage import oracle
from reference.same_storage.oracle import Placed
from torchkata import instead_of


@instead_of(
    oracle.same_storage,
    "returns False in every call here, even for (x, x), as comparing new objects does, such as x.storage() is "
    "y.storage()",
)
def never(x: Placed, y: Placed) -> bool:
    return False


@instead_of(oracle.same_storage, "returns True in every call here, even for a tensor and its copy")
def always(x: Placed, y: Placed) -> bool:
    return True


@instead_of(oracle.same_storage, "returns the opposite of the correct answer")
def negated(x: Placed, y: Placed) -> bool:
    return x.allocation != y.allocation


@instead_of(
    oracle.same_storage, "recognizes only a tensor and itself: a view is another object that uses the same storage"
)
def same_object(x: Placed, y: Placed) -> bool:
    return x is y


@instead_of(
    oracle.same_storage,
    "views that begin at different offsets are not recognized: data_ptr() is the address of the first element",
)
def first_elements(x: Placed, y: Placed) -> bool:
    return x.tensor.data_ptr() == y.tensor.data_ptr()


@instead_of(oracle.same_storage, "returns False whenever x begins at an offset in its storage, even for (x, x)")
def first_element_of_x(x: Placed, y: Placed) -> bool:
    return x.tensor.data_ptr() == y.tensor.untyped_storage().data_ptr()


@instead_of(oracle.same_storage, "returns False whenever y begins at an offset in its storage, even for (y, y)")
def first_element_of_y(x: Placed, y: Placed) -> bool:
    return x.tensor.untyped_storage().data_ptr() == y.tensor.data_ptr()


@instead_of(
    oracle.same_storage,
    "returns True exactly if the values are equal: a copy has equal values, and two views may have different ones",
)
def values(x: Placed, y: Placed) -> bool:
    return torch.equal(x.tensor, y.tensor)


@instead_of(
    oracle.same_storage, "returns True exactly if the contents of the storages are equal: a copy has the same contents"
)
def stored_bytes(x: Placed, y: Placed) -> bool:
    return bytes(x.tensor.untyped_storage()) == bytes(y.tensor.untyped_storage())


@instead_of(
    oracle.same_storage, "returns True exactly if the sizes of the storages are equal: a copy has the same size"
)
def storage_sizes(x: Placed, y: Placed) -> bool:
    return x.tensor.untyped_storage().nbytes() == y.tensor.untyped_storage().nbytes()


@instead_of(oracle.same_storage, "requires equal shapes, strides and offsets: a view may differ in all of them")
def same_layout(x: Placed, y: Placed) -> bool:
    return x.tensor.is_set_to(y.tensor)


@instead_of(oracle.same_storage, "requires equal shapes: a view may have another shape")
def same_shape(x: Placed, y: Placed) -> bool:
    return x.allocation == y.allocation and x.tensor.shape == y.tensor.shape


@instead_of(oracle.same_storage, "requires equal numbers of elements: a view may have fewer, or more")
def same_number_of_elements(x: Placed, y: Placed) -> bool:
    return x.allocation == y.allocation and x.tensor.numel() == y.tensor.numel()


@instead_of(oracle.same_storage, "returns False whenever y is not a view, even for (x, x)")
def y_is_a_view(x: Placed, y: Placed) -> bool:
    return x.allocation == y.allocation and bool(y.tensor._is_view())


@instead_of(
    oracle.same_storage,
    "requires equal dtypes: x.view(torch.int32) is a view of the same bytes",
)
def same_dtype(x: Placed, y: Placed) -> bool:
    return x.allocation == y.allocation and x.tensor.dtype == y.tensor.dtype


@instead_of(
    oracle.same_storage,
    "requires elements of equal size: x.view(torch.uint8) is a view of the same bytes",
)
def same_element_size(x: Placed, y: Placed) -> bool:
    return x.allocation == y.allocation and x.tensor.element_size() == y.tensor.element_size()


@instead_of(
    oracle.same_storage, "subtracts storage_offset(), which counts elements, from an address, which counts bytes"
)
def offset_in_elements(x: Placed, y: Placed) -> bool:
    return compute_start(x, 1) == compute_start(y, 1)


@instead_of(oracle.same_storage, "assumes 4 bytes per element: int64 takes 8, and uint8 takes 1")
def elements_of_four_bytes(x: Placed, y: Placed) -> bool:
    return compute_start(x, 4) == compute_start(y, 4)


@instead_of(oracle.same_storage, "uses the element size of x for both offsets: the element size of y may differ")
def elements_as_those_of_x(x: Placed, y: Placed) -> bool:
    size = x.tensor.element_size()
    return compute_start(x, size) == compute_start(y, size)


def compute_start(x: Placed, element_size: int) -> int:
    """Return the address that the allocation would have if each element had the given size."""
    return x.tensor.data_ptr() - element_size * int(x.tensor.storage_offset())


@instead_of(
    oracle.same_storage,
    "tensors without a common element are not recognized: disjoint parts of one tensor also share a storage",
)
def common_element(x: Placed, y: Placed) -> bool:
    return np.shares_memory(x.tensor.detach().numpy(), y.tensor.detach().numpy())


@instead_of(
    oracle.same_storage,
    "tensors with disjoint address ranges are not recognized: two parts of one storage need not overlap",
)
def meeting_ranges(x: Placed, y: Placed) -> bool:
    return np.may_share_memory(x.tensor.detach().numpy(), y.tensor.detach().numpy())


@instead_of(
    oracle.same_storage, "returns True for any two tensors that are not views, and for views with the same _base"
)
def bases(x: Placed, y: Placed) -> bool:
    return x is y or x.tensor._base is y.tensor._base


@instead_of(oracle.same_storage, "returns True for any two views, even of different tensors")
def any_views(x: Placed, y: Placed) -> bool:
    return x.allocation == y.allocation or (x.tensor._is_view() and y.tensor._is_view())


@instead_of(
    oracle.same_storage,
    "two views of a third tensor are not recognized: neither is the _base of the other",
)
def base_of_the_other(x: Placed, y: Placed) -> bool:
    return x is y or x.tensor._base is y.tensor or y.tensor._base is x.tensor


@instead_of(
    oracle.same_storage,
    "nn.Parameter(x) and x.detach() are not recognized as views of x: they have no _base",
)
def common_base(x: Placed, y: Placed) -> bool:
    def find_root(tensor: torch.Tensor) -> torch.Tensor:
        return tensor if tensor._base is None else tensor._base

    return find_root(x.tensor) is find_root(y.tensor)
