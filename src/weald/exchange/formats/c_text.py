"""What every exported C file contains beside its tables: C99 that is C++ too, without allocation and without libm."""

from __future__ import annotations

from typing import Final

HEADER: Final = """\
/* A model that Weald has exported. See the comments at the functions. */
#ifndef {upper}_H
#define {upper}_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* Columns of a row; numbers that {name}_values and {name}_scores write for a row; labels of a row. */
#define {upper}_COLUMNS {columns}
#define {upper}_VALUES {values}
#define {upper}_SCORES {scores}
#define {upper}_LABELS {labels}

/* All functions take rows of {upper}_COLUMNS numbers one after another. A missing value is NaN; a category is the number that
   {name}_code gives. They allocate nothing, keep no state and may be called by several threads at once. */

/* The predictions, or the probabilities of the classes, of every row. */
void {name}_values(const double *rows, size_t n_rows, double *values);
/* The raw scores of every row. */
void {name}_scores(const double *rows, size_t n_rows, double *scores);
/* The positions of the predicted classes; -1: the row is refused. Of a regression 0. */
void {name}_labels(const double *rows, size_t n_rows, int *labels);

/* The name of a column, in UTF-8; NULL beyond the last. */
const char *{name}_column(size_t column);
/* The number of a category in a column: NaN where training did not have it, as for missing ones. Of numbers the text is
   their shortest one. */
double {name}_code(size_t column, const char *category);
/* The text of a class of a label; NULL where there is none. */
const char *{name}_class(size_t label, size_t position);

#ifdef __cplusplus
}}
#endif

#endif
"""

HEAD: Final = """\
/* A model that Weald has exported; the functions are described in the header. */
#include "{header}"

#include <math.h> /* HUGE_VAL and NAN only */
#include <stdint.h>
#include <string.h>

/* A product and a sum are rounded one after the other, as in Weald. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && !defined(__TINYC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define ROWS {rows}
#define SLOTS {slots}
#define ABREAST 8

/* A node sends x to `left`, or to the node behind it. A leaf sends everything to itself. */
typedef struct {{
    double threshold; /* or the number of a set of codes */
    uint32_t left;
    uint32_t slot; /* slot * 4 + whether it asks a set * 2 + whether missing values go right */
}} Node;

typedef struct {{
    uint32_t root, depth, has_sets;
}} Tree;

typedef struct {{
    uint32_t first, words; /* in the array of bits */
}} Set;

typedef double Block[SLOTS][ROWS];
"""

RUNTIME: Final = """\
static double weald_exp(double x) {
    static const double factorials[] = {39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0};
    const double rounder = 6755399441055744.0;
    double exponent, r, tail, half, scale[2];
    uint64_t bits[2];
    int i;
    x = x < -746.0 ? -746.0 : x;
    x = x > 710.0 ? 710.0 : x;
    if (x != x) return x;
    exponent = (x * 1.4426950408889634 + rounder) - rounder;
    r = (x - exponent * 0.6931471803691238) - exponent * 1.9082149292705877e-10;
    tail = 1.0 / 479001600.0 + r * (1.0 / 6227020800.0);
    for (i = 0; i < 10; i++) tail = 1.0 / factorials[i] + r * tail;
    half = (exponent * 0.5 + rounder) - rounder;
    bits[0] = (uint64_t)((int64_t)half + 1023) << 52;
    bits[1] = (uint64_t)((int64_t)(exponent - half) + 1023) << 52;
    memcpy(scale, bits, sizeof scale);
    return (1.0 + (r + r * r * tail)) * scale[0] * scale[1];
}

static double weald_sigmoid(double x) { return 1.0 / (1.0 + weald_exp(-x)); }

static uint32_t next_node(const Node *nodes, const double *x, uint32_t at) {
    const Node *node = nodes + at;
    const double value = x[(size_t)(node->slot >> 2) * ROWS];
    return node->left + (uint32_t)((value > node->threshold) | ((value != value) & (int)(node->slot & 1)));
}

static uint32_t leaf_by_sets(const Node *nodes, const Set *sets, const uint32_t *bits, const double *x, uint32_t at) {
    for (;;) {
        const Node *node = nodes + at;
        const double value = x[(size_t)(node->slot >> 2) * ROWS];
        uint32_t right;
        if (node->left == at) return at;
        if (value != value) {
            right = node->slot & 1;
        } else if (node->slot & 2) {
            const Set set = sets[(size_t)node->threshold];
            const uint32_t code = (uint32_t)value;
            right = (uint32_t)(code / 32 >= set.words || !(bits[set.first + code / 32] >> code % 32 & 1));
        } else {
            right = (uint32_t)(value > node->threshold);
        }
        at = node->left + right;
    }
}

/* The leaves that ABREAST rows reach; they walk side by side, as each waits for its own memory. */
static void find_leaves(const Node *nodes, const Set *sets, const uint32_t *bits, Tree tree, const double *x, uint32_t *leaf) {
    uint32_t n0, n1, n2, n3, n4, n5, n6, n7, step;
    if (tree.has_sets) {
        for (step = 0; step < ABREAST; step++) leaf[step] = leaf_by_sets(nodes, sets, bits, x + step, tree.root);
        return;
    }
    n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = tree.root;
    for (step = 0; step < tree.depth; step++) {
        const uint32_t m0 = next_node(nodes, x, n0), m1 = next_node(nodes, x + 1, n1);
        const uint32_t m2 = next_node(nodes, x + 2, n2), m3 = next_node(nodes, x + 3, n3);
        const uint32_t m4 = next_node(nodes, x + 4, n4), m5 = next_node(nodes, x + 5, n5);
        const uint32_t m6 = next_node(nodes, x + 6, n6), m7 = next_node(nodes, x + 7, n7);
        const uint32_t moved = (m0 ^ n0) | (m1 ^ n1) | (m2 ^ n2) | (m3 ^ n3) | (m4 ^ n4) | (m5 ^ n5) | (m6 ^ n6) | (m7 ^ n7);
        n0 = m0, n1 = m1, n2 = m2, n3 = m3, n4 = m4, n5 = m5, n6 = m6, n7 = m7;
        if (!moved) break;
    }
    leaf[0] = n0, leaf[1] = n1, leaf[2] = n2, leaf[3] = n3, leaf[4] = n4, leaf[5] = n5, leaf[6] = n6, leaf[7] = n7;
}

/* The place of a group among groups that rise, or their number. */
static size_t place_of(const int64_t *groups, size_t size, int64_t group) {
    size_t low = 0, high = size;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (groups[middle] < group) low = middle + 1;
        else high = middle;
    }
    return low < size && groups[low] == group ? low : size;
}
"""

DOOR: Final = """\
static void fill(const double *rows, size_t n_rows, Block s) {{
    size_t i, j;
    for (i = 0; i < ROWS; i++)
        for (j = 0; j < {columns}; j++) s[j][i] = i < n_rows ? {cell} : NAN;
    evaluate((n_rows + ABREAST - 1) / ABREAST * ABREAST, s);
}}

static void gather(const double *rows, size_t n_rows, const uint32_t *slots, size_t n_slots, double *out) {{
    Block s;
    size_t first, i, k;
    for (first = 0; first < n_rows; first += ROWS) {{
        const size_t n = n_rows - first < ROWS ? n_rows - first : ROWS;
        fill(rows + first * {columns}, n, s);
        for (i = 0; i < n; i++)
            for (k = 0; k < n_slots; k++) out[(first + i) * n_slots + k] = s[slots[k]][i];
    }}
}}

void {name}_values(const double *rows, size_t n_rows, double *values) {{
    gather(rows, n_rows, value_slots, {upper}_VALUES, values);
}}

void {name}_scores(const double *rows, size_t n_rows, double *scores) {{
    gather(rows, n_rows, score_slots, {upper}_SCORES, scores);
}}

void {name}_labels(const double *rows, size_t n_rows, int *labels) {{
    Block s;
    size_t first, i, k;
    int label;
    for (first = 0; first < n_rows; first += ROWS) {{
        const size_t n = n_rows - first < ROWS ? n_rows - first : ROWS;
        fill(rows + first * {columns}, n, s);
        for (i = 0; i < n; i++)
            for (label = 0; label < {upper}_LABELS; label++) {{
                const uint32_t *decided = decided_slots + label_starts[label];
                const size_t n_decided = label_starts[label + 1] - label_starts[label];
                size_t best = 0;
                for (k = 1; k < n_decided; k++) best = s[decided[k]][i] > s[decided[best]][i] ? k : best;
                if (label_rules[label] == 1) best = s[decided[0]][i] > 0.0;
                labels[(first + i) * {upper}_LABELS + (size_t)label] =
                    label_rules[label] == 2 && s[decided[best]][i] <= 0.5 ? -1 : (int)best;
            }}
    }}
}}

const char *{name}_column(size_t column) {{ return column < {columns} ? columns[column] : NULL; }}

double {name}_code(size_t column, const char *category) {{
    uint32_t at;
    if (column >= {columns}) return NAN;
    for (at = category_starts[column]; at < category_starts[column + 1]; at++)
        if (strcmp(categories[at], category) == 0) return (double)(at - category_starts[column]);
    return NAN;
}}

const char *{name}_class(size_t label, size_t position) {{
    if (label >= {upper}_LABELS || position >= class_starts[label + 1] - class_starts[label]) return NULL;
    return classes[class_starts[label] + position];
}}
"""
