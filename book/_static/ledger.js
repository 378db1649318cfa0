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

  function update() {
    const wanted = words.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !(
        wanted.every((word) => text.includes(word)) &&
        Object.entries(selects).every(([name, s]) => s.value === "all" || s.value === choices[name](row))
      );
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${rows.length} claims shown`;
  }

  // A link to a row that the filter hides shows it again.
  addEventListener("hashchange", () => {
    const row = document.getElementById(location.hash.slice(1));
    if (row?.hidden) {
      form.reset();
      update();
      row.scrollIntoView();
    }
  });

  const table = rows[0]?.closest("table");
  (table?.closest(".pst-scrollable-table-container") ?? table)?.before(form);
  update();
})();
