// The traffic from senders to receivers.

// makeMatrix draws the matrix of a part.
function makeMatrix(part, section) {
  const { names, bytes } = part.matrix;
  const most = Math.max(1, ...bytes.flat());
  const small = names.length > 12;
  const body = bytes.map((row, from) => el("tr", {}, el("th", { scope: "row" }, names[from]),
    ...row.map((n, to) => el("td", {
      style: n > 0 ? `background:color-mix(in srgb, var(--high) ${(8 + (88 * n) / most).toFixed(0)}%, var(--low));` +
        `color:${n > 0.6 * most ? "#fff" : "var(--ink)"}` : undefined,
      title: `${names[from]} to ${names[to]}: ${bytesText(n)}` },
      small || n === 0 ? "" : bytesText(n)))));
  const head = el("tr", {}, el("th", { scope: "col" }, "from \\ to"),
    ...names.map((name) => el("th", { scope: "col", title: name }, name)));
  section.querySelector(".live").append(el("div", { class: "wide", tabindex: 0 },
    el("table", { class: small ? "heat small" : "heat" }, el("thead", {}, head), el("tbody", {}, ...body))));
}
