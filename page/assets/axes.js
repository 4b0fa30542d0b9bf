// Axes: places and labels of ticks.

// ticks returns about n round values from low to high.
function ticks(low, high, n) {
  const rough = (high - low) / Math.max(1, n) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough);
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) list.push(i * step);
  return list;
}

// logTicks returns powers of a base from low to high, at most n of them.
function logTicks(low, high, base, n) {
  const from = Math.ceil(Math.log(low) / Math.log(base) - 1e-9);
  const to = Math.floor(Math.log(high) / Math.log(base) + 1e-9);
  const every = Math.max(1, Math.ceil((to - from + 1) / n));
  const list = [];
  for (let k = from; k <= to; k += every) list.push(base ** k);
  return list.length > 1 ? list : [low, high];
}

// scale returns the function that maps low … high to from … to, on a logarithmic axis if log.
function scale(low, high, from, to, log) {
  const f = log ? Math.log : (x) => x;
  const a = f(low), span = f(high) - a || 1;
  return (x) => from + ((f(x) - a) / span) * (to - from);
}
