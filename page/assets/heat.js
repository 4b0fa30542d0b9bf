// Heat maps: any column over two keys, by its value or by which of a third key wins.

// makeHeat adds the heat map of a table's part. It returns a function that takes the rows that a
// filter leaves; undefined where no two keys vary.
function makeHeat(part, section) {
  const keys = part.table.columns.filter((c) => c.key && c.texts.length > 1);
  const figures = part.table.columns.filter((c) => c.values && !c.key &&
    new Set(c.values).size > 1);
  if (!part.table.heat || keys.length < 2 || figures.length === 0) return undefined;
  const wide = [...keys].sort((a, b) => b.texts.length - a.texts.length);
  const state = { figure: figures.find((c) => c.name === "busbw") ?? figures[0], across: wide[0],
    down: keys.find((c) => c !== wide[0]), winner: false };
  let rows = part.table.columns[0].values ?? part.table.columns[0].indices;
  rows = rows.map((_, i) => i);
  const box = el("div", { class: "wide", tabindex: 0 });
  const explains = el("p", { class: "note" });

  // best returns the row with the best figure.
  function best(list) {
    const v = state.figure.values, sign = state.figure.low ? -1 : 1;
    return list.filter((i) => v[i] !== null).reduce((a, b) => (a === undefined || sign * v[b] > sign * v[a] ? b : a),
      undefined);
  }
  function draw() {
    const { figure, across, down } = state;
    const rest = keys.filter((c) => c !== across && c !== down);
    const nameOf = (row) => rest.map((c) => c.texts[c.indices[row]]).join(", ");
    const cells = new Map();
    for (const row of rows) {
      const place = `${down.indices[row]} ${across.indices[row]}`;
      if (!cells.has(place)) cells.set(place, []);
      cells.get(place).push(row);
    }
    const tops = [...cells.values()].map(best).filter((i) => i !== undefined);
    const values = tops.map((i) => figure.values[i]);
    const low = Math.min(...values), high = Math.max(...values);
    const log = low > 0 && high / low > 30;
    const share = scale(low, high, 4, 96, log);
    const winners = [...new Set(tops.map(nameOf))].sort();
    const head = el("tr", {}, el("th", { scope: "col" }, `${down.name} \\ ${across.name}`),
      ...across.texts.map((text) => el("th", { scope: "col" }, text)));
    const body = down.texts.map((text, y) => el("tr", {}, el("th", { scope: "row" }, text),
      ...across.texts.map((_, x) => {
        const row = best(cells.get(`${y} ${x}`) ?? []);
        if (row === undefined) return el("td");
        const name = nameOf(row), part = share(figure.values[row]).toFixed(0);
        const style = state.winner ?
          `background:color-mix(in srgb, ${paint(winners.indexOf(name))} 40%, var(--paper))` :
          `background:color-mix(in srgb, var(--high) ${part}%, var(--low));color:${part > 60 ? "#fff" : "var(--ink)"}`;
        return el("td", { style, title: `${down.name} ${text}, ${across.name} ${across.texts[x]}: ` +
          `${numberText(figure.values[row])}${name && ` by ${name}`}` },
          state.winner ? name : numberText(figure.values[row]));
      })));
    box.replaceChildren(el("table", { class: "heat" }, el("thead", {}, head), el("tbody", {}, ...body)));
    explains.textContent = rest.length === 0 ? "" : `Each cell has the best of ${rest.map((c) => c.name).join(", ")}.`;
  }
  const pick = (name, list) => choice(name, list.map((c, i) => [i, c.name + (c.unit ? ` ${c.unit}` : "")]),
    list.indexOf({ figure: state.figure, across: state.across, down: state.down }[name]),
    (i) => { state[name] = list[i]; draw(); });
  section.append(el("details", { class: "heatmap" }, el("summary", {}, "Heat map"),
    el("div", { class: "controls" }, pick("figure", figures), pick("across", keys), pick("down", keys),
      toggle("colour by winner", false, (on) => { state.winner = on; draw(); })),
    explains, box));
  draw();
  return (left) => { rows = left; draw(); };
}
