"use strict";
{
  // Sorts and filters the table, and opens the submission named after `#submission=` in the address.
  const byId = (id) => document.getElementById(id);
  const table = byId("table");
  const body = table.tBodies[0];
  const heads = [...[...table.tHead.rows].at(-1).cells];
  const rows = [...body.rows];
  const column = new Map(heads.flatMap((head, place) => (head.dataset.kata ? [[head.dataset.kata, place]] : [])));
  const name = (row) => row.cells[0].textContent;
  const route = (row) => row.querySelector("a").getAttribute("href");
  const shown = () => [...body.rows].filter((row) => fitting.has(row));
  const byRoute = new Map(rows.map((row) => [route(row), row]));
  const plain = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLocaleLowerCase(); // José is jose
  const step = Number(table.dataset.rows); // more rows are drawn when the end of the table comes into view
  let fitting = new Set(rows); // the rows that match the filters
  let most = step;
  const collator = new Intl.Collator(undefined, { numeric: true });

  // --- sort

  const value = (row, place) => parseFloat(row.cells[place].textContent); // NaN if not graded: always last

  function sort(place) {
    const head = heads[place];
    const first = place === 0 ? "ascending" : "descending";
    const other = { ascending: "descending", descending: "ascending" }[first];
    const order = head.getAttribute("aria-sort") === first ? other : first;
    const sign = order === "ascending" ? 1 : -1;
    const compare = (a, b) => {
      if (place === 0) return sign * collator.compare(name(a), name(b));
      const [x, y] = [value(a, place), value(b, place)];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return sign * (x - y);
    };
    body.append(...[...body.rows].sort(compare));
    heads.forEach((each) => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", order);
    draw();
  }
  heads.forEach((head, place) => head.querySelector("button").addEventListener("click", () => sort(place)));

  // --- filter

  const search = byId("search");
  const kata = byId("kata");
  const status = byId("status");
  let clicked = null; // the selected bar or property: its condition on rows, and its label

  function draw(count = step) {
    most = count;
    let drawn = 0;
    for (const row of body.rows) row.hidden = !fitting.has(row) || ++drawn > most;
    byId("end").hidden = drawn <= most;
  }
  const reveal = (row) => { if (row.hidden && fitting.has(row)) draw(shown().indexOf(row) + step); };
  new IntersectionObserver(([end]) => { if (end.isIntersecting) draw(most + step); }, { rootMargin: "50%" }).observe(byId("end"));
  addEventListener("beforeprint", () => draw(Infinity));

  function filter() {
    const wanted = plain(search.value.trim());
    const places = kata.value ? [column.get(kata.value)] : [...column.values()];
    fitting = new Set(rows.filter((row) => plain(name(row)).includes(wanted)
      && (!status.value || places.some((place) => row.cells[place].classList.contains(status.value)))
      && (!clicked || clicked.matches(row))));
    draw();
    const filtered = Boolean(wanted || status.value || clicked);
    byId("found").textContent = `${filtered ? `${fitting.size} of ` : ""}${rows.length} shown${clicked ? `: ${clicked.words}` : ""}`;
    byId("clear").hidden = !(filtered || kata.value);
  }

  function clear() {
    byId("filters").reset();
    clicked = null;
  }

  function show(set) {
    clear();
    set();
    filter();
    byId("submissions").scrollIntoView();
    (shown()[0]?.querySelector("a") ?? search).focus({ preventScroll: true });
  }

  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  search.addEventListener("input", filter);
  for (const choice of [kata, status]) choice.addEventListener("change", filter);
  byId("clear").addEventListener("click", () => { clear(); filter(); search.focus(); });
  for (const button of document.querySelectorAll("#class button[data-bin]")) {
    const { bin } = button.dataset;
    const words = button.getAttribute("aria-label").replace(/^.* with /, "");
    button.addEventListener("click", () => show(() => { clicked = { matches: (row) => row.dataset.bin === bin, words }; }));
  }
  for (const button of document.querySelectorAll("#class button[data-fails]")) {
    const { fails } = button.dataset;
    const matches = (row) => (row.dataset.fails ?? "").split(" ").includes(fails);
    button.addEventListener("click", () => show(() => { clicked = { matches, words: `${button.textContent} fails` }; }));
  }
  for (const button of document.querySelectorAll("#class button[data-status]")) {
    button.addEventListener("click", () => show(() => {
      kata.value = button.dataset.kata;
      status.value = button.dataset.status;
    }));
  }

  // --- one submission

  const title = document.title;
  let open = null;

  function goTo(link, row) {
    if (row) link.setAttribute("href", route(row));
    else link.removeAttribute("href");
  }

  function turn() {
    const row = byRoute.get(location.hash);
    const left = open;
    open = row ?? null;
    byId("class").hidden = Boolean(row);
    byId("one").hidden = !row;
    document.title = row ? `${name(row)} · torchkata` : title;
    if (!row) {
      if (left) {
        reveal(left);
        left.querySelector("a").focus();
      }
      return;
    }
    byId("name").textContent = name(row);
    byId("score").textContent = parseFloat(row.cells[1].textContent);
    byId("of").textContent = row.dataset.of;
    byId("how").textContent = row.dataset.how;
    byId("parts").replaceChildren(byId(`details-${rows.indexOf(row)}`).content.cloneNode(true));
    const around = fitting.has(row) ? shown() : rows;
    goTo(byId("previous"), around[around.indexOf(row) - 1]);
    goTo(byId("next"), around[around.indexOf(row) + 1]);
    scrollTo(0, 0);
    byId("one").querySelector("h1").focus({ preventScroll: true });
  }
  addEventListener("hashchange", turn);

  // --- keys: arrows move between names or submissions, Escape returns to the class, / searches

  body.addEventListener("keydown", (event) => {
    const row = event.target.closest("tr");
    const around = shown();
    const at = around.indexOf(row);
    const next = { ArrowDown: around[at + 1], ArrowUp: around[at - 1], Home: around[0], End: around.at(-1) }[event.key];
    if (!next || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    reveal(next);
    next.querySelector("a").focus();
  });

  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.matches("input, select")) return;
    const link = open && { ArrowLeft: "previous", ArrowRight: "next", Escape: "back" }[event.key];
    if (link) byId(link).click();
    else if (!open && event.key === "/") {
      event.preventDefault();
      search.focus();
    }
  });

  filter();
  turn();
}
