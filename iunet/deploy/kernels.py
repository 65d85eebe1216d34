"""The numba kernels of fast prediction, each for one thread; they release Python's lock.

For one row the layers go by columns: of an input that is 0, as after a ReLU half of them are, no
weight is read. For many rows they go by blocks of `BLOCK` rows, whose activations lie side by side,
so that each kept weight is one broadcast and a few vector operations. LLVM does not find that form
by itself: it would keep the sums of a unit in memory, and take 1.3 times as long. So the inner loop
is written with vectors (`_weighted_sum`).
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8  # floats of a vector: AVX2's; LLVM splits it where vectors are shorter
VECTORS = 4  # sums that are under way at once
BLOCK = LANES * VECTORS


@njit(cache=True, nogil=True, fastmath={"contract", "nsz", "arcp"})
def one_row(x, sizes, whole, starts, rows, values, biases, work):
    """The outputs for one row, which lie in `work` [2, widest]: in its row that is returned.

    All layers stand one after the other: `starts` has the first value of each of their columns,
    `rows` the unit and `values` the weight. Of a `whole` layer a column has a value for each unit.
    """
    column, unit, n_layers = 0, 0, len(sizes) - 1
    for j in range(sizes[0]):
        work[0, j] = x[j]
    for layer in range(n_layers):
        here, out = work[layer % 2], work[(layer + 1) % 2]
        n_units = sizes[layer + 1]
        for i in range(n_units):
            out[i] = biases[unit + i]
        for j in range(sizes[layer]):
            value = here[j]
            if value == 0 or (layer > 0 and value < 0):  # ReLU
                continue
            begin, end = starts[column + j], starts[column + j + 1]
            if whole[layer]:
                for i in range(n_units):
                    out[i] += value * values[begin + i]
            else:
                for k in range(begin, end):
                    out[rows[k]] += value * values[k]
        column += sizes[layer]
        unit += n_units
    return n_layers % 2


@njit(cache=True, nogil=True)
def block_layer(x, starts, columns, values, biases, relu, out):
    """A layer on blocks of rows: x is [blocks, inputs, BLOCK], out [blocks, units, BLOCK]."""
    for block in range(len(x)):
        here, sums = x[block], out[block]
        for i in range(len(biases)):
            _weighted_sum(here, columns, values, starts[i], starts[i + 1], biases[i], sums, i)
            if relu:
                for b in range(BLOCK):
                    sums[i, b] = max(sums[i, b], np.float32(0))


@intrinsic
def _weighted_sum(typing_context, x, columns, values, begin, end, bias, out, unit):
    """out[unit] = bias + Σ values[k] · x[columns[k]] for k in [begin, end), a vector at a time."""
    signature = types.void(x, columns, values, begin, end, bias, out, unit)

    def generate(context, builder, signature, arguments):
        kinds = signature.args
        x, columns, values, out = (
            context.make_array(kinds[i])(context, builder, arguments[i]).data for i in (0, 1, 2, 6)
        )
        begin, end, bias, unit = (arguments[i] for i in (3, 4, 5, 7))
        _emit_weighted_sum(builder, x, columns, values, begin, end, bias, out, unit)
        return context.get_dummy_value()

    return signature, generate


def _emit_weighted_sum(builder, x, columns, values, begin, end, bias, out, unit) -> None:
    """LLVM's instructions for `_weighted_sum`: a loop over k that carries the vectors of sums."""
    vector, int64 = ir.VectorType(ir.FloatType(), LANES), ir.IntType(64)
    fma = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{LANES}f32"
    )
    before = builder.block
    first_sum = _broadcast(builder, bias, vector)
    loop, body, after = (builder.append_basic_block(name) for name in ("loop", "body", "after"))
    builder.branch(loop)

    builder.position_at_end(loop)
    k = builder.phi(int64)
    sums = [builder.phi(vector) for _ in range(VECTORS)]
    for carried, start in [(k, begin), *((s, first_sum) for s in sums)]:
        carried.add_incoming(start, before)
    builder.cbranch(builder.icmp_signed("<", k, end), body, after)

    builder.position_at_end(body)
    column = builder.zext(builder.load(builder.gep(columns, [k])), int64)
    weight = _broadcast(builder, builder.load(builder.gep(values, [k])), vector)
    k.add_incoming(builder.add(k, int64(1)), builder.block)
    for part, carried in enumerate(sums):
        activations = builder.load(_vector_at(builder, x, column, part, vector), align=4)
        carried.add_incoming(builder.call(fma, [weight, activations, carried]), builder.block)
    builder.branch(loop)

    builder.position_at_end(after)
    for part, total in enumerate(sums):
        builder.store(total, _vector_at(builder, out, unit, part, vector), align=4)


def _vector_at(builder, array, row, part, vector):
    """The address of a part of a row of an array [n, BLOCK]."""
    offset = builder.mul(row, row.type(BLOCK))
    offset = builder.add(offset, row.type(part * LANES))
    return builder.bitcast(builder.gep(array, [offset]), vector.as_pointer())


def _broadcast(builder, scalar, vector):
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, scalar, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, nothing, zeros)
