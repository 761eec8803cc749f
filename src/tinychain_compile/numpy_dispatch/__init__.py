"""NumPy's own functions on traced tensors: ``np.tanh(x)``, ``np.sum(x, axis=0)``.

Tables map each NumPy function to what it means here. What is not in them is refused by name, and
so is an argument (``out=``, ``where=``) that has no meaning in a program without state.
"""

from __future__ import annotations

from tinychain_compile.numpy_dispatch.tensor import NumpyTensor

__all__ = ["NumpyTensor"]
