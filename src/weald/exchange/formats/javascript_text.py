"""What every exported JavaScript module contains behind its tables."""

from __future__ import annotations

from typing import Final

RUNTIME: Final = """
const view = new DataView(new ArrayBuffer(8));

function powerOfTwo(k) {
  view.setUint32(0, (k + 1023) << 20);
  view.setUint32(4, 0);
  return view.getFloat64(0);
}

// e to the power of x by additions and multiplications, the same bits everywhere.
function exponential(x) {
  x = x < -746 ? -746 : x > 710 ? 710 : x;
  if (x !== x) return x;
  const rounder = 6755399441055744;
  const exponent = x * 1.4426950408889634 + rounder - rounder;
  const r = x - exponent * 0.6931471803691238 - exponent * 1.9082149292705877e-10;
  let tail = 1 / 479001600 + r * (1 / 6227020800);
  for (const factorial of [39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2]) tail = 1 / factorial + r * tail;
  const half = exponent * 0.5 + rounder - rounder;
  return (1 + (r + r * r * tail)) * powerOfTwo(half) * powerOfTwo(exponent - half);
}

const exp = (x) => Math.min(exponential(x), Number.MAX_VALUE);
const sigmoid = (x) => 1 / (1 + exponential(-x));
const step = (x) => (x > 0 ? 1 : 0);
const double = (x) => 2 * x;
const complement = (x) => 1 - x;
const choose_above = step;

function leafOf(row, reads, t, node) {
  while (t.feature[node] >= 0) {
    const x = row[reads[t.feature[node]]];
    const set = t.sets.get(node);
    const goesLeft = x !== x ? t.missingLeft[node] : set ? set.has(x) : x <= t.threshold[node];
    node = goesLeft ? t.left[node] : t.left[node] + 1;
  }
  return node;
}

function trees(row, reads, t, base, averaged, divisor) {
  const sums = base.map((start) => (averaged ? 0 : start));
  t.roots.forEach((root, number) => {
    const value = t.values[leafOf(row, reads, t, root)];
    if (Array.isArray(value)) value.forEach((one, output) => (sums[output] += one));
    else sums[number % base.length] += value;
  });
  return sums.map((sum, output) => (averaged ? sum / averaged + base[output] : sum) / divisor);
}

const treeValues = (row, reads, t) => t.roots.map((root) => t.values[leafOf(row, reads, t, root)]);

function lookup(row, reads, sizes, cells, otherwise) {
  let group = 0;
  reads.forEach((slot, k) => (group = group * sizes[k] + (row[slot] !== row[slot] ? sizes[k] - 1 : row[slot])));
  return cells.get(group) || otherwise;
}

function weighted(row, reads, start, weights) {
  return start.map((score, k) => {
    reads.forEach((slot, j) => {
      const x = row[slot];
      if (weights[k][j] !== 0) score += weights[k][j] * (x !== x ? 0 : x);
    });
    return score;
  });
}

const mapped = (row, reads, f) => reads.map((slot) => f(row[slot]));
const divide = (row, reads, by) => reads.map((slot) => row[slot] / by);

function shares(powers) {
  let total = 0;
  for (const power of powers) total += power;
  return powers.map((power) => power / total);
}

function softmax(row, reads) {
  const most = reads.reduce((most, slot) => (row[slot] > most ? row[slot] : most), row[reads[0]]);
  return shares(reads.map((slot) => exponential(row[slot] - most)));
}

function oneVsRest(row, reads) {
  const shift = Math.min(Math.max(...reads.map((slot) => row[slot])), 0);
  const part = (x) => (x > 0 ? 1 : exponential(x - shift)) / (1 + exponential(-Math.abs(x)));
  return shares(reads.map((slot) => part(row[slot])));
}

function average(row, reads, members, weights) {
  const size = reads.length / members;
  return Array.from({ length: size }, (_, k) => {
    let total = weights.length ? 0 : row[reads[k]];
    for (let m = weights.length ? 0 : 1; m < members; m++) {
      const said = row[reads[m * size + k]];
      total += weights.length ? weights[m] * said : said;
    }
    return weights.length ? total : total / members;
  });
}

const largest = (values) => values.reduce((best, value, place) => (value > values[best] ? place : best), 0);
const choose = (row, reads) => [largest(reads.map((slot) => row[slot]))];

function roundHalfEven(x) {
  return x + 6755399441055744 - 6755399441055744;
}

function votes(row, reads, weights, count, rounded) {
  const sums = new Array(count).fill(0);
  reads.forEach((slot, k) => (sums[row[slot]] += weights[k]));
  return rounded ? sums.map((sum) => roundHalfEven(sum * 1e12) / 1e12) : sums;
}

function median(row, reads, weights) {
  const order = reads.map((_, k) => k).sort((a, b) => row[reads[a]] - row[reads[b]] || a - b);
  let below = 0;
  const sums = order.map((k) => (below += weights[k]));
  return [row[reads[order[sums.findIndex((sum) => sum >= 0.5 * below)]]]];
}

const constant = (row, reads, values) => values;

const plain = (cell) => (typeof cell === "boolean" ? Number(cell) : cell);
const codes = categories.map((known) => known && new Map(known.map((one, code) => [plain(one), code])));

function number(cell, known) {
  if (known) {
    const code = known.get(plain(cell));
    return code === undefined ? NaN : code;
  }
  const x = cell === null || cell === undefined ? NaN : Number(cell);
  if (missing === "zero") return x === 0 ? NaN : x;
  return missing === "none" && x !== x ? 0 : x;
}

function slots(cells) {
  if (!Array.isArray(cells)) cells = columns.map((name) => cells[name]);
  if (cells.length !== columns.length) throw new RangeError(`a row has ${columns.length} columns, not ${cells.length}`);
  const row = cells.map((cell, k) => number(cell, codes[k]));
  for (const [f, ...rest] of steps) row.push(...f(row, ...rest));
  return row;
}

// The raw scores of a row.
export function scores(cells) {
  const row = slots(cells);
  return scoreSlots.map((slot) => row[slot]);
}

// The predictions of a row, or the probabilities of its classes, for every output.
export function predictValues(cells) {
  const row = slots(cells);
  return outputs.map((output) => output.values.map((slot) => row[slot]));
}

function labelOf(row, output) {
  if (!output.classes) return output.values.length === 1 ? row[output.values[0]] : output.values.map((slot) => row[slot]);
  const decided = output.decided.map((slot) => row[slot]);
  if (output.rule === "above") return output.classes[decided[0] > 0 ? 1 : 0];
  const place = largest(decided);
  return output.rule === "majority" && decided[place] <= 0.5 ? output.refusal : output.classes[place];
}

// The label of a row: a number or a class; an array where there are several.
export function predict(cells) {
  const row = slots(cells);
  const labels = outputs.map((output) => labelOf(row, output));
  return labels.length === 1 ? labels[0] : labels;
}
"""
