// Gradients as integers: twins of `fill_entries` in weald/tree/histograms/quantise.py. Needs doubles.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

// A float32 as a double, from its bits: some devices take the smallest ones for zero.
double widened(uint bits) {
    const uint exponent = (bits >> 23) & 0xFF;
    const double small = (double)(bits & 0x7FFFFF) * 0x1p-149;
    if (exponent == 0)
        return bits >> 31 ? -small : small;
    return (double)as_float(bits);
}

// 32 mixed bits for a row: `row_bits` in weald/runtime/random.py.
uint row_bits(uint key, uint row) {
    uint bits = row ^ key;
    bits = (bits ^ (bits >> 16)) * 0x85EBCA6Bu;
    bits = (bits ^ (bits >> 13)) * 0xC2B2AE35u;
    return bits ^ (bits >> 16);
}

// order: the rows' numbers in the block, those that are sampled first, read unless they are in order; first: the number of the
// block's first row in the table.
__kernel void round_packed(__global const uint *gradient, __global const uint *hessian, __global const uint *order,
                           int in_order, uint n_rows, double gradient_scale, double hessian_scale, uint key, uint first,
                           __global ulong *entries) {
    const size_t i = get_global_id(0);
    if (i >= n_rows)
        return;
    const uint row = in_order ? (uint)i : order[i];
    const uint bits = row_bits(key, row + first);
    const double g = widened(gradient[row]) * gradient_scale + (double)(bits & 0xFFFF) * (1.0 / 65536.0) + 8192.0;
    const double h = widened(hessian[row]) * hessian_scale + (double)(bits >> 16) * (1.0 / 65536.0);
    const uint packed = ((uint)((int)g - 8192) << 12) | (uint)(int)h;
    entries[i] = ((ulong)row << 32) | packed;
}

__kernel void round_wide(__global const uint *gradient, __global const uint *hessian, __global const uint *order,
                         int in_order, uint n_rows, double gradient_scale, double hessian_scale, __global ulong *wide,
                         __global ulong *entries) {
    const size_t i = get_global_id(0);
    if (i >= n_rows)
        return;
    const uint row = in_order ? (uint)i : order[i];
    const long g = (long)floor(widened(gradient[row]) * gradient_scale + 0.5);
    const long h = (long)(widened(hessian[row]) * hessian_scale + 0.5);
    wide[row] = ((ulong)g << 32) | (ulong)h;
    entries[i] = (ulong)row << 32;
}

// Sums over the leaves in 64-bit fixed point: twin of `whole_leaf_sums` in weald/tree/rows/leaf.py. A row of no leaf has the number
// n_leaves. Every group takes neighbouring rows; with in_local its sums are made in local memory, which has room for all leaves.
__kernel void leaf_sums(__global const LEAF *leaf_of_row, __global const uint *gradient, __global const uint *hessian,
                        uint n_rows, uint rows_a_group, uint n_leaves, double gradient_scale, double hessian_scale,
                        int in_local, volatile __global uint *sums, volatile __local uint *own) {
    const uint begin = get_group_id(0) * rows_a_group, end = min(n_rows, begin + rows_a_group);
    if (in_local) {
        for (uint word = get_local_id(0); word < 4 * n_leaves; word += GROUP)
            own[word] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint row = begin + get_local_id(0); row < end; row += GROUP) {
        const uint leaf = (uint)leaf_of_row[row];
        if (leaf >= n_leaves)
            continue;
        const long g = (long)(widened(gradient[row]) * gradient_scale);
        const long h = (long)(widened(hessian[row]) * hessian_scale);
        if (in_local) {
            add_local(own + 4 * leaf, g);
            add_local(own + 4 * leaf + 2, h);
        } else {
            add_global(sums + 4 * leaf, g);
            add_global(sums + 4 * leaf + 2, h);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (in_local) {
        for (uint place = get_local_id(0); place < 2 * n_leaves; place += GROUP)
            add_global(sums + 2 * place, number_at(own + 2 * place));
    }
}
