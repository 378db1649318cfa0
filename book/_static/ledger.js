// Filters the ledger by what is typed, by whose claim it is, paper, chapter and verdict. Without scripts all rows are shown.
(() => {
  const rows = [...document.querySelectorAll(".ledger tbody tr[id]")];
  const cell = (row, index) => row.cells[index].textContent.trim();
  const verdicts = {
    holds: "holds",
    statement: "the paper's statement fails",
    setting: "our setting may differ",
    bound: "our own bound was missed",
    superseded: "superseded",
    retired: "retired",
    missing: "missing",
  };
  const choices = {
    about: (row) => cell(row, 1).split(",")[0],
    paper: (row) => ["MHS", "NRR"].find((paper) => cell(row, 2).startsWith(paper)) ?? "beyond the papers",
    chapter: (row) => cell(row, 3),
    verdict: (row) => verdicts[Object.keys(verdicts).find((kind) => row.classList.contains(kind))],
  };
  const form = document.createElement("form");
  form.className = "ledger-filter";
  form.addEventListener("submit", (event) => event.preventDefault());

  function add(name, field) {
    const label = document.createElement("label");
    label.append(name + " ", field);
    form.append(label);
    field.addEventListener("input", update);
    return field;
  }

  function select(name) {
    const field = document.createElement("select");
    for (const value of ["all", ...new Set(rows.map(choices[name]))]) field.add(new Option(value));
    return add(name, field);
  }

  const words = add("words", Object.assign(document.createElement("input"), { type: "search" }));
  const selects = Object.fromEntries(Object.keys(choices).map((name) => [name, select(name)]));
  const count = document.createElement("output");
  form.append(count);

  // The claims of a chapter fold away under its name, until something is asked for.
  const groups = new Map();
  for (const row of rows) {
    const chapter = choices.chapter(row);
    if (!groups.has(chapter)) {
      const button = Object.assign(document.createElement("button"), { type: "button" });
      const head = document.createElement("tr");
      const cell = Object.assign(document.createElement("th"), { colSpan: row.cells.length });
      cell.append(button);
      head.append(cell);
      head.className = "ledger-group";
      button.addEventListener("click", () => {
        groups.get(chapter).open = button.getAttribute("aria-expanded") === "false";
        update();
      });
      row.before(head);
      groups.set(chapter, { button, head, rows: [], open: false });
    }
    const group = groups.get(chapter);
    group.rows.at(-1)?.after(row); // all of a chapter under one head
    group.rows.push(row);
  }

  function update() {
    const plain = (text) => text.toLowerCase().replaceAll("’", "'");
    const wanted = plain(words.value).split(/\s+/);
    const asked = words.value || Object.values(selects).some((field) => field.value !== "all");
    const matches = (row) => wanted.every((word) => plain(row.textContent).includes(word))
      && Object.entries(selects).every(([name, s]) => s.value === "all" || s.value === choices[name](row));
    let found = 0;
    for (const [chapter, { button, head, rows: all, open }] of groups) {
      const fitting = all.filter(matches);
      for (const row of all) row.hidden = !((asked || open) && fitting.includes(row));
      head.hidden = !fitting.length;
      button.setAttribute("aria-expanded", Boolean(asked || open));
      button.textContent = `${chapter}: ${fitting.length} claim${fitting.length === 1 ? "" : "s"}`;
      found += fitting.length;
    }
    count.textContent = `${found} of ${rows.length} claims`;
  }

  // A link to a row opens its chapter, whatever the filter says.
  function follow() {
    const row = document.getElementById(location.hash.slice(1));
    if (!rows.includes(row)) return;
    if (row.hidden) {
      form.reset();
      groups.get(choices.chapter(row)).open = true;
      update();
    }
    row.scrollIntoView();
  }
  addEventListener("hashchange", follow);

  const table = rows[0]?.closest("table");
  (table?.closest(".pst-scrollable-table-container") ?? table)?.before(form);
  update();
  follow();
})();
