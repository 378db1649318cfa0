"use strict";

/* One mode of a network of any depth, its weights in two layers, and in two pathways. */
Object.assign(Theory, (() => {
  /* Runge and Kutta's steps of dx/dt = flow(x): x at the times 0, h, 2h, … */
  function integrate(flow, start, h, steps) {
    const along = (x, v, by) => x.map((value, i) => value + by * v[i]);
    const track = [start];
    for (let step = 0; step < steps; step++) {
      const x = track[step];
      const first = flow(x);
      const second = flow(along(x, first, h / 2));
      const third = flow(along(x, second, h / 2));
      const last = flow(along(x, third, h));
      track.push(x.map((value, i) =>
        value + (h / 6) * (first[i] + 2 * second[i] + 2 * third[i] + last[i])));
    }
    return track;
  }

  const logit = (share) => Math.log(share / (1 - share));

  /* Times at which a balanced mode of L layers has learned these shares of s/d, in rising order:
     da/dt = L a^(2-2/L) (s - d a). In the logit y of the share x the flow is dt/dy = x^(2/L-1) times
     a constant, which is smooth: Simpson's rule. */
  function depthTimes(shares, s, d, start, depth) {
    const power = 1 - 2 / depth;
    const slope = (y) => (1 + Math.exp(-y)) ** power;
    let [time, y] = [0, logit((start * d) / s)];
    return shares.map((share) => {
      const width = logit(share) - y;
      const panels = Math.ceil(10 * Math.abs(width)) || 1;
      const half = width / panels / 2;
      for (let panel = 0; panel < panels; panel++, y += 2 * half) {
        time += (half / 3) * (slope(y) + 4 * slope(y + half) + slope(y + 2 * half));
      }
      return (time * (d / s) ** power) / (depth * s);
    });
  }

  /* The weights of a mode in the two layers, dp/dt = q (s - d pq) and dq/dt = p (s - d pq). */
  function layerWeights(start, s, d, h, steps) {
    return integrate(([p, q]) => [q * (s - d * p * q), p * (s - d * p * q)], start, h, steps);
  }

  /* Where they end: pq = s/d on the same hyperbola, on the side of p + q; at 0 if p = -q. */
  function layerEnd([p, q], s, d) {
    const kept = p * p - q * q;
    const sum = Math.hypot(kept, (2 * s) / d); // p² + q²
    return [sum + kept, sum - kept].map((twice) => Math.sign(p + q) * Math.sqrt(twice / 2));
  }

  /* Strengths of a mode in a pathway that is always active and in one that is on a fraction f:
     da/dt = 2a (s - d a - f d b), db/dt = 2f b (s - d a - d b), in logarithms. */
  function pathwayRace(f, s, d, start, h, steps) {
    const flow = (logs) => {
      const [a, b] = logs.map(Math.exp);
      return [2 * (s - d * a - f * d * b), 2 * f * (s - d * a - d * b)];
    };
    const logs = integrate(flow, [Math.log(start), Math.log(start)], h, steps);
    return logs.map((both) => both.map(Math.exp));
  }

  return { integrate, depthTimes, layerWeights, layerEnd, pathwayRace };
})());
