// The review of one document: from a value to where it was read and back, values corrected in their places.
// What the page says, it says in the reader's language: the words are in its attributes.

let page = document.querySelector("#review");
let chosen = null; // what is looked at: "3-turnover_debit"
let editing = null; // {cell, input, before, was}
let busy = false; // a change of ours is on its way: its answer is the news

const api = () => page.dataset.api;
const cellOf = (at) => page.querySelector(`[data-cell="${at}"]`);
const placeOf = (at) => page.querySelector(`[data-at="${at}"]`);
const camel = (code) => code.toLowerCase().replace(/[_-](\w)/g, (_, letter) => letter.toUpperCase());
const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
const isNarrow = () => matchMedia("(max-width: 56rem)").matches;

function say(text) {
  const said = page.querySelector("#said");
  if (said) said.textContent = text;
}

// ── Looking ─────────────────────────────────────────────────────────────────────────────────────────────────────────

// Moves the pane that it is in, and nothing else: what one has clicked stays under the pointer.
function inView(element, isCentred = false) {
  const box = element.closest(".scroll");
  if (!box) return;
  const [own, room] = [element.getBoundingClientRect(), box.getBoundingClientRect()];
  const isLines = box.closest("#pane-lines") !== null;
  const top = room.top + (isLines ? 66 : 36);
  const left = room.left + (isLines && isNarrow() ? 178 : 50);
  const by = (start, end, from, to) => {
    if (start >= from && end <= to) return 0;
    if (isCentred) return (start + end - from - to) / 2;
    return start < from ? start - from : end - to;
  };
  box.scrollTop += by(own.top, own.bottom, top, room.bottom - 8);
  box.scrollLeft += by(own.left, own.right, left, room.right - 8);
}

function choose(at, { focus = true, from = "lines" } = {}) {
  for (const old of page.querySelectorAll(".chosen")) old.classList.remove("chosen");
  chosen = at;
  const cell = cellOf(at);
  const place = placeOf(at);
  if (cell) {
    cell.classList.add("chosen");
    rove(cell, focus && from === "lines");
    inView(cell, from !== "lines");
  }
  if (place) {
    place.classList.add("chosen");
    if (place.matches("td")) rove(place, focus && from === "source");
    inView(place, from !== "source");
  }
  if (cell) inspect(cell, place);
  history.replaceState(history.state, "", `${location.pathname}${location.search}#v${at}`);
}

// One cell of a grid is in the order of Tab; arrows move between them.
function rove(cell, focus) {
  const grid = cell.closest("[data-grid]");
  for (const other of grid.querySelectorAll('[role="gridcell"][tabindex="0"]')) other.tabIndex = -1;
  cell.tabIndex = 0;
  if (focus) cell.focus({ preventScroll: true });
}

function inspect(cell, place) {
  const box = page.querySelector("#inspector");
  const words = box.querySelector("template").dataset;
  const row = cell.closest("tr");
  const label = row.querySelector("[data-label]").dataset.label.trim();
  const told = [`${row.dataset.line}. ${label}`];
  if (cell.dataset.name) told[0] += ` — ${cell.dataset.name}: ${cell.dataset.raw || words.empty}`;
  const { unread, was, who, when, sure } = cell.dataset;
  if (unread) told.push(filled(words.unread, { raw: unread }));
  if (was) told.push(filled(words.was, { was, who, when }));
  if (cell.dataset.place) told.push(filled(words.said, { place: cell.dataset.place }));
  if (sure) told.push(filled(words.sure, { sure }));
  box.querySelector("output").value = told.join(" · ");
  box.querySelector("[data-to-source]").hidden = !place;
  const accepts = box.querySelector("[data-accept]");
  if (accepts) {
    accepts.hidden = cell.dataset.meant === undefined;
    accepts.textContent = filled(accepts.dataset.said, { value: cell.dataset.meant });
  }
  box.hidden = false;
}

function move(cell, key) {
  const row = cell.closest("tr");
  const cells = (line) => [...line.querySelectorAll('[role="gridcell"]')];
  const at = cells(row).indexOf(cell);
  const rows = [...row.parentElement.rows];
  const next = (line) => line && (cells(line)[Math.min(at, cells(line).length - 1)] ?? null);
  switch (key) {
    case "ArrowRight": return cells(row)[at + 1];
    case "ArrowLeft": return cells(row)[at - 1];
    case "ArrowDown": return next(rows[rows.indexOf(row) + 1]);
    case "ArrowUp": return next(rows[rows.indexOf(row) - 1]);
    case "Home": return cells(row)[0];
    case "End": return cells(row).at(-1);
    case "PageDown": return next(rows[Math.min(rows.indexOf(row) + 10, rows.length - 1)]);
    case "PageUp": return next(rows[Math.max(rows.indexOf(row) - 10, 0)]);
    default: return null;
  }
}

function look(cell, from) {
  const at = cell.dataset.cell ?? cell.dataset.at;
  choose(at, { from });
}

function show(pane) {
  const panes = page.querySelector(".panes");
  if (panes.dataset.pane !== pane && isNarrow()) panes.scrollIntoView({ block: "start" });
  panes.dataset.pane = pane;
  for (const tab of page.querySelectorAll("[role=tab]")) {
    const isOn = tab.id === `tab-${pane}`;
    tab.setAttribute("aria-selected", String(isOn));
    tab.tabIndex = isOn ? 0 : -1;
  }
}

function toSource() {
  const place = chosen && placeOf(chosen);
  if (!place) return;
  show("source");
  inView(place, true);
  place.focus({ preventScroll: true });
}

function toLines(at) {
  show("lines");
  choose(at, { from: "source" });
  cellOf(at)?.focus({ preventScroll: true });
  if (cellOf(at)) inView(cellOf(at), true);
}

// From where one stands to the next line that needs an eye, on another page of lines if need be.
function nextProblem() {
  const problems = page.dataset.problems.split(",").filter(Boolean).map(Number);
  if (!problems.length) return say(page.dataset.noneLeft);
  const here = chosen ? Number(chosen.split("-")[0]) : 0;
  const line = problems.find((n) => n > here) ?? problems[0];
  toProblem(line);
}

function toProblem(line) {
  const row = page.querySelector(`#l${line}`);
  if (!row) return location.assign(`${page.dataset.path}?after=${line - 1}#l${line}`);
  const cell = row.querySelector(".unknown, .failed-error, .failed-warning") ?? row.querySelector("[role=gridcell]");
  show("lines");
  choose(cell.dataset.cell);
  inView(cell, true);
}

// ── Changing ────────────────────────────────────────────────────────────────────────────────────────────────────────

const mayEdit = (cell) => page.dataset.editable === "yes" && cell?.matches("[data-cell]");

function edit(cell, typed) {
  if (!mayEdit(cell)) return;
  if (editing) leave();
  const input = document.createElement("input");
  const label = cell.closest("tr").querySelector("[data-label]").dataset.label.trim();
  input.setAttribute("aria-label", `${label}, ${cell.dataset.name ?? page.dataset.value}`);
  input.autocomplete = "off";
  if (cell.matches(".num")) input.inputMode = "decimal";
  input.value = typed ?? cell.dataset.raw;
  const before = [...cell.childNodes];
  cell.replaceChildren(input);
  cell.classList.add("editing");
  editing = { cell, input, before, was: cell.dataset.raw };
  input.focus();
  if (typed === undefined) input.select();
}

// Back to what stood there.
function leave(focus = true) {
  if (!editing) return;
  const { cell, before } = editing;
  editing = null;
  cell.replaceChildren(...before);
  cell.classList.remove("editing");
  if (focus) cell.focus({ preventScroll: true });
}

async function save(then) {
  const { cell, input, was } = editing;
  const unread = cell.dataset.unread !== undefined;
  if (input.value.trim() === was && (!unread || input.value.trim() === "")) {
    leave();
    return then?.();
  }
  const [line] = cell.dataset.cell.split("-");
  const body = { corrections: [{ line: Number(line), field: cell.dataset.field, value: input.value }] };
  input.readOnly = true;
  const isDone = await change("corrections", body, input.value, (message) => {
    input.readOnly = false;
    refuse(cell, input, message);
  });
  if (isDone) {
    editing = null;
    await renew(cell.dataset.cell);
    then?.();
  }
}

function refuse(cell, input, message) {
  input.setAttribute("aria-invalid", "true");
  let told = cell.querySelector(".refused");
  if (!told) {
    told = document.createElement("span");
    told.className = "refused";
    told.id = "refused";
    told.setAttribute("role", "alert");
    cell.append(told);
    input.setAttribute("aria-describedby", "refused");
  }
  told.textContent = message;
  input.focus();
}

const headers = (more = {}) => ({
  "Content-Type": "application/json",
  "X-Form-Token": document.body.dataset.formToken,
  ...more,
});

const worded = (problem) =>
  page.dataset[camel(problem.code ?? "")] ?? page.dataset[camel((problem.type ?? "").split(":").at(-1))] ?? problem.detail;

// A change of what was seen; whoever was faster is shown, and what was typed is not lost.
async function change(what, body, typed, refused) {
  busy = true;
  try {
    return await insist(what, body, typed, refused);
  } finally {
    busy = false;
  }
}

async function insist(what, body, typed, refused) {
  const path = `${api()}/documents/${page.dataset.ordinal}/${what}`;
  const key = crypto.randomUUID();
  for (;;) {
    let response;
    try {
      const more = { "If-Match": page.dataset.etag, "Idempotency-Key": `${key}-${page.dataset.etag.split(":").at(-1).slice(0, -1)}` };
      response = await fetch(path, { method: "POST", headers: headers(more), body: JSON.stringify(body) });
    } catch {
      refused(document.body.dataset.failed);
      return false;
    }
    if (response.ok) {
      const before = page.dataset.etag;
      page.dataset.etag = response.headers.get("ETag");
      if (before === page.dataset.etag) say(page.dataset.unchanged);
      return true;
    }
    if (response.status === 401) return location.reload();
    const problem = await response.json().catch(() => ({ detail: String(response.status) }));
    if (response.status !== 412) {
      refused(worded(problem));
      return false;
    }
    if (!(await insists(problem, typed))) {
      leave(false);
      page.dataset.etag = problem.etag;
      await renew(chosen);
      return false;
    }
    page.dataset.etag = problem.etag;
  }
}

// Asks whether what was typed is to stand over what another has done.
function insists(problem, typed) {
  const dialog = page.querySelector("#conflict-dialog");
  const list = dialog.querySelector("[data-changes]");
  const names = JSON.parse(list.dataset.names);
  const told = (value) => value ?? list.dataset.empty;
  list.replaceChildren(
    ...problem.changes.map(({ line, field, old_value, new_value, made_by }) => {
      const item = document.createElement("li");
      const values = { n: line, field: names[field], old: told(old_value), new: told(new_value), who: made_by };
      item.textContent = filled(list.dataset.line, values);
      return item;
    }),
  );
  dialog.querySelector("[data-typed]").textContent = typed;
  return new Promise((resolve) => {
    const end = (answer) => () => {
      dialog.close();
      resolve(answer);
    };
    dialog.querySelector("[data-mine]").onclick = end(true);
    dialog.querySelector("[data-theirs]").onclick = end(false);
    dialog.oncancel = () => resolve(false);
    dialog.showModal();
  });
}

function acceptChosen() {
  const [line, field] = chosen.split("-");
  return accept([{ line: Number(line), field }]);
}

async function accept(values) {
  const isDone = await change("proposals/accept", values ? { values } : {}, "", toast);
  if (isDone) await renew(chosen);
}

function toast(text) {
  const shown = document.createElement("p");
  shown.textContent = text;
  document.querySelector("#toasts").append(shown);
  setTimeout(() => shown.remove(), 8000);
}

// The page as it is now, where one stands; the server says what holds and what fails.
async function renew(at, isPolite = false) {
  const response = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
  if (!response.ok || response.redirected) return location.reload();
  const made = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = made.querySelector("#review");
  if (!fresh) return location.reload();
  if (isPolite && (busy || editing || page.querySelector("dialog[open]"))) return;
  const here = isPolite ? chosen : at;
  const scrolled = [...page.querySelectorAll(".scroll, .checks")].map((box) => [box.scrollLeft, box.scrollTop]);
  const pane = page.querySelector(".panes")?.dataset.pane;
  const unfolded = new Set([...page.querySelectorAll("details[open]")].map((it) => it.className));
  const old = page;
  page = document.adoptNode(fresh);
  old.replaceWith(page);
  window.htmx.process(page);
  [...page.querySelectorAll(".scroll, .checks")].forEach((box, index) => {
    [box.scrollLeft, box.scrollTop] = scrolled[index] ?? [0, 0];
  });
  page.querySelectorAll("details").forEach((it) => { it.open = unfolded.has(it.className); });
  if (pane) show(pane);
  begin(here, isPolite);
  say([page.dataset.saved, page.dataset.problems ? page.dataset.left : page.dataset.noneLeft].join(" "));
}

async function speak(form) {
  const told = form.querySelector("[data-refused]");
  const body = {
    job_id: page.dataset.job,
    revisions: page.dataset.revisions.split(",").map(Number),
    reason: form.reason.value.trim() || null,
  };
  if (form.dataset.needsReason === "yes" && !body.reason) return form.reason.focus();
  try {
    const response = await fetch(`${api()}/${form.dataset.word}`, { method: "POST", headers: headers(), body: JSON.stringify(body) });
    if (response.status === 401) return location.reload();
    if (response.status === 412) {
      form.closest("dialog").close();
      return page.querySelector("#old-dialog").showModal();
    }
    if (response.ok) {
      form.closest("dialog").close();
      return renew(chosen);
    }
    told.textContent = worded(await response.json());
  } catch {
    told.textContent = document.body.dataset.failed;
  }
  told.hidden = false;
}

// ── Hands and keys ──────────────────────────────────────────────────────────────────────────────────────────────────

document.addEventListener("click", ({ target }) => {
  const has = (selector) => target.closest?.(selector);
  if (has("[data-accept]")) return acceptChosen();
  if (has("[data-accept-all]")) return accept(null);
  if (has("[data-next]")) return nextProblem();
  if (has("[data-to-source]")) return toSource();
  if (has("[data-edit]")) return chosen && edit(cellOf(chosen));
  if (has("[data-open]")) return page.querySelector(`#${has("[data-open]").dataset.open}`).showModal();
  if (has("[data-close]")) return has("dialog").close();
  if (has("[data-reload]")) return location.reload();
  if (has("[role=tab]")) return show(has("[role=tab]").id.slice(4));
  if (has("[data-cell]") && !has("input")) {
    if (editing && editing.cell !== has("[data-cell]")) save();
    return look(has("[data-cell]"), "lines");
  }
  if (has("[data-at]")) return toLines(has("[data-at]").dataset.at);
});

document.addEventListener("dblclick", ({ target }) => edit(target.closest?.("[data-cell]")));

// A check about one line or two leads there, where that line is on this page.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-check]");
  const row = link?.dataset.check && page.querySelector(`#l${link.dataset.check}`);
  if (!row || event.ctrlKey || event.metaKey || event.button) return;
  event.preventDefault();
  const at = `${link.dataset.check}-${link.dataset.field || "name"}`;
  show("lines");
  choose(at);
  inView(cellOf(at), true);
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-word]")) return;
  event.preventDefault();
  speak(event.target);
});

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "F8") {
    event.preventDefault();
    return editing ? save(nextProblem) : nextProblem();
  }
  if (editing && target === editing.input) return keyInEditor(event);
  if (target.matches?.("[role=tab]") && ["ArrowLeft", "ArrowRight"].includes(key)) {
    const other = [...page.querySelectorAll("[role=tab]")].find((tab) => tab !== target);
    show(other.id.slice(4));
    return other.focus();
  }
  if (target.matches?.("[data-at]")) return keyInSource(event);
  if (target.matches?.("[data-cell]")) return keyInLines(event);
});

function keyInEditor(event) {
  const { key, shiftKey } = event;
  if (key === "Escape") {
    event.stopPropagation();
    return leave();
  }
  if (key !== "Enter" && key !== "Tab") return;
  event.preventDefault();
  const way = key === "Enter" ? (shiftKey ? "ArrowUp" : "ArrowDown") : shiftKey ? "ArrowLeft" : "ArrowRight";
  const at = editing.cell.dataset.cell;
  save(() => {
    const next = cellOf(at) && move(cellOf(at), way);
    if (next) look(next, "lines");
  });
}

function keyInLines(event) {
  const { key, target } = event;
  const next = move(target, key);
  if (next) {
    event.preventDefault();
    return look(next, "lines");
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (key === "Enter" || key === "F2") {
    event.preventDefault();
    return edit(target);
  }
  if (/^[aф]$/i.test(key) && target.dataset.meant !== undefined && mayEdit(target)) return acceptChosen();
  if (/^[sы]$/i.test(key)) return toSource();
  if (key === "Delete") {
    event.preventDefault();
    return edit(target, "");
  }
  if (/^[0-9(−-]$/.test(key) && target.matches(".num")) {
    event.preventDefault();
    edit(target, key);
  }
}

function keyInSource(event) {
  const { key, target } = event;
  const next = target.matches("td") && move(target, key);
  if (next) {
    event.preventDefault();
    return look(next, "source");
  }
  if (key === "Enter" || key === " ") {
    event.preventDefault();
    toLines(target.dataset.at);
  }
}

// ── News ────────────────────────────────────────────────────────────────────────────────────────────────────────────

let stream = null;

function watch() {
  stream?.close();
  const marks = page.dataset.mark;
  stream = new EventSource(`/console/documents/live?${new URLSearchParams({ marks })}`);
  stream.addEventListener("row", ({ data }) => heed(data));
  stream.addEventListener("over", () => location.reload());
  stream.onerror = () => { if (stream.readyState === EventSource.CLOSED) setTimeout(watch, 3000); };
}

// Another one's change is shown at once, but never into somebody's typing.
async function heed(row) {
  const made = new DOMParser().parseFromString(`<table>${row}</table>`, "text/html");
  const mark = made.querySelector("[data-mark]")?.dataset.mark;
  if (!mark || mark === page.dataset.mark || busy || editing || page.querySelector("dialog[open]")) return;
  const etag = page.dataset.etag;
  await renew(chosen, true);
  say(etag === page.dataset.etag ? "" : page.dataset.changed);
}

function begin(at, isPolite = false) {
  const hash = location.hash.slice(1);
  const wanted = at ?? (hash.startsWith("v") ? hash.slice(1) : null);
  if (wanted && cellOf(wanted)) choose(wanted, { focus: at !== undefined && !isPolite });
  else if (/^l\d+$/.test(hash) && page.querySelector(`#${hash}`)) toProblem(Number(hash.slice(1)));
  else {
    chosen = null;
    for (const grid of page.querySelectorAll("[data-grid]")) {
      const first = grid.querySelector('[role="gridcell"]');
      if (first) first.tabIndex = 0;
    }
  }
}

// The source may have no cell for what is chosen: it must be reachable all the same.
function reach() {
  for (const grid of page.querySelectorAll("[data-grid]")) {
    if (!grid.querySelector('[role="gridcell"][tabindex="0"]')) {
      const first = grid.querySelector('[role="gridcell"]');
      if (first) first.tabIndex = 0;
    }
  }
}

if (page) {
  begin();
  reach();
  watch();
  document.addEventListener("visibilitychange", () => (document.hidden ? stream?.close() : watch()));
}
