"use strict";

/* Which gates a neuron can have on a few samples, held against the package's `gates.are_realisable`:
   on where wᵀx > 0. Inputs have a row for each sample, a pattern has 0 or 1 for each. */
Object.assign(Theory, (() => {
  const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  const SMALL = 1e-9;

  /* All choices of some of the numbers below `count`, by their size. */
  function choices(count) {
    const all = Array.from({ length: 2 ** count }, (_, bits) =>
      Array.from({ length: count }, (_, i) => i).filter((i) => (bits >> i) & 1));
    return all.sort((one, other) => one.length - other.length);
  }

  /* The shortest w with wᵀx = value for all of these samples; null if they are dependent. */
  function solve(samples, values) {
    const size = samples.length;
    const rows = samples.map((x, i) => [...samples.map((y) => dot(x, y)), values[i]]);
    for (let k = 0; k < size; k++) {
      const best = rows.reduce((at, row, i) =>
        (i > k && Math.abs(row[k]) > Math.abs(rows[at][k]) ? i : at), k);
      [rows[k], rows[best]] = [rows[best], rows[k]];
      if (Math.abs(rows[k][k]) < SMALL) return null;
      rows.forEach((row, i) => {
        const share = row[k] / rows[k][k];
        if (i !== k) row.forEach((_, j) => (row[j] -= share * rows[k][j]));
      });
    }
    return samples[0].map((_, j) =>
      samples.reduce((sum, x, k) => sum + (x[j] * rows[k][size]) / rows[k][k], 0));
  }

  /* The same weights as small whole numbers. */
  function whole(w) {
    for (let factor = 1; factor < 1000; factor++) {
      const scaled = w.map((value) => Math.round(factor * value));
      if (w.every((value, i) => Math.abs(factor * value - scaled[i]) < 1e-6)) {
        const divide = (a, b) => (b ? divide(b, a % b) : a);
        const common = scaled.reduce((a, b) => divide(a, Math.abs(b)), 0) || 1;
        return scaled.map((value) => value / common || 0);
      }
    }
    return w;
  }

  /* Weights that have the pattern, or null. Weights with wᵀx >= 1 where on and <= 0 where off form
     a polyhedron. If there are any, some meet as many of these as equalities as the inputs have
     dimensions: all such choices are tried, and the shortest weights are returned. */
  function halfSpace(inputs, pattern) {
    let [found, size] = [null, 0];
    for (const chosen of choices(inputs.length).reverse()) {
      if (chosen.length === 0 || chosen.length < size) break;
      const w = solve(chosen.map((i) => inputs[i]), chosen.map((i) => pattern[i]));
      if (!w) continue;
      size = chosen.length;
      const holds = inputs.every((x, i) => (pattern[i] ? dot(w, x) > 1 - 1e-6 : dot(w, x) < 1e-6));
      if (holds && !(found && dot(found, found) <= dot(w, w) + SMALL)) found = w;
    }
    return found && whole(found);
  }

  /* The fewest samples on which no neuron has the pattern, or null. */
  const conflictOf = (inputs, pattern) => choices(inputs.length).find((chosen) => chosen.length
    && !halfSpace(chosen.map((i) => inputs[i]), chosen.map((i) => pattern[i]))) || null;

  /* How many patterns there are weights for. */
  function countHalfSpaces(inputs) {
    const patterns = choices(inputs.length).map((on) => inputs.map((_, i) => Number(on.includes(i))));
    return patterns.filter((pattern) => halfSpace(inputs, pattern)).length;
  }

  return { halfSpace, conflictOf, countHalfSpaces };
})());
