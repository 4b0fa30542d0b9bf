// Timelines: zoom by wheel, keys or a drag; hover or the arrow keys read a bar; a click shows what
// it depends on.

const rowHeight = 17, axisHeight = 24;

// makeTimeline draws the timeline of a part on a canvas.
function makeTimeline(part, section) {
  const timeline = part.timeline;
  const bars = barsOf(timeline);
  connect(timeline, bars);
  const label = timeline.rows.map((r) => [r.node, r.rank, r.lane].filter(Boolean).join("  "));
  const whose = namesOfRanks(timeline.rows);
  const view = { from: 0, to: Math.max(1, timeline.end), rows: bars.map((_, i) => i), path: true,
    hidden: new Set(), picked: null, chain: [], over: null };
  const canvas = el("canvas", { tabindex: 0, role: "application", "aria-label":
    "timeline: + and − zoom, 0 shows all, arrow keys go from bar to bar, Enter shows what a bar depends on" });
  const spacer = el("div");
  const frame = el("div", { class: "frame" }, canvas, spacer);
  const detail = el("p", { class: "detail", "aria-live": "polite" });
  const context = canvas.getContext("2d");
  let left = 120, width = 800, height = 200, asked = false;

  const x = (t) => left + ((t - view.from) / (view.to - view.from)) * (width - left);
  const timeAt = (px) => view.from + ((px - left) / (width - left)) * (view.to - view.from);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function resize() {
    width = Math.max(320, frame.clientWidth);
    height = Math.min(560, axisHeight + view.rows.length * rowHeight);
    const dense = window.devicePixelRatio || 1;
    Object.assign(canvas, { width: width * dense, height: height * dense });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    spacer.style.height = `${Math.max(0, axisHeight + view.rows.length * rowHeight - height)}px`;
    context.setTransform(dense, 0, 0, dense, 0, 0);
    context.font = "12px system-ui, 'Liberation Sans', Arial, sans-serif";
    left = Math.min(width * 0.4, 14 + Math.max(0, ...label.map((text) => context.measureText(text).width)));
    ask();
  }
  // ask draws at the next frame, once.
  function ask() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  }
  function draw() {
    context.clearRect(0, 0, width, height);
    const scrolled = frame.scrollTop;
    const first = Math.floor(scrolled / rowHeight);
    const last = Math.min(view.rows.length, first + Math.ceil((height - axisHeight) / rowHeight) + 1);
    const ink = colour("--ink"), wait = colour("--wait"), paper = colour("--paper");
    const chosen = new Set(view.chain);
    context.save();
    context.beginPath();
    context.rect(0, axisHeight, width, height - axisHeight);
    context.clip();
    for (let n = first; n < last; n++) {
      const row = view.rows[n], y = axisHeight + n * rowHeight - scrolled;
      drawRow(bars[row], y, wait, ink, chosen);
      context.fillStyle = paper;
      context.fillRect(0, y, left - 2, rowHeight);
      context.fillStyle = ink;
      context.fillText(label[row], 4, y + 12, left - 10);
    }
    if (view.path) drawPath(scrolled);
    drawChain(scrolled);
    context.restore();
    drawAxis(ink);
  }
  // drawRow draws the bars of a row. Bars narrower than a pixel are drawn as one.
  function drawRow(list, y, wait, ink, chosen) {
    let drawn = -1;
    for (let i = firstAfter(list, view.from); i < list.length; i++) {
      const bar = list[i];
      if (bar.start - bar.waited > view.to) break;
      const paints = timeline.paints[bar.paint];
      if (view.hidden.has(bar.paint)) continue;
      const from = Math.max(left, x(bar.start)), to = Math.min(width, x(bar.end));
      if (bar.waited > 0) {
        const since = Math.max(left, x(bar.start - bar.waited));
        context.fillStyle = wait;
        if (from - since > 0.5) context.fillRect(since, y + 4, from - since, rowHeight - 8);
      }
      const wide = Math.max(1, to - from - 0.5);
      if (to - from < 1 && Math.floor(from) === drawn && !chosen.has(bar)) continue;
      drawn = Math.floor(from);
      context.globalAlpha = chosen.size > 0 && !chosen.has(bar) ? 0.3 : 1;
      context.fillStyle = paints.Fill;
      const tall = bar.share > 0 ? Math.max(1, (rowHeight - 4) * bar.share / 1000) : rowHeight - 4;
      context.fillRect(from, y + 2 + (rowHeight - 4 - tall), wide, tall);
      if (wide > 22) {
        context.fillStyle = paints.Ink;
        const text = bar.chunk >= 0 ? `${paints.Letter}${bar.chunk}` : bar.name;
        if (context.measureText(text).width < wide - 4) context.fillText(text, from + 3, y + 12.5);
      }
      context.globalAlpha = 1;
      if (bar === view.picked || bar === view.over) {
        context.strokeStyle = ink;
        context.lineWidth = 2;
        context.strokeRect(from, y + 1, wide, rowHeight - 2);
      }
    }
  }
  const middle = (n, scrolled) => axisHeight + (n + 0.5) * rowHeight - scrolled;
  function drawPath(scrolled) {
    const place = new Map(view.rows.map((row, n) => [row, n]));
    context.strokeStyle = colour("--path");
    context.lineWidth = 2;
    let before = null;
    context.beginPath();
    for (const [row, from, to] of timeline.path) {
      const n = place.get(row);
      if (n === undefined) { before = null; continue; }
      const y = middle(n, scrolled) + rowHeight / 2 - 1;
      if (before !== null) context.lineTo(x(from), y);
      else context.moveTo(x(from), y);
      context.lineTo(x(to), y);
      before = row;
    }
    context.stroke();
  }
  function drawChain(scrolled) {
    if (view.chain.length < 2) return;
    const place = new Map(view.rows.map((row, n) => [row, n]));
    context.strokeStyle = colour("--ink");
    context.lineWidth = 1.5;
    context.beginPath();
    for (let i = 0; i + 1 < view.chain.length; i++) {
      const a = view.chain[i + 1], b = view.chain[i];
      if (a.row === b.row || !place.has(a.row) || !place.has(b.row)) continue;
      context.moveTo(Math.max(left, x(a.end)), middle(place.get(a.row), scrolled));
      context.lineTo(Math.max(left, x(b.start)), middle(place.get(b.row), scrolled));
    }
    context.stroke();
  }
  function drawAxis(ink) {
    context.fillStyle = colour("--paper");
    context.fillRect(0, 0, width, axisHeight);
    context.fillStyle = ink;
    context.strokeStyle = colour("--rule");
    context.lineWidth = 1;
    for (const t of ticks(view.from, view.to, Math.max(2, (width - left) / 130))) {
      const at = x(t);
      if (at < left) continue;
      context.beginPath();
      context.moveTo(at, axisHeight - 5);
      context.lineTo(at, height);
      context.globalAlpha = 0.5;
      context.stroke();
      context.globalAlpha = 1;
      const text = timeText(t), wide = context.measureText(text).width;
      context.fillText(text, Math.min(at - wide / 2, width - wide - 2), 14);
    }
  }

  // zoom shows a share of the time around a place.
  function zoom(by, px = (left + width) / 2) {
    const t = timeAt(px), span = Math.max(100, (view.to - view.from) * by);
    show(t - ((t - view.from) / (view.to - view.from)) * span, span);
  }
  function show(from, span) {
    span = Math.min(span, Math.max(1, timeline.end));
    view.from = Math.max(0, Math.min(from, timeline.end - span));
    view.to = view.from + span;
    ask();
  }
  function barAt(event) {
    const box = canvas.getBoundingClientRect();
    const px = event.clientX - box.left, py = event.clientY - box.top;
    const row = view.rows[Math.floor((py - axisHeight + frame.scrollTop) / rowHeight)];
    if (row === undefined || py < axisHeight || px < left) return null;
    const near = timeAt(px + 2) - timeAt(px), t = timeAt(px), list = bars[row];
    for (let i = firstAfter(list, t - near); i < list.length && list[i].start - near <= t; i++) {
      if (list[i].end + near >= t && !view.hidden.has(list[i].paint)) return list[i];
    }
    return null;
  }
  // describe says what is known of a bar, a fact a line.
  function describe(bar) {
    const facts = [`${whose[bar.row]}: ${bar.share > 0 ? `${bar.share / 10} % busy` : bar.name}`];
    const more = [bar.chunk >= 0 && `chunk ${bar.chunk}${bar.slice > 0 ? `, slice ${bar.slice}` : ""}`,
      bar.round > 0 && `round ${bar.round}`, bar.peer >= 0 && `peer rank ${bar.peer}`,
      bar.bytes > 0 && bytesText(bar.bytes)].filter(Boolean);
    if (more.length > 0) facts.push(more.join(", "));
    facts.push(`${timeText(bar.start)} to ${timeText(bar.end)}: ${timeText(bar.time)}` +
      (bar.waited > 0 ? `, after waiting ${timeText(bar.waited)}` : ""));
    return facts.join("\n");
  }
  function pick(bar, withChain) {
    view.picked = bar;
    view.chain = bar && withChain ? chainOf(bar, bars) : [];
    detail.textContent = bar ? describe(bar) + chainText() : "";
    if (bar) reveal(bar);
    ask();
  }
  function chainText() {
    if (view.chain.length === 0) return "";
    const first = view.chain[view.chain.length - 1];
    const hops = view.chain.filter((b, i) => i > 0 && b.row !== view.chain[i - 1].row).length;
    return `\nIt depends on a chain of ${view.chain.length - 1} steps with ${hops} messages, back to ` +
      `${whose[first.row]} at ${timeText(first.start)}.`;
  }
  // reveal scrolls to a bar that is out of sight.
  function reveal(bar) {
    const n = view.rows.indexOf(bar.row), y = n * rowHeight;
    if (y < frame.scrollTop) frame.scrollTop = y;
    else if (y + rowHeight + axisHeight > frame.scrollTop + height) frame.scrollTop = y + rowHeight + axisHeight - height;
    const span = view.to - view.from;
    if (bar.end < view.from || bar.start > view.to) show((bar.start + bar.end - span) / 2, span);
  }
  // move goes from the picked bar to the next: on its row, or on a row above or below.
  function move(rows, steps) {
    const now = view.picked ?? bars[view.rows[0]]?.[0];
    if (!now) return;
    const n = Math.max(0, Math.min(view.rows.length - 1, view.rows.indexOf(now.row) + rows));
    const list = bars[view.rows[n]];
    const at = rows === 0 ? now.index + (view.picked ? steps : 0) : firstAfter(list, now.start);
    pick(list[Math.max(0, Math.min(list.length - 1, at))] ?? now, false);
  }

  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.shiftKey && !event.altKey && event.deltaY !== 0 &&
      document.activeElement !== canvas) return; // the page scrolls until the timeline has the focus
    event.preventDefault();
    if (event.shiftKey) show(view.from + (view.to - view.from) * event.deltaY / 800, view.to - view.from);
    else zoom(Math.exp(event.deltaY / 400), event.clientX - canvas.getBoundingClientRect().left);
  }, { passive: false });
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, from: view.from, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (drag && Math.abs(event.clientX - drag.x) > 3) {
      drag.moved = true;
      tip.hide();
      const span = view.to - view.from;
      show(drag.from - ((event.clientX - drag.x) / (width - left)) * span, span);
      return;
    }
    const bar = barAt(event);
    if (bar !== view.over) { view.over = bar; ask(); }
    if (bar) tip.show(event.clientX, event.clientY, describe(bar));
    else tip.hide();
  });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) pick(barAt(event), true);
    drag = null;
  });
  canvas.addEventListener("pointerleave", () => { tip.hide(); view.over = null; ask(); });
  canvas.addEventListener("dblclick", () => show(0, timeline.end));
  canvas.addEventListener("keydown", (event) => {
    const does = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => show(0, timeline.end),
      ArrowLeft: () => move(0, -1), ArrowRight: () => move(0, 1), ArrowUp: () => move(-1, 0),
      ArrowDown: () => move(1, 0), Enter: () => pick(view.picked, true), Escape: () => pick(null, false),
      Home: () => show(0, view.to - view.from), End: () => show(timeline.end, view.to - view.from) }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
  });
  frame.addEventListener("scroll", ask);
  new ResizeObserver(resize).observe(frame);
  document.addEventListener("themechange", ask);

  // choose shows the rows whose labels, or ranks, fit a text such as "0-3, 12" or "copy engine".
  function choose(text) {
    const ranges = text.split(",").map((one) => one.trim().match(/^(\d+)(?:\s*-\s*(\d+))?$/)).filter(Boolean);
    const wanted = text.trim().toLowerCase();
    view.rows = bars.map((_, i) => i).filter((i) => wanted === "" ||
      (ranges.length > 0 ? ranges.some((r) => inRange(rankOf(whose[i]), +r[1], +(r[2] ?? r[1]))) :
        `${whose[i]} ${label[i]}`.toLowerCase().includes(wanted)));
    frame.scrollTop = 0;
    resize();
  }
  const used = new Set(bars.flat().map((b) => b.paint));
  const controls = el("div", { class: "controls" },
    el("button", { type: "button", onclick: () => zoom(0.5) }, "zoom in"),
    el("button", { type: "button", onclick: () => zoom(2) }, "zoom out"),
    el("button", { type: "button", onclick: () => show(0, timeline.end) }, "all"),
    el("label", {}, "rows", el("input", { type: "search", placeholder: "0-3, 8 or a name", size: 16,
      oninput: (event) => choose(event.target.value) })));
  if (timeline.path.length > 0) {
    controls.append(toggle("critical path", true, (on) => { view.path = on; ask(); }));
  }
  timeline.paints.forEach((p, i) => {
    if (!used.has(i)) return;
    const swatch = el("span", { class: "swatch", style: `background:${p.Fill}` });
    controls.append(toggle([swatch, p.Name], true, (on) => {
      if (on) view.hidden.delete(i);
      else view.hidden.add(i);
      ask();
    }, { class: "series" }));
  });
  section.querySelector(".live").append(controls, frame, detail,
    ...timeline.notes.map((text) => el("p", { class: "note" }, text)));
  resize();
}

const inRange = (n, low, high) => n >= low && n <= high;

// rankOf returns the number in "rank 3 gpu3, lane 0".
const rankOf = (text) => +(text.match(/rank (\d+)/)?.[1] ?? -1);

// namesOfRanks names the rank and lane of every row. A rank's name stands on its first row only.
function namesOfRanks(rows) {
  let rank = "";
  return rows.map((r) => {
    if (r.rank) rank = r.rank;
    return [rank, r.lane].filter(Boolean).join(", ");
  });
}

// firstAfter returns the index of the first bar of a row that ends at or after a time.
function firstAfter(list, t) {
  let low = 0, high = list.length;
  while (low < high) {
    const at = (low + high) >> 1;
    if (list[at].end < t) low = at + 1;
    else high = at;
  }
  return low;
}
