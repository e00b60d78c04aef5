"""Asking for memory before it is needed."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_compiled: Any = intrinsic  # what numba's types say of it does not fit how it is called


@_compiled
def prefetch(typing_context, array, index):  # type: ignore[no-untyped-def]
    """Start to fetch what is around array[index]; nothing waits for it, and nothing changes but time."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        asks = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        ask = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module, asks, "llvm.prefetch.p0i8"
        )
        read, keep, data_not_code = number(0), number(3), number(1)
        builder.call(ask, [place, read, keep, data_not_code])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate
