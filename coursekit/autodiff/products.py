"""Matrix products."""

from coursekit.autodiff.elementwise import unbroadcast
from coursekit.autodiff.tape import live_operands, quiet, record
from coursekit.autodiff.tensor import FloatArray, Operand, Tensor
from coursekit.errors import ShapeMismatch


@quiet
def matmul(a: Operand, b: Operand) -> Tensor:
    """a @ b as in NumPy."""
    a, b = live_operands("matmul", a, b)
    x, y = a.value, b.value
    try:
        value = x @ y
    except ValueError:
        raise ShapeMismatch("matmul", "shapes that multiply", (x.shape, y.shape)) from None

    def vjp(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
        return (
            unbroadcast(adjoint @ y.swapaxes(-1, -2), x.shape),
            unbroadcast(x.swapaxes(-1, -2) @ adjoint, y.shape),
        )

    return record("matmul", value, (a, b), vjp)
