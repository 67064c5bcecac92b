// Raw scores of rows: the twin of `raw_scores` in tests/reference_predict.py. Needs doubles.

typedef struct {
    int feature;  // -1: a leaf
    int left;     // the left child, within the tree
    int set;      // of category codes that go left; -1: numbers up to the threshold go left
    int missing_left;
} Node;

// codes: ascending.
int has_code(__global const int *codes, long begin, long end, double x) {
    while (begin < end) {
        const long middle = (begin + end) / 2;
        if ((double)codes[middle] < x)
            begin = middle + 1;
        else if ((double)codes[middle] > x)
            end = middle;
        else
            return 1;
    }
    return 0;
}

// Work-item (row, output): trees first_tree to last_tree, of which every n_outputs-th is the output's, are added in their order.
// cells: (columns, rows); numbers: threshold and value of every node.
__kernel void predict(__global const double *cells, uint n_rows, __global const Node *nodes, __global const double2 *numbers,
                      __global const long *tree_offsets, __global const long *set_offsets, __global const int *set_codes,
                      uint first_tree, uint last_tree, uint n_outputs, __global const double *base, __global double *scores) {
    const size_t row = get_global_id(0), output = get_global_id(1);
    if (row >= n_rows)
        return;
    double score = base[output];
    for (uint tree = first_tree + output; tree < last_tree; tree += n_outputs) {
        const long start = tree_offsets[tree];
        long node = start;
        while (nodes[node].feature >= 0) {
            const double x = cells[(size_t)nodes[node].feature * n_rows + row];
            const int set = nodes[node].set;
            int left;
            if (x != x)
                left = nodes[node].missing_left;
            else if (set < 0)
                left = x <= numbers[node].x;
            else
                left = has_code(set_codes, set_offsets[set], set_offsets[set + 1], x);
            node = start + nodes[node].left + (left ? 0 : 1);
        }
        score += numbers[node].y;
    }
    scores[output * n_rows + row] = score;
}
