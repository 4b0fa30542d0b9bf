// Chains of dependences in a timeline.

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

// unpacked returns a list of n values from a list, from letters for its values, or from the value
// that all of them have.
function unpacked(packed, n) {
  if (Array.isArray(packed)) return packed;
  if (typeof packed === "number") return new Array(n).fill(packed);
  return [...packed.text].map((letter) => packed.values[letters.indexOf(letter)]);
}

// barsOf makes the bars of a timeline, by row.
function barsOf(timeline) {
  return timeline.rows.map((row, at) => {
    const facts = ["gap", "time", "waited", "paint", "name", "chunk", "slice", "round", "peer", "bytes",
      "share", "steps"];
    const lists = Object.fromEntries(facts.map((fact) => [fact, unpacked(row[fact], row.count)]));
    const bars = [];
    let end = 0;
    for (let i = 0; i < row.count; i++) {
      const bar = { row: at, index: i, from: [] };
      for (const fact of facts) bar[fact] = lists[fact][i];
      bar.name = timeline.names[bar.name];
      bar.start = end + bar.gap;
      bar.end = end = bar.start + bar.time;
      bars.push(bar);
    }
    return bars;
  });
}

// connect gives every bar the messages that it received: bar.from.
function connect(timeline, bars) {
  const m = timeline.messages;
  if (!m) return;
  const lists = Object.fromEntries(["fromRow", "fromBar", "toRow", "toBar", "sent", "arrived"]
    .map((fact) => [fact, unpacked(m[fact], m.count)]));
  for (let i = 0; i < m.count; i++) {
    const sender = bars[lists.fromRow[i]]?.[lists.fromBar[i]];
    const receiver = bars[lists.toRow[i]]?.[lists.toBar[i]];
    if (sender && receiver) {
      receiver.from.push({ bar: sender, sent: sender.start + lists.sent[i],
        arrived: receiver.start + lists.arrived[i] });
    }
  }
}

// causeOf returns what a bar waited for last: a message, or the bar before it on its row.
function causeOf(bar, bars) {
  const before = bars[bar.row][bar.index - 1];
  const last = bar.from.reduce((a, b) => (a && a.arrived >= b.arrived ? a : b), undefined);
  if (last && (!before || last.arrived > before.end)) return last.bar;
  return before;
}

// chainOf lists a bar and what it depends on, back to the first.
function chainOf(bar, bars) {
  const chain = [];
  for (const seen = new Set(); bar && !seen.has(bar); bar = causeOf(bar, bars)) {
    seen.add(bar);
    chain.push(bar);
  }
  return chain;
}
