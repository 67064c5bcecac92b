// Rows on their way to children and leaves: twins of `divide_nodes_of_block` and `tell_leaves` in weald/tree/shards/kernels.py.
//
// A node's entries are divided in three steps: every piece of them counts its rows that go left; the host adds the counts up, so
// that each piece knows where its rows go; and they are moved, in their old order, by way of other memory.
// pieces: (split, begin, end) of each group.

typedef struct {
    uint place;       // of the column among the bins
    uint n_bins;      // the bin after them is that of missing values
    uint categorical;
    uint split_bin;   // numeric: the last bin that goes left
    uint missing_left;
} Split;

// left_bins: n_words a split, a bit a bin.
int goes_left(__global const Split *split, __global const ulong *left_bins, uint code) {
    if (code >= split->n_bins)
        return (int)split->missing_left;
    if (split->categorical)
        return (int)((left_bins[code >> 6] >> (code & 63)) & 1);
    return code <= split->split_bin;
}

__kernel void count_left(__global const CODE *codes, uint n_rows, __global const ulong *entries, __global const uint *pieces,
                         __global const Split *splits, __global const ulong *left_bins, uint n_words,
                         __global uint *counts) {
    __local uint total;
    const size_t piece = get_group_id(0);
    const uint number = pieces[3 * piece], begin = pieces[3 * piece + 1], end = pieces[3 * piece + 2];
    __global const Split *split = splits + number;
    if (get_local_id(0) == 0)
        total = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint count = 0;
    for (uint i = begin + get_local_id(0); i < end; i += GROUP)
        count += goes_left(split, left_bins + (size_t)number * n_words, codes[(size_t)split->place * n_rows + ROW(entries[i])]);
    atomic_add(&total, count);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        counts[piece] = total;
}

// targets: where the piece's left rows go, and its right ones.
__kernel void move(__global const CODE *codes, uint n_rows, __global const ulong *entries, __global const uint *pieces,
                   __global const uint *targets, __global const Split *splits, __global const ulong *left_bins,
                   uint n_words, __global ulong *moved) {
    __local uint lefts[GROUP];
    const size_t piece = get_group_id(0);
    const uint number = pieces[3 * piece], begin = pieces[3 * piece + 1], end = pieces[3 * piece + 2];
    const uint own = get_local_id(0);
    __global const Split *split = splits + number;
    uint left = targets[2 * piece], right = targets[2 * piece + 1];
    for (uint first = begin; first < end; first += GROUP) {
        const uint i = first + own, count = min((uint)GROUP, end - first);
        ulong entry = 0;
        uint go = 0;
        if (i < end) {
            entry = entries[i];
            go = goes_left(split, left_bins + (size_t)number * n_words, codes[(size_t)split->place * n_rows + ROW(entry)]);
        }
        lefts[own] = go;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint step = 1; step < GROUP; step *= 2) {  // lefts[i]: how many of the first i + 1 go left
            const uint before = own >= step ? lefts[own - step] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            lefts[own] += before;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        const uint lefts_before = lefts[own] - go, all_left = lefts[GROUP - 1];
        if (i < end)
            moved[go ? left + lefts_before : right + own - lefts_before] = entry;
        left += all_left;
        right += count - all_left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

__kernel void move_back(__global const ulong *moved, __global const uint *pieces, __global ulong *entries) {
    const uint begin = pieces[3 * get_group_id(0) + 1], end = pieces[3 * get_group_id(0) + 2];
    for (uint i = begin + get_local_id(0); i < end; i += GROUP)
        entries[i] = moved[i];
}

// pieces: (leaf, begin, end).
__kernel void tell_leaves(__global const ulong *entries, __global const uint *pieces, __global LEAF *leaf_of_row) {
    const LEAF leaf = (LEAF)pieces[3 * get_group_id(0)];
    const uint begin = pieces[3 * get_group_id(0) + 1], end = pieces[3 * get_group_id(0) + 2];
    for (uint i = begin + get_local_id(0); i < end; i += GROUP)
        leaf_of_row[ROW(entries[i])] = leaf;
}
