// The page: what each part is brought to life by, and the switch between light and dark.

const dark = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
function setTheme(name) {
  root.dataset.theme = name;
  document.dispatchEvent(new Event("themechange"));
}
setTheme(dark.matches ? "dark" : "light");
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
document.querySelector("header").append(el("button", { type: "button", class: "theme",
  onclick: () => setTheme(root.dataset.theme === "dark" ? "light" : "dark") }, "light / dark"));
document.body.append(tip.box);

for (const part of data.parts) {
  const section = document.getElementById(part.id);
  if (part.table) makeTable(part, section, makeHeat(part, section));
  if (part.curves) makeCurves(part, section);
  if (part.timeline) makeTimeline(part, section);
  if (part.matrix) makeMatrix(part, section);
}
document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hide(); });
