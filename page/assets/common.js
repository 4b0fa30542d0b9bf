// What all parts of the page use: elements, texts of figures, and the box beside the pointer.

const data = JSON.parse(document.getElementById("data").textContent);

// el makes an element with attributes and children. A function is a listener: onclick, oninput, ….
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// svg makes an element of a drawing.
function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// toggle makes a button that is on or off.
function toggle(text, on, changed, attributes = {}) {
  const button = el("button", { type: "button", "aria-pressed": String(on), ...attributes,
    onclick() {
      on = !on;
      button.setAttribute("aria-pressed", String(on));
      changed(on);
    } }, ...[text].flat());
  return button;
}

// choice makes a labelled list of options, each a text, or a value and a text.
function choice(label, options, value, changed) {
  const select = el("select", { onchange: () => changed(select.value) });
  for (const option of options) {
    const [key, text] = Array.isArray(option) ? option : [option, option];
    select.append(el("option", { value: key, selected: String(key) === String(value) && "" }, text));
  }
  return el("label", {}, label, select);
}

// bytesText writes a size as collsim does: 64 MiB, 1000 B.
function bytesText(n) {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (n >= size) return `${+(n / size).toPrecision(n % size === 0 ? 12 : 4)} ${unit}`;
  }
  return `${n} B`;
}

// timeText writes picoseconds in the unit that they ask for.
function timeText(ps) {
  if (ps === 0) return "0";
  for (const [unit, size] of [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3]]) {
    if (Math.abs(ps) >= size) return `${+(ps / size).toPrecision(5)} ${unit}`;
  }
  return `${+ps.toPrecision(4)} ps`;
}

// numberText writes a figure in at most five digits.
function numberText(x) {
  if (x === null || x === undefined) return "";
  return Number.isInteger(x) && Math.abs(x) < 1e15 ? String(x) : String(+x.toPrecision(5));
}

// paint returns the colour of a look. Black is the page's ink, so that it shows on dark paper.
function paint(look) {
  const colour = data.paints[look % data.paints.length];
  return colour === "#000000" ? "var(--ink)" : colour;
}

// tip is the box beside the pointer.
const tip = {
  box: el("div", { class: "tip hide", role: "status" }),
  show(x, y, text) {
    this.box.textContent = text;
    this.box.classList.remove("hide");
    const width = this.box.offsetWidth, height = this.box.offsetHeight;
    this.box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
    this.box.style.top = `${y + 16 + height < innerHeight ? y + 16 : Math.max(4, y - height - 10)}px`;
  },
  hide() { this.box.classList.add("hide"); },
};
