// Tables: sort by a click on a heading, filter by keys, and further columns on demand.

// makeTable brings the table of a part to life. changed is called with the rows that are left
// whenever a filter changes.
function makeTable(part, section, changed) {
  const columns = part.table.columns;
  const body = section.querySelector("tbody");
  const rows = [...body.rows];
  const shown = columns.filter((c) => !c.hidden);
  const filters = new Map();
  let sorted = null, rising = true;

  function value(column, row) {
    if (column.values) return column.values[row];
    return column.texts[column.indices[row]];
  }
  function passes(row) {
    for (const [column, at] of filters) if (column.indices[row] !== at) return false;
    return true;
  }
  function arrange() {
    const order = rows.map((_, i) => i);
    if (sorted) {
      const less = (a, b) => {
        const x = value(sorted, a), y = value(sorted, b);
        if (x === null || y === null) return (x === null) - (y === null) || a - b;
        const by = typeof x === "number" ? x - y : x.localeCompare(y, "en", { numeric: true });
        return (rising ? by : -by) || a - b;
      };
      order.sort(less);
    }
    body.append(...order.map((i) => rows[i]));
  }
  function filter() {
    const left = [];
    rows.forEach((row, i) => {
      row.hidden = !passes(i);
      if (!row.hidden) left.push(i);
    });
    count.textContent = left.length === rows.length ? "" : `${left.length} of ${rows.length} rows`;
    changed?.(left);
  }
  function heading(column, cell) {
    const button = el("button", { type: "button", onclick() {
      rising = sorted === column ? !rising : true;
      sorted = column;
      for (const other of cell.parentElement.cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", rising ? "ascending" : "descending");
      mark();
      arrange();
    } }, ...cell.childNodes, el("span", { class: "order" }));
    cell.append(button);
  }
  function mark() {
    for (const cell of section.querySelectorAll("thead th")) {
      const order = { ascending: " ▲", descending: " ▼" }[cell.getAttribute("aria-sort")];
      cell.querySelector(".order").textContent = order ?? "";
    }
  }
  function addColumn(column) {
    const cell = el("th", { scope: "col" }, column.name);
    section.querySelector("thead tr").append(cell);
    heading(column, cell);
    rows.forEach((row, i) => {
      const v = value(column, i);
      row.append(el("td", { class: column.values ? "n" : undefined },
        typeof v === "number" ? numberText(v) : v ?? ""));
    });
    arrange();
  }

  [...section.querySelectorAll("thead th")].forEach((cell, i) => heading(shown[i], cell));
  const count = el("span", { class: "count", "aria-live": "polite" });
  const controls = el("div", { class: "controls" });
  for (const column of columns) {
    if (!column.key || column.texts.length < 2) continue;
    const options = [["", "all"], ...column.texts.map((text, i) => [i, text])];
    controls.append(choice(column.name, options, "", (picked) => {
      if (picked === "") filters.delete(column);
      else filters.set(column, +picked);
      filter();
    }));
  }
  const more = columns.filter((c) => c.hidden);
  if (more.length > 0) {
    const add = choice("", [["", "add a column …"], ...more.map((c, i) => [i, c.name])], "", (at) => {
      if (at === "") return;
      addColumn(more[+at]);
      add.querySelector(`option[value="${at}"]`).disabled = true;
      add.querySelector("select").value = "";
    });
    controls.append(add);
  }
  controls.append(count);
  if (rows.length > 1) section.querySelector(".live").append(controls);
}
