// What a page of plain HTML cannot do: uploads with a bar each, rows that stay live, small conveniences.
// Everything it shows comes from the page, in the reader's language.

const formToken = () => document.body.dataset.formToken;

// ── Small conveniences ──────────────────────────────────────────────────────────────────────────────────────────────

function toast(text) {
  const shown = document.createElement("p");
  shown.textContent = text;
  document.querySelector("#toasts").append(shown);
  setTimeout(() => shown.remove(), 8000);
}

// One menu at a time; a click elsewhere and Escape close it.
document.addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(target)) menu.open = false;
});
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  for (const menu of document.querySelectorAll(".menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// The secret of a link is behind the #, so that it reaches no log; it leaves the address too.
const secret = document.querySelector("[data-secret-form] [name=secret]");
if (secret) {
  secret.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
}

// Back to this very list after the language was changed.
document.addEventListener("submit", ({ target }) => {
  const here = target.querySelector("[data-here]");
  if (here) here.value = location.pathname + location.search;
});

// A button that asks the API for something.
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-post]");
  if (!button) return;
  button.disabled = true;
  try {
    const headers = { "X-Form-Token": formToken(), "Idempotency-Key": crypto.randomUUID() };
    const response = await fetch(button.dataset.post, { method: "POST", headers });
    if (response.status === 401) return location.reload();
    toast(response.ok ? button.dataset.done : (await response.json()).detail);
  } catch {
    toast(document.body.dataset.failed);
  } finally {
    button.disabled = false;
    const menu = button.closest(".menu");
    if (menu) menu.open = false;
  }
});

// A form that is sent to the API as JSON.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("[data-send]");
  if (!form) return;
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const headers = { "X-Form-Token": formToken(), "Content-Type": "application/json" };
    const body = JSON.stringify(Object.fromEntries(new FormData(form)));
    const response = await fetch(form.dataset.send, { method: "POST", headers, body });
    if (response.status === 401) return location.reload();
    toast(response.ok ? form.dataset.done : (await response.json()).detail);
    if (response.ok && form.closest(".menu")) form.closest(".menu").open = false;
  } catch {
    toast(document.body.dataset.failed);
  } finally {
    button.disabled = false;
  }
});

// Corrections of an old attempt, those that are ticked.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("[data-carry]");
  if (!form) return;
  event.preventDefault();
  const corrections = new FormData(form).getAll("correction").map(Number);
  if (!corrections.length) return;
  const button = form.querySelector("button");
  button.disabled = true;
  try {
    const headers = { "X-Form-Token": formToken(), "Content-Type": "application/json", "If-Match": form.dataset.etag };
    const body = JSON.stringify({ against: Number(form.dataset.against), corrections });
    const response = await fetch(form.dataset.carry, { method: "POST", headers, body });
    if (response.status === 401) return location.reload();
    toast(response.ok ? form.dataset.done : (await response.json()).detail);
    if (response.ok) await window.htmx.ajax("GET", location.pathname + location.search, { target: ".page", select: ".page", swap: "outerHTML" });
  } catch {
    toast(document.body.dataset.failed);
  } finally {
    button.disabled = false;
  }
});

// An address holds what was asked for, and not what was left empty.
document.addEventListener("htmx:config:request", ({ detail }) => {
  const { request, sourceElement } = detail.ctx;
  if (!sourceElement.matches("[data-without-empty]")) return;
  for (const [name, value] of [...request.body]) if (value === "") request.body.delete(name);
});

// ── Uploads ─────────────────────────────────────────────────────────────────────────────────────────────────────────

const AT_ONCE = 3;
const PAUSES = [500, 2000, 5000];

class Uploads {
  constructor(section) {
    this.section = section;
    this.words = section.dataset;
    this.list = section.querySelector("#uploads");
    this.box = section.querySelector("#sent");
    this.box.querySelector("button").addEventListener("click", () => {
      for (const item of this.list.querySelectorAll(".accepted, .refused")) item.remove();
      this.count();
    });
    this.waiting = [];
    this.running = 0;
    const picker = section.querySelector("#picker");
    picker.addEventListener("change", () => {
      this.add(picker.files);
      picker.value = "";
    });
    this.heedDrops();
    addEventListener("beforeunload", (event) => {
      if (this.running) event.preventDefault();
    });
  }

  heedDrops() {
    const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
    let depth = 0;
    const mark = (change) => {
      depth = Math.max(0, depth + change);
      document.body.classList.toggle("dropping", depth > 0);
    };
    document.addEventListener("dragenter", (event) => hasFiles(event) && mark(1));
    document.addEventListener("dragleave", (event) => hasFiles(event) && mark(-1));
    document.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
    document.addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      mark(-depth);
      this.add(event.dataTransfer.files);
    });
  }

  add(files) {
    const client = this.section.querySelector("#upload-client").value.trim();
    for (const file of files) {
      const item = document.querySelector("#upload-item").content.cloneNode(true).firstElementChild;
      item.querySelector(".name").textContent = item.querySelector(".name").title = file.name;
      item.querySelector("progress").setAttribute("aria-label", file.name);
      this.list.append(item);
      this.wait({ file, client, item, key: crypto.randomUUID(), tries: 0 });
    }
    this.count();
    this.next();
  }

  count() {
    const of = (kind) => this.list.querySelectorAll(kind).length;
    const [accepted, refused] = [of(".accepted"), of(".refused")];
    const sums = { accepted, refused, left: this.list.childElementCount - accepted - refused };
    this.box.querySelector("output").value = this.words.sum.replace(/\{(\w+)\}/g, (_, name) => sums[name]);
    this.box.hidden = this.list.childElementCount === 0;
  }

  wait(upload) {
    this.show(upload, "", this.words.waiting, this.words.cancel, () => {
      this.waiting = this.waiting.filter((other) => other !== upload);
      upload.item.remove();
      this.count();
    });
    this.waiting.push(upload);
  }

  next() {
    while (this.running < AT_ONCE && this.waiting.length) this.send(this.waiting.shift());
  }

  show(upload, kind, text, action, act) {
    upload.item.className = kind;
    upload.item.querySelector(".state").textContent = text;
    const button = upload.item.querySelector("button");
    button.hidden = !action;
    button.textContent = action ?? "";
    button.setAttribute("aria-label", `${action}: ${upload.file.name}`);
    button.onclick = act ?? null;
  }

  send(upload) {
    this.running += 1;
    if (upload.file.size > Number(this.words.limit)) return this.end(upload, "refused", this.words.fileTooLarge);
    const bar = upload.item.querySelector("progress");
    const xhr = new XMLHttpRequest();
    this.show(upload, "", this.words.sending, this.words.cancel, () => xhr.abort());
    xhr.upload.onprogress = ({ loaded, total }) => { bar.value = total ? loaded / total : 1; };
    xhr.onload = () => this.answered(upload, xhr);
    xhr.onerror = () => this.again(upload);
    xhr.onabort = () => this.end(upload, "refused", this.words.cancelled, true);
    xhr.open("POST", "/api/v1/files");
    xhr.setRequestHeader("X-Form-Token", formToken());
    xhr.setRequestHeader("Idempotency-Key", upload.key);
    const form = new FormData();
    if (upload.client) form.append("client_ref", upload.client);
    form.append("file", upload.file);
    xhr.send(form);
  }

  answered(upload, xhr) {
    let body = {};
    try { body = JSON.parse(xhr.responseText); } catch { /* not ours: a proxy's page */ }
    if (xhr.status === 201) {
      const same = body.same_as.length ? `${this.words.accepted}. ${this.words.same}` : this.words.accepted;
      return this.end(upload, "accepted", same);
    }
    if (xhr.status >= 500) return this.again(upload);
    if (xhr.status === 401) return this.end(upload, "refused", this.words.signedOut, true);
    if (xhr.status === 403) return this.end(upload, "refused", this.words.forbidden);
    const code = (body.code ?? "").toLowerCase().replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
    return this.end(upload, "refused", `${this.words.refused}: ${this.words[code] ?? body.detail ?? xhr.status}`);
  }

  // The same key: what was taken already is not taken twice.
  again(upload) {
    const pause = PAUSES[upload.tries++];
    if (pause === undefined) return this.end(upload, "refused", this.words.lost, true);
    setTimeout(() => { this.running -= 1; this.send(upload); }, pause);
  }

  end(upload, kind, text, mayRepeat = false) {
    upload.item.querySelector("progress").value = 1;
    this.show(upload, kind, text, mayRepeat ? this.words.again : null, () => {
      upload.tries = 0;
      this.wait(upload);
      this.next();
    });
    // What needs a person comes first.
    if (kind === "refused") this.list.prepend(upload.item);
    this.count();
    this.running -= 1;
    this.next();
    if (kind === "accepted") refreshSoon();
  }
}

// ── The list, live ──────────────────────────────────────────────────────────────────────────────────────────────────

const LOOKED_AT = 300;
let stream = null;
let refreshing = 0;

// What was just uploaded is shown where the list begins; several uploads make one request.
function refreshSoon() {
  clearTimeout(refreshing);
  refreshing = setTimeout(refresh, 400);
}

function refresh() {
  const list = document.querySelector("#list[data-live=yes]");
  if (!list || document.querySelector("#list .menu[open]")) return list && refreshSoon();
  const address = location.pathname + location.search;
  return window.htmx.ajax("GET", address, { target: "#list", select: "#list", swap: "outerHTML" });
}

function look() {
  stream?.close();
  const list = document.querySelector("#list, #file");
  if (!list) return;
  const rows = list.id === "file" ? [list] : [...list.querySelectorAll("tr[data-mark]")];
  const underWay = (row) => row.querySelector(".uploaded, .processing") !== null;
  const first = [...rows.filter(underWay), ...rows.filter((row) => !underWay(row))].slice(0, LOOKED_AT);
  const marks = first.map((row) => row.dataset.mark).join(",");
  stream = new EventSource(`/console/documents/live?${new URLSearchParams({ marks, newest: list.dataset.newest ?? 0 })}`);
  stream.addEventListener("row", ({ data }) => (list.id === "file" ? reread() : replace(data)));
  stream.addEventListener("newer", () => { if (list.dataset.live === "yes") document.querySelector("#newer").hidden = false; });
  stream.addEventListener("over", () => location.reload());
  // A refusal is final for the browser: the session has ended, or the core has not come back yet.
  stream.onerror = () => { if (stream.readyState === EventSource.CLOSED) setTimeout(lookAgain, 2000); };
}

async function lookAgain() {
  const answer = await fetch(location.pathname, { method: "HEAD", redirect: "manual" }).catch(() => null);
  if (answer?.type === "opaqueredirect") location.reload();
  else if (!document.hidden) look();
}

// The page of one file tells more than a row: it is fetched again, unless somebody is typing in it.
function reread() {
  if (document.querySelector("#file .menu[open]")) return setTimeout(reread, 1000);
  return window.htmx.ajax("GET", location.pathname, { target: "#file", select: "#file", swap: "outerHTML" });
}

function replace(html) {
  const made = document.createElement("template");
  made.innerHTML = html;
  const row = made.content.querySelector("tr");
  const old = row && document.getElementById(row.id);
  if (!old) return;
  const hadFocus = old.contains(document.activeElement);
  if (old.querySelector(".menu[open]")) row.querySelector(".menu").open = true;
  row.classList.add("changed");
  old.replaceWith(row);
  window.htmx.process(row);
  if (hadFocus) row.querySelector("summary")?.focus();
}

// On a phone the search folds away until something is searched for.
const fold = document.querySelector(".fold");
if (fold && !location.search && matchMedia("(max-width: 56rem)").matches) fold.open = false;

const upload = document.querySelector("#upload");
if (upload) new Uploads(upload);
if (document.querySelector("#list, #file")) {
  look();
  document.addEventListener("htmx:after:swap", look);
  // Nobody looks at a hidden page.
  document.addEventListener("visibilitychange", () => (document.hidden ? stream?.close() : look()));
}
