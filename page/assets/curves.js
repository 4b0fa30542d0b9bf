// Curves over sizes: hover or the arrow keys read values, axes are logarithmic or linear, and a
// curve can be hidden.

const chart = { width: 1000, height: 420, left: 64, right: 24, top: 14, bottom: 46 };

// makeCurves draws the curves of a part.
function makeCurves(part, section) {
  const all = part.curves.series, names = part.curves.names;
  const groups = [...new Set(all.map((s) => s.group ?? ""))];
  const state = { logX: !names, logY: false, group: groups.length > 6 ? groups[0] : "*",
    hidden: new Set(), at: -1 };
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${chart.width} ${chart.height}`,
    tabindex: 0, role: "img", "aria-label": `${section.querySelector("h2, h3").textContent}: curves of ` +
      `${part.curves.y} over ${part.curves.x}; arrow keys read values` });
  const reading = el("p", { class: "detail", "aria-live": "polite" });
  const label = (s) => (s.group && groups.length > 1 ? `${s.name}, ${s.group}` : s.name);
  const xText = (x) => (names ? names[x - 1] : part.curves.plain ? numberText(x) : bytesText(x));
  let axis = null;

  const colourOf = (s) => s.bound ? "var(--dim)" : s.shade === undefined ? paint(s.look) :
    `color-mix(in srgb, var(--far) ${Math.round(100 * s.shade)}%, var(--near))`;
  const visible = () => all.filter((s) => !state.hidden.has(s) &&
    (state.group === "*" || (s.group ?? "") === state.group));

  function bounds(series) {
    const xs = series.flatMap((s) => s.x);
    const ys = series.flatMap((s) => s.y).filter((y) => !state.logY || y > 0);
    const low = state.logY ? Math.min(...ys) : 0, high = Math.max(...ys, state.logY ? 0 : 1e-9);
    let [from, to] = [Math.min(...xs), Math.max(...xs)];
    if (from === to) [from, to] = [from / 2, to * 2];
    return { from, to, low: low === high ? low / 2 : low, high: high * (state.logY ? 1.2 : 1.05) };
  }

  function draw() {
    const series = visible();
    picture.replaceChildren();
    if (series.length === 0) return;
    const b = bounds(series);
    axis = { xs: [...new Set(series.flatMap((s) => s.x))].sort((p, q) => p - q),
      x: scale(b.from, b.to, chart.left, chart.width - chart.right, state.logX),
      y: scale(b.low, b.high, chart.height - chart.bottom, chart.top, state.logY) };
    drawAxes(b);
    for (const s of series) drawSeries(s);
    drawCursor(series);
  }

  function drawAxes(b) {
    const bottom = chart.height - chart.bottom, right = chart.width - chart.right;
    const ys = state.logY ? logTicks(b.low, b.high, 10, 8) : ticks(b.low, b.high, 7);
    for (const y of ys) {
      picture.append(svg("line", { class: "grid", x1: chart.left, x2: right, y1: axis.y(y), y2: axis.y(y) }),
        svg("text", { x: chart.left - 6, y: axis.y(y) + 4, "text-anchor": "end" }, numberText(y)));
    }
    const xs = names ? names.map((_, i) => i + 1).filter((x) => x >= b.from && x <= b.to) :
      state.logX ? logTicks(b.from, b.to, 2, 10) : ticks(b.from, b.to, 8);
    for (const x of xs) {
      picture.append(svg("line", { class: "grid", x1: axis.x(x), x2: axis.x(x), y1: bottom, y2: bottom + 5 }),
        svg("text", { x: axis.x(x), y: bottom + 19, "text-anchor": "middle" }, xText(x)));
    }
    picture.append(
      svg("text", { x: (chart.left + right) / 2, y: chart.height - 6, "text-anchor": "middle" }, part.curves.x),
      svg("text", { transform: `translate(14 ${(chart.top + bottom) / 2}) rotate(-90)`,
        "text-anchor": "middle" }, part.curves.y));
  }

  function drawSeries(s) {
    const points = s.x.map((x, i) => [axis.x(x), axis.y(s.y[i])]).filter(([, y]) => isFinite(y));
    const colour = colourOf(s);
    picture.append(svg("polyline", { points: points.map((p) => p.join()).join(" "), fill: "none",
      stroke: colour, "stroke-width": s.bound ? 1.5 : 2,
      "stroke-dasharray": s.bound ? "6 4" : s.name === "measured" ? "2 3" : undefined },
      svg("title", {}, label(s))));
    if (s.bound) return;
    for (const [x, y] of points) picture.append(marker(s.look, x, y, colour));
  }

  function drawCursor(series) {
    if (state.at < 0) {
      reading.textContent = "";
      return;
    }
    const x = axis.xs[Math.min(state.at, axis.xs.length - 1)];
    picture.append(svg("line", { class: "cursor", x1: axis.x(x), x2: axis.x(x), y1: chart.top,
      y2: chart.height - chart.bottom }));
    const lines = series.map((s) => [s, s.y[s.x.indexOf(x)]]).filter(([, y]) => y !== undefined)
      .sort((p, q) => q[1] - p[1]).map(([s, y]) => `${numberText(y)}  ${label(s)}`);
    reading.textContent = `${xText(x)}\n${lines.join("\n")}`;
  }

  // nearest returns the place of the size that is nearest to the pointer.
  function nearest(event) {
    const box = picture.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * chart.width;
    let best = 0;
    axis.xs.forEach((x, i) => {
      if (Math.abs(axis.x(x) - at) < Math.abs(axis.x(axis.xs[best]) - at)) best = i;
    });
    return best;
  }
  function read(at) {
    if (at === state.at) return;
    state.at = at;
    draw();
  }
  picture.addEventListener("pointermove", (event) => {
    if (!axis) return;
    read(nearest(event));
    tip.show(event.clientX, event.clientY, reading.textContent);
  });
  picture.addEventListener("pointerleave", () => { tip.hide(); read(-1); });
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") read(-1);
    if (!step || !axis) return;
    event.preventDefault();
    read(Math.max(0, Math.min(axis.xs.length - 1, state.at < 0 ? 0 : state.at + step)));
  });

  const controls = el("div", { class: "controls" });
  if (!names) controls.append(toggle("log x", state.logX, (on) => { state.logX = on; draw(); }));
  controls.append(toggle("log y", false, (on) => { state.logY = on; draw(); }));
  if (groups.length > 1) {
    controls.append(choice("show", [["*", "all"], ...groups.map((g) => [g, g || "others"])], state.group,
      (g) => { state.group = g; draw(); }));
  }
  for (const s of all) {
    const swatch = el("span", { class: "swatch", style: `background:${colourOf(s)}` });
    controls.append(toggle([swatch, label(s)], true, (on) => {
      if (on) state.hidden.delete(s);
      else state.hidden.add(s);
      draw();
    }, { class: "series" }));
  }
  section.querySelector(".live").append(controls, picture, reading);
  draw();
}

// marker draws the mark of a look: disc, square, triangle or diamond.
function marker(look, x, y, colour) {
  const r = 4;
  switch ((look + Math.floor(look / data.paints.length)) % 4) {
    case 0: return svg("circle", { cx: x, cy: y, r: r - 0.5, fill: colour });
    case 1: return svg("rect", { x: x - 3.5, y: y - 3.5, width: 7, height: 7, fill: colour });
    case 2: return svg("path", { d: `M${x} ${y - r}L${x + r} ${y + r}L${x - r} ${y + r}Z`, fill: colour });
    default: return svg("path", { d: `M${x} ${y - r - 1}L${x + r + 1} ${y}L${x} ${y + r + 1}L${x - r - 1} ${y}Z`,
      fill: colour });
  }
}
