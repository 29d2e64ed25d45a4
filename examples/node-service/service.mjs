// A recognition service without the SDK: trial balances (ОСВ) as text with semicolons, under .xls.
// docs/howto/join-without-the-sdk.md walks through it; the numbers in brackets are the contract's.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import Ajv from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { AwsClient } from "aws4fetch";
import { AckPolicy, connect, headers, nanos } from "nats";

const env = (name, usual) => process.env[name] || usual;
const service = { name: "text-parser", version: "1.0.0" };
const onStream = env("NATS_TRANSPORT", "core") === "jetstream";
const requests = env("NATS_SUBJECT_TABULAR_REQUEST", onStream ? "recognition.tabular.request" : "files.tabular_uploaded");
const results = env("NATS_SUBJECT_RESULT", onStream ? "recognition.result" : "files.tabular_parsed");
const bucket = env("S3_BUCKET", "arm-ka");
const s3 = new AwsClient({
  accessKeyId: env("S3_ACCESS_KEY_ID", ""), secretAccessKey: env("S3_SECRET_ACCESS_KEY", ""),
  region: env("S3_REGION", "us-east-1"), service: "s3", retries: 0,
});
const contract = env("CONTRACT", new URL("../../docs/contracts/", import.meta.url));
const schema = JSON.parse(readFileSync(new URL("recognition-request.schema.json", contract)));
const isValid = addFormats(new Ajv({ strict: false })).compile(schema); // formats are asserted
const handled = new Map(); // job → when it may be forgotten [C4.4, C4.7]
const inWork = new Set();
const nc = await connect({ servers: env("NATS_URL", "nats://127.0.0.1:4222"), maxReconnectAttempts: -1 });

class Refused extends Error {
  constructor(code, message) { super(message); this.code = code; }
}

async function meet(data, header) {
  let request;
  try { request = JSON.parse(new TextDecoder().decode(data)); } catch { return; } // nobody to answer [C4.3]
  const isId = (id) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(typeof id === "string" ? id : "");
  if (!isId(request?.job_id) || !isId(request?.file_id)) return; // [C4.3]
  if (!isValid(request)) {
    if (handled.has(request.job_id)) return; // its answer would pass for the job's own result [C4.5]
    const given = Number.isInteger(request.attempt) && request.attempt >= 1 ? request.attempt : null;
    const attempt = given ?? /^[^:]+:([1-9]\d*)$/.exec(header?.get("Nats-Msg-Id") ?? "")?.[1]; // OQ-71
    const why = `Запрос не соответствует контракту: ${JSON.stringify(isValid.errors[0].message)}`;
    if (attempt) await settle({ ...request, attempt }, { status: "error", error: { code: "SCHEMA_MISMATCH", message: why } });
    return; // [C4.2]
  }
  say(request, "ack", { status: "processing" }); // at once, before anything is read [C4.1], again for a repeat [C4.4]
  if (handled.has(request.job_id)) return;
  const deadline = Date.parse(request.reply_deadline);
  handled.set(request.job_id, Math.max(deadline, Date.now() + 600_000));
  for (const [job, until] of handled) if (until < Date.now()) handled.delete(job);
  const work = recognise(request, deadline).catch((error) => {
    if (!(error instanceof Refused)) console.error(error);
    return { status: "error", error: { code: error.code in codes ? error.code : "UNKNOWN_ERROR", message: error.message } };
  }).then((end) => settle(request, end, deadline));
  inWork.add(work);
  await work.finally(() => inWork.delete(work));
}
const codes = { TIMEOUT: 1, UNSUPPORTED_FORMAT: 1, FILE_READ_ERROR: 1, UNREADABLE: 1, INVALID_FORMAT: 1, INVALID_DOCUMENT: 1 };

async function recognise(request, deadline) {
  if (deadline < Date.now()) throw new Refused("TIMEOUT", "Время на распознавание вышло. Запустите новую попытку."); // [C4.6]
  if (request.file_type !== "XLS") throw new Refused("UNSUPPORTED_FORMAT", "Этот сервис читает только текст под .xls.");
  const source = Buffer.from(await fetched("GET", request.s3.bucket, request.s3.key, undefined, deadline));
  const document = parse(source);
  const key = `results/${request.file_id}/${request.job_id}/result.json`;
  const result = {
    schema_version: "1.0", job_id: request.job_id, file_id: request.file_id, service, created_at: new Date().toISOString(),
    source: { sha256: createHash("sha256").update(source).digest("hex"), size_bytes: source.length, file_type: "XLS" },
    group_schema: document.group_schema, documents: [document],
  };
  await fetched("PUT", bucket, key, JSON.stringify(result), deadline); // the file first, then the envelope [C4.1]
  const unsure = document.lines.some((line) => line.unknown.length > 0);
  return { status: unsure ? "needs_check" : "done", result_s3: { bucket, key }, result_schema_version: "1.0" };
}

function parse(source) {
  if (source.subarray(0, 4).equals(Buffer.from([0xd0, 0xcf, 0x11, 0xe0]))) throw new Refused("INVALID_FORMAT", "Это книга Excel: сохраните её как текст.");
  let text;
  try { text = new TextDecoder("utf-8", { fatal: true }).decode(source); } catch { throw new Refused("UNREADABLE", "Файл повреждён: это не текст."); }
  const [title, ...rows] = text.split(/\r?\n/).filter((row) => row.trim());
  if (!rows.length) throw new Refused(title ? "INVALID_DOCUMENT" : "UNREADABLE", "В файле нет строк ведомости.");
  const columns = ["opening_debit", "opening_credit", "turnover_debit", "turnover_credit", "closing_debit", "closing_credit"];
  const lines = rows.map((row, index) => {
    const [account, name, ...cells] = row.split(";").map((cell) => cell.trim());
    const amount = (cell) => { const text = (cell ?? "").replace(/\s/g, "").replace(",", "."); return /^-?\d{1,18}(\.\d{1,6})?$/.test(text) ? text : null; };
    const unknown = columns.flatMap((column, n) => (cells[n] && amount(cells[n]) === null ? [{ column, raw: cells[n] }] : []));
    return { n: index + 1, level: 0, kind: "account", account, name: name ?? "", values: columns.map((_, n) => amount(cells[n])), unknown, row: index + 2 };
  });
  return { kind: "OSV", group_schema: "accounts", title, unit: 1, source: { sheet: "text" }, lines, checks: [] };
}

async function fetched(method, inBucket, key, body, deadline) { // S3 may come and go until the deadline
  const url = `${env("S3_ENDPOINT_URL", "http://127.0.0.1:8333")}/${inBucket}/${key.split("/").map(encodeURIComponent).join("/")}`;
  for (; Date.now() < deadline; await pause(500)) {
    const answer = await s3.fetch(url, { method, body }).catch(() => null);
    if (answer?.ok) return answer.arrayBuffer();
    if (answer?.status === 404) throw new Refused("FILE_READ_ERROR", "Загруженного файла нет в хранилище.");
  }
  throw new Refused("FILE_READ_ERROR", "Хранилище файлов недоступно. Запустите новую попытку.");
}

function message(request, kind, fields) {
  const header = headers();
  header.set("Nats-Msg-Id", `${kind}:${request.job_id}:${request.attempt}`);
  const { job_id, file_id } = request;
  return [JSON.stringify({ schema_version: "1.0", job_id, file_id, service, ...fields }), { headers: header }];
}
const say = (request, kind, fields) => nc.publish(results, ...message(request, kind, fields));

async function settle(request, fields, deadline = Date.now() + 600_000) { // the same envelope again, until it is answered [I8]
  const [body, options] = message(request, "result", fields);
  for (let wait = Number(env("REPEAT_SECONDS", "10")) * 1000; ; wait *= 2) {
    if (await nc.request(results, body, { ...options, timeout: wait }).catch(() => pause(Math.min(wait, 1000), null))) return;
    if (Date.now() > deadline || stopping) return;
  }
}

let stopping = false;
let stop = () => taken.drain();
for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, async () => {
  stopping = true;
  await stop(); // take no more, finish what is in hand
  await Promise.allSettled([...inWork]);
  await nc.drain();
  process.exit(0);
});

let taken;
if (onStream) { // one durable, named like the service [C4.7]; a request is acknowledged when its job has ended
  const manager = await nc.jetstreamManager();
  await manager.consumers.add("RECOGNITION", { durable_name: service.name, ack_policy: AckPolicy.Explicit, filter_subject: requests, ack_wait: nanos(60_000) });
  taken = await (await nc.jetstream().consumers.get("RECOGNITION", service.name)).consume({ max_messages: 1000 });
  stop = () => taken.close();
  for await (const it of taken) meet(it.data, it.headers).then(() => it.ack(), (error) => console.error(error));
} else { // a queue group, named like the service [C4.7]
  taken = nc.subscribe(requests, { queue: service.name });
  for await (const it of taken) meet(it.data, it.headers).catch((error) => console.error(error));
}
