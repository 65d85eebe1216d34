"""The numba kernels of fast prediction, each for one thread; they release Python's lock.

A single row is computed by columns: the weights of an input that is 0 are not read, and after a
ReLU half of the inputs are. More rows are computed in blocks with their activations side by side,
so that each kept weight is one broadcast and a few vector operations. LLVM does not find that form
by itself: the same loop in plain numba has 0.4 of the speed, the best of six ways to write it 0.5
at 8 rows and 0.7 at 256 (one thread, 512 × 9 units, 1 in 8 weights). So the inner loop is written
in LLVM's own vectors. Wide layers are split into tiles of inputs that fit into the caches, and all
blocks go through one tile before the next.
"""

from __future__ import annotations

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8  # floats per vector, as in AVX2; LLVM splits it where vectors are shorter
WIDE = 4  # vectors of sums that are added to at once
NARROW_BLOCK, WIDE_BLOCK = LANES, WIDE * LANES  # rows; narrow blocks waste less on few rows
TILE = 512  # inputs; their activations for a wide block fit into 64 KiB


@njit(cache=True, nogil=True, fastmath={"contract", "nsz", "arcp"})
def one_row(x, sizes, whole, starts, rows, values, biases, work):
    """Compute the outputs for one row; returns the row of `work` [2, widest] that holds them.

    All layers are concatenated: `starts` is where each of their columns begins, `rows` has the
    unit and `values` the weight. A column of a `whole` layer has a value for every unit.
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
            weights = values[begin:end]  # a slice, or LLVM would not use vectors
            if whole[layer]:
                for i in range(n_units):
                    out[i] += value * weights[i]
            else:
                units = rows[begin:end]
                for k in range(len(units)):
                    out[units[k]] += value * weights[k]
        column += sizes[layer]
        unit += n_units
    return n_layers % 2


@njit(cache=True, nogil=True)
def add_tile(x, first, starts, columns, values, out):
    """Add one tile's share, the inputs from `first` on, to the sums of a layer.

    x is [blocks, inputs, rows] and out [blocks, units, rows], in narrow or wide blocks. `starts` is
    where each unit begins, `columns` has the input and `values` the weight.
    """
    for block in range(len(x)):
        here, sums = x[block, first:], out[block]
        for unit in range(len(starts) - 1):
            begin, end = starts[unit], starts[unit + 1]
            if x.shape[2] == NARROW_BLOCK:
                _narrow_sums(here, columns, values, begin, end, sums, unit)
            else:
                _wide_sums(here, columns, values, begin, end, sums, unit)


@intrinsic
def _narrow_sums(typing_context, x, columns, values, begin, end, out, unit):
    """out[unit] += Σ values[k] · x[columns[k]] for k in [begin, end), in a narrow block."""
    return _sums_in_vectors(1, x, columns, values, begin, end, out, unit)


@intrinsic
def _wide_sums(typing_context, x, columns, values, begin, end, out, unit):
    """The same in a wide block."""
    return _sums_in_vectors(WIDE, x, columns, values, begin, end, out, unit)


def _sums_in_vectors(n_vectors, *kinds):
    """A numba intrinsic: its signature, and the function that writes its instructions."""
    vector, int64 = ir.VectorType(ir.FloatType(), LANES), ir.IntType(64)

    def write(context, builder, signature, arguments):
        x, columns, values, out = (
            context.make_array(kinds[i])(context, builder, arguments[i]).data for i in (0, 1, 2, 5)
        )
        begin, end, unit = (arguments[i] for i in (3, 4, 6))
        fma = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(vector, [vector] * 3), f"llvm.fma.v{LANES}f32"
        )

        def vector_at(array, row, part):  # of an array [n, rows of a block]
            offset = builder.mul(row, row.type(n_vectors * LANES))
            offset = builder.add(offset, row.type(part * LANES))
            return builder.bitcast(builder.gep(array, [offset]), vector.as_pointer())

        places = [vector_at(out, unit, part) for part in range(n_vectors)]
        sums = [cgutils.alloca_once_value(builder, builder.load(p, align=4)) for p in places]
        with cgutils.for_range_slice(builder, begin, end, int64(1), int64) as (k, _):
            column = builder.zext(builder.load(builder.gep(columns, [k])), int64)
            weight = _broadcast(builder, builder.load(builder.gep(values, [k])), vector)
            for part, total in enumerate(sums):  # LLVM keeps them in registers
                activations = builder.load(vector_at(x, column, part), align=4)
                builder.store(builder.call(fma, [weight, activations, builder.load(total)]), total)
        for place, total in zip(places, sums, strict=True):
            builder.store(builder.load(total), place, align=4)
        return context.get_dummy_value()

    return types.void(*kinds), write


def _broadcast(builder, scalar, vector):
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, scalar, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, nothing, zeros)
