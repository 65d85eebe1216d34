// The report's script: metric and view switches, sorting, downloads, figures, tooltips.
// The tables come rendered in the page with all metrics; this only shows, hides and orders.
"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  root.classList.add("scripted");
  const tables = all("table[data-id]");

  // ------------------------------------------------------------ switches
  function show() {
    const { metric: wanted, view } = root.dataset;
    for (const table of tables) {
      const compare = view === "compare" && table.classList.contains("comparable");
      const has = table.dataset.metrics.split(" ").includes(wanted);
      const metric = has ? wanted : table.dataset.default;
      table.classList.toggle("compare", compare);
      for (const th of all("th[data-span]", table)) th.colSpan = compare ? 3 : 1;
      for (const value of all(".v", table)) {
        // Beside a value of the paper stands ours in the paper's metric: like for like.
        const like = compare && value.parentElement.classList.contains("has-paper");
        value.hidden = like ? !value.classList.contains("like") : value.dataset.metric !== metric;
      }
      const chip = table.closest("article").querySelector(".chip.metric");
      if (chip) chip.textContent = compare ? "The paper's metric" : JSON.parse(chip.dataset.labels)[metric];
      if (table.sorted) sort(table, table.sorted.key, table.sorted.direction);
      stick(table);
    }
    const controls = document.querySelector(".controls");
    if (!controls) return; // a page without a choice of metric or view
    controls.querySelector(".hint").textContent = view === "compare"
      ? "Ours is in the metric of the paper's value." : "";
    root.style.setProperty("--bar-height", `${controls.offsetHeight}px`);
  }

  for (const input of all(".switch input")) {
    input.addEventListener("change", () => {
      root.dataset[input.name] = input.value;
      show();
    });
  }

  // Label columns after the first stick too, where they leave room for the numbers.
  function stick(table) {
    const box = table.closest(".scroll");
    const labels = all("thead th.label", table);
    const widths = labels.map((th) => th.getBoundingClientRect().width);
    const fits = widths.reduce((sum, width) => sum + width, 0) < 0.45 * box.clientWidth;
    let left = 0;
    labels.forEach((_, i) => {
      const sticky = i === 0 || fits;
      for (const th of all(`th.label:nth-child(${i + 1})`, table)) {
        th.style.left = sticky ? `${left}px` : "";
        th.style.position = sticky ? "" : "static";
      }
      left += widths[i];
    });
    const head = table.querySelector("thead tr");
    table.style.setProperty("--first-row", `${head.getBoundingClientRect().height}px`);
    box.classList.toggle("overflows", box.scrollWidth > box.clientWidth + 1);
  }
  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => tables.forEach(stick), 100);
  });

  // ------------------------------------------------------------ sorting
  // Missing values stay last in both directions. Text that is a number with one unit for the
  // whole column sorts as a number.
  function sort(table, key, direction) {
    const body = table.tBodies[0];
    table.original ??= [...body.rows];
    const entries = table.original.map((row) => ({ row, ...content(row, key) }));
    if (!entries.some((entry) => entry.number !== null)) readNumbers(entries);
    const sign = direction === "descending" ? -1 : 1;
    if (direction !== "none") {
      entries.sort((a, b) => a.empty - b.empty || (a.empty ? 0 : sign * compare(a, b)));
    }
    body.append(...entries.map((entry) => entry.row));
    table.sorted = direction === "none" ? null : { key, direction };
    for (const th of all("thead th[data-sort]", table)) {
      th.setAttribute("aria-sort", th.dataset.sort === key ? direction : "none");
    }
  }

  function content(row, key) {
    const cell = row.querySelector(`[data-key="${key}"]`);
    const value = cell.querySelector(".v:not([hidden])");
    const source = value || cell;
    const text = (value || cell.querySelector("span:not(.none)") || cell).textContent.trim();
    const number = source.dataset.number === undefined ? null : Number(source.dataset.number);
    const labelled = cell.classList.contains("label");
    const empty = !labelled && number === null && (!value || text === "·");
    return { number, text: labelled ? cell.firstChild?.textContent.trim() ?? "" : text, empty };
  }

  function readNumbers(entries) {
    const pattern = /^([+−-]?[\d,]*\.?\d+)\s*([^\d\s]*)$/;
    const parsed = entries.map((entry) => (entry.empty ? null : pattern.exec(entry.text)));
    const units = new Set(parsed.filter(Boolean).map((match) => match[2]));
    if (units.size > 1 || entries.some((entry, i) => !entry.empty && !parsed[i])) return;
    entries.forEach((entry, i) => {
      if (parsed[i]) entry.number = Number(parsed[i][1].replaceAll(",", "").replace("−", "-"));
    });
  }

  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  function compare(a, b) {
    if (a.number !== null && b.number !== null) return a.number - b.number;
    if (a.number !== null || b.number !== null) return a.number !== null ? -1 : 1;
    return collator.compare(a.text, b.text);
  }

  // Numbers start with the largest, labels with the first letter; a third click restores.
  for (const table of tables) {
    for (const th of all("thead th[data-sort]", table)) {
      th.setAttribute("aria-sort", "none");
      const first = th.dataset.sort.startsWith("label") ? "ascending" : "descending";
      const second = first === "ascending" ? "descending" : "ascending";
      th.querySelector("button").addEventListener("click", () => {
        const now = th.getAttribute("aria-sort");
        sort(table, th.dataset.sort, now === "none" ? first : now === first ? second : "none");
      });
    }
  }

  // ------------------------------------------------------------ downloads
  const header = ["row", "column", "metric", "mean", "std", "n", "best", "text", "paper_mean",
    "paper_std", "paper_metric", "difference", "agrees", "missing", "notes"];

  function csv(doc) {
    const lines = [[...doc.row_header, ...header]];
    for (const row of doc.rows) {
      for (const column of doc.columns) {
        const cell = (doc.cells[row.key] || {})[column.key] || { missing: "no such run" };
        const paper = cell.paper || {};
        for (const metric of doc.metrics) {
          const value = (cell.values || {})[metric] || {};
          // The difference belongs to one metric only.
          const like = !paper.metric || paper.metric === metric;
          lines.push([...row.labels, row.key, column.key, metric, value.mean, value.std, value.n,
            value.best, value.text, ...(like
              ? [paper.mean, paper.std, paper.metric, cell.difference, cell.agrees] : Array(5)),
            cell.missing, (cell.notes || []).join("; ")]);
        }
      }
    }
    const quote = (field) => {
      let text = field === undefined || field === null ? "" : String(field);
      // A spreadsheet would compute it; numbers may begin like that.
      if (/^[=+\-@\t\r\n]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return lines.map((line) => Array.from(line, quote).join(",")).join("\n") + "\n";
  }

  // The tables' data are packed, and only downloads need them: unpacked by the first click.
  let unpacked;
  async function unpack() {
    const packed = atob(document.getElementById("data").textContent);
    const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  for (const button of all("button.download")) {
    button.addEventListener("click", async () => {
      try {
        unpacked ??= await unpack();
      } catch {
        button.textContent = "This browser cannot unpack the data (the CSV file is next to the report)";
        return;
      }
      const link = document.createElement("a");
      const blob = new Blob([csv(unpacked[button.dataset.table])], { type: "text/csv" });
      link.href = URL.createObjectURL(blob);
      link.download = `${button.dataset.table}.csv`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
  }

  // ------------------------------------------------------------ figures
  const dialog = document.getElementById("lightbox");
  const enlarged = dialog.querySelector("img");
  for (const button of all("button.enlarge")) {
    button.addEventListener("click", () => {
      const image = button.querySelector("img");
      enlarged.src = image.src;
      enlarged.alt = image.alt;
      dialog.querySelector("p").textContent = image.alt;
      // A phone shows it no larger than the page does, unless it scrolls.
      dialog.classList.toggle("full", matchMedia("(max-width: 40rem)").matches);
      dialog.showModal();
    });
  }
  dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  enlarged.addEventListener("click", () => dialog.classList.toggle("full"));
  dialog.addEventListener("click", (event) => {
    if (event.target !== enlarged && !event.target.closest(".close")) dialog.close();
  });

  // ------------------------------------------------------------ tooltips
  const tip = document.getElementById("tip");
  function showTip(target) {
    tip.textContent = target.dataset.tip;
    tip.hidden = false;
    const at = target.getBoundingClientRect();
    const room = root.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(at.left + at.width / 2 - tip.offsetWidth / 2, room))}px`;
    const above = at.top - tip.offsetHeight - 8;
    tip.style.top = `${above < 8 ? at.bottom + 8 : above}px`;
  }
  for (const target of all("[data-tip]")) {
    target.removeAttribute("title");
    for (const event of ["mouseenter", "focusin", "click"]) {
      target.addEventListener(event, () => showTip(target));
    }
    for (const event of ["mouseleave", "focusout"]) {
      target.addEventListener(event, () => { tip.hidden = true; });
    }
  }
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true, capture: true });
  addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

  // ------------------------------------------------------------ contents and printing
  const links = new Map(all("nav.side a[href^='#']").map((link) => [link.hash.slice(1), link]));
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      const link = links.get(entry.target.id);
      link.setAttribute("aria-current", "true");
      const side = link.closest("nav");
      const at = link.offsetTop - side.clientHeight / 2;
      if (Math.abs(side.scrollTop - at) > side.clientHeight / 3) side.scrollTop = at;
    }
  }, { rootMargin: "-20% 0px -75% 0px" });
  for (const id of links.keys()) {
    const target = document.getElementById(id);
    if (target && id !== "top") observer.observe(target);
  }
  for (const link of all("details.contents a")) {
    link.addEventListener("click", () => { link.closest("details").open = false; });
  }
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("main details:not([open])");
    opened.forEach((details) => { details.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));

  // A reload keeps the radio buttons of some browsers: the tables follow them.
  for (const input of all(".switch input:checked")) root.dataset[input.name] = input.value;
  show();
})();
