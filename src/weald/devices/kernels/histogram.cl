// Sums of some nodes by cell: twins of `count_nodes_of_block` in weald/tree/shards/kernels.py.
//
// Group (p, t) counts piece p, (place of the node, begin, end) among the entries, for the columns of tile t, from tiles[t] to
// tiles[t + 1] in the list of columns. A piece has so few rows that no 32-bit sum of it overflows. sums: (nodes, 3, n_cells) 64-bit
// numbers, of gradients, hessians and rows, zero before.

typedef struct {
    uint place;  // of the column among the bins
    uint n_cells; // bins, with that of missing values
    uint offset; // its first cell in a histogram
    uint own;    // its first cell among those of its tile
} Column;

// Cells of a tile in local memory: gradient, hessian, rows, 32 bits each, plane by plane.
__kernel void count_packed(__global const CODE *codes, uint n_rows, __global const ulong *entries,
                           __global const uint *pieces, __global const uint *tiles, __global const Column *columns,
                           uint tile_cells, uint n_cells, volatile __global uint *sums, volatile __local int *cells) {
    const uint node = pieces[3 * get_group_id(0)], begin = pieces[3 * get_group_id(0) + 1];
    const uint end = pieces[3 * get_group_id(0) + 2];
    const uint first = tiles[get_group_id(1)], last = tiles[get_group_id(1) + 1];
    for (uint cell = get_local_id(0); cell < 3 * tile_cells; cell += GROUP)
        cells[cell] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = begin + get_local_id(0); i < end; i += GROUP) {
        const ulong entry = entries[i];
        const int gradient = (int)(uint)entry >> 12, hessian = (int)(entry & 0xFFF);
        for (uint c = first; c < last; c++) {
            const uint cell = columns[c].own + codes[(size_t)columns[c].place * n_rows + ROW(entry)];
            atomic_add(cells + cell, gradient);
            atomic_add(cells + tile_cells + cell, hessian);
            atomic_inc(cells + 2 * tile_cells + cell);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    volatile __global uint *own = sums + (size_t)node * 6 * n_cells;
    for (uint c = first; c < last; c++) {
        for (uint b = get_local_id(0); b < columns[c].n_cells; b += GROUP) {
            const uint from = columns[c].own + b;
            const size_t to = columns[c].offset + b;
            if (cells[2 * tile_cells + from] == 0)
                continue;
            add_global(own + 2 * to, cells[from]);
            add_global(own + 2 * (n_cells + to), cells[tile_cells + from]);
            add_global(own + 2 * (2 * (size_t)n_cells + to), cells[2 * tile_cells + from]);
        }
    }
}

// The same of wide gradients, whose sums need 64 bits: gradient, hessian, two words each, and rows.
__kernel void count_wide(__global const CODE *codes, uint n_rows, __global const ulong *entries, __global const ulong *wide,
                         __global const uint *pieces, __global const uint *tiles, __global const Column *columns,
                         uint tile_cells, uint n_cells, volatile __global uint *sums, volatile __local uint *cells) {
    const uint node = pieces[3 * get_group_id(0)], begin = pieces[3 * get_group_id(0) + 1];
    const uint end = pieces[3 * get_group_id(0) + 2];
    const uint first = tiles[get_group_id(1)], last = tiles[get_group_id(1) + 1];
    for (uint cell = get_local_id(0); cell < 5 * tile_cells; cell += GROUP)
        cells[cell] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = begin + get_local_id(0); i < end; i += GROUP) {
        const size_t row = ROW(entries[i]);
        const ulong word = wide[row];
        for (uint c = first; c < last; c++) {
            const uint cell = columns[c].own + codes[(size_t)columns[c].place * n_rows + row];
            add_local(cells + 2 * cell, (long)word >> 32);
            add_local(cells + 2 * (tile_cells + cell), (long)(word & 0xFFFFFFFFul));
            atomic_inc(cells + 4 * tile_cells + cell);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    volatile __global uint *own = sums + (size_t)node * 6 * n_cells;
    for (uint c = first; c < last; c++) {
        for (uint b = get_local_id(0); b < columns[c].n_cells; b += GROUP) {
            const uint from = columns[c].own + b;
            const size_t to = columns[c].offset + b;
            if (cells[4 * tile_cells + from] == 0)
                continue;
            add_global(own + 2 * to, number_at(cells + 2 * from));
            add_global(own + 2 * (n_cells + to), number_at(cells + 2 * (tile_cells + from)));
            add_global(own + 2 * (2 * (size_t)n_cells + to), cells[4 * tile_cells + from]);
        }
    }
}

// One column, of more cells than local memory has room for: every row adds to the sums themselves. is_packed: see the two above.
__kernel void count_directly(__global const CODE *codes, uint n_rows, __global const ulong *entries,
                             __global const ulong *wide, int is_packed, __global const uint *pieces, uint place,
                             uint offset, uint n_cells, volatile __global uint *sums) {
    const uint node = pieces[3 * get_group_id(0)], begin = pieces[3 * get_group_id(0) + 1];
    const uint end = pieces[3 * get_group_id(0) + 2];
    volatile __global uint *own = sums + (size_t)node * 6 * n_cells;
    for (uint i = begin + get_local_id(0); i < end; i += GROUP) {
        const ulong entry = entries[i];
        const size_t row = ROW(entry), cell = offset + codes[(size_t)place * n_rows + row];
        const ulong word = is_packed ? 0 : wide[row];
        add_global(own + 2 * cell, is_packed ? (int)(uint)entry >> 12 : (long)word >> 32);
        add_global(own + 2 * (n_cells + cell), is_packed ? (long)(entry & 0xFFF) : (long)(word & 0xFFFFFFFFul));
        add_global(own + 2 * (2 * (size_t)n_cells + cell), 1);
    }
}
