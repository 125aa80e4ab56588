import { maxTimestampMs } from "../../../domain/clock.ts";
import type { HttpResponse, LogRecord, RunError } from "../../../domain/run-products.ts";
import { limits } from "../limits.ts";
import type { Emit, Products } from "../port.ts";
import { ActionCollector } from "./action-products.ts";
import { forged, limitError } from "./run-error.ts";
import { isJson, isTooDeep, jsonTextBytes, maxNesting } from "../message-size.ts";

/** What a call of `respond` comes to. */
interface AddedResponse {
  /** Sent to the caller at once. */
  readonly announced?: HttpResponse;
  readonly error?: RunError;
}

type Texts = Record<string, string | null>;

/**
 * What a run leaves, as its messages arrive. Each `add` takes the hostile arguments of one message and returns the error that ends
 * the run, if any. Maps have no prototype: a key `__proto__` is a key.
 */
export class ProductCollector {
  readonly #emits: Emit[] = [];
  #emitBytes = 0;
  readonly #logs: LogRecord[] = [];
  #logBytes = 0;
  #logsCut = false;
  readonly #db: Record<string, Texts> = Object.create(null) as Record<string, Texts>;
  #response: HttpResponse | null = null;
  /** Undefined for sources. */
  readonly action: ActionCollector | undefined;
  #hasAnnounced = false;
  /** Of exports, sends, result and response of an action. */
  #actionBytes = 0;

  readonly #onLog: ((record: LogRecord) => void) | undefined;

  /** @param onLog gets each line when it is written */
  constructor(isAction = false, onLog?: (record: LogRecord) => void) {
    this.#onLog = onLog;
    if (isAction) this.action = new ActionCollector((texts) => this.#chargeAction(texts));
  }

  addEmit([payload, id, name, summary, ts, deliverAt, at]: readonly unknown[]): RunError | undefined {
    if (typeof payload !== "string" || payload.length > limits.emitBytes) return forged("emit");
    if (isLonger(id, limits.emitIdCharacters) || isLonger(name, limits.nameCharacters)) return forged("emit");
    if (typeof name === "string" && name.startsWith("$")) return forged("emit");
    if (this.#emits.length >= limits.emits) return limitError("emit_limit", `a run may emit ${limits.emits} events`);
    const emit: Emit = {
      payload,
      ...((typeof id === "string" || isFinite(id)) && { id }),
      ...(typeof name === "string" && { name }),
      ...(typeof summary === "string" && { summary: shortened(summary, limits.summaryCharacters) }),
      ...(isTime(ts) && { ts }),
      ...(isTime(deliverAt) && { deliverAt }),
      at: isTime(at) ? at : Date.now(),
    };
    this.#emitBytes += limits.recordBytes;
    for (const text of [payload, emit.id, emit.name, emit.summary]) if (typeof text === "string") this.#emitBytes += jsonTextBytes(text);
    if (this.#emitBytes + this.#actionBytes > limits.productBytes)
      return limitError("emit_limit", `the events of a run may have ${limits.productBytes} bytes together; they have ${this.#emitBytes}`);
    if (isTooDeep(payload))
      return limitError("emit_too_large", `an emitted event is nested more than ${maxNesting} levels deep, the limit`);
    if (!isJson(payload)) return forged("emit");
    this.#emits.push(emit);
    this.#makeRoom();
    return undefined;
  }

  #chargeAction(texts: readonly string[]): RunError | undefined {
    this.#actionBytes += limits.recordBytes;
    for (const text of texts) this.#actionBytes += jsonTextBytes(text);
    const bytes = this.#emitBytes + this.#actionBytes;
    if (bytes > limits.productBytes)
      return limitError(
        "step_too_large",
        `the exports, the returned value, the response and the sends of a step may have ${limits.productBytes} bytes together; they have ${bytes}`,
      );
    this.#makeRoom();
    return undefined;
  }

  /** Too many lines, or too long ones, are cut with a notice: a run must not fail for what it said. */
  addLog([kind, message, ts]: readonly unknown[]): undefined {
    if (this.#logsCut || typeof kind !== "string" || typeof message !== "string") return;
    const limit = limits.logLineCharacters;
    const msg = message.length > limit ? `${message.slice(0, limit)}… (cut at ${limit} characters)` : message;
    const bytes = limits.recordBytes + jsonTextBytes(msg);
    if (this.#logs.length >= limits.logLines || this.#emitBytes + this.#actionBytes + this.#logBytes + bytes > limits.productBytes) {
      this.#logsCut = true;
      return;
    }
    this.#logBytes += bytes;
    const record = { k: kind.slice(0, 64), ts: isTime(ts) ? ts : Date.now(), msg };
    this.#logs.push(record);
    this.#onLog?.(record);
  }

  /** Events come first: what a run says takes the room that they leave. */
  #makeRoom(): void {
    while (this.#emitBytes + this.#actionBytes + this.#logBytes > limits.productBytes && this.#logs.length > 0) {
      const dropped = this.#logs.pop();
      this.#logBytes -= limits.recordBytes + jsonTextBytes(dropped?.msg ?? "");
      this.#logsCut = true;
    }
  }

  /** A line of ours. */
  addNotice(msg: string): undefined {
    this.addLog(["console.warn", msg, Date.now()]);
  }

  addDbChange([prop, key, text]: readonly unknown[]): RunError | undefined {
    if (typeof prop !== "string" || typeof key !== "string") return forged("db");
    if (typeof text === "string" && isTooDeep(text))
      return limitError("db_too_large", `a value set in the db is nested more than ${maxNesting} levels deep, the limit`);
    if (text !== undefined && text !== null && (typeof text !== "string" || text.length > limits.dbBytes * 2 || !isJson(text)))
      return forged("db");
    const changes = (this.#db[prop] ??= Object.create(null) as Texts);
    changes[key] = text ?? null;
    return undefined;
  }

  /** `respond()` of a source: the first response counts. */
  addResponse([status, headers, body, , isStreamed]: readonly unknown[]): AddedResponse {
    const response = parseResponse(status, headers, body);
    if (response === undefined) return { error: forged("respond") };
    if (this.#response !== null) return {};
    this.#response = response;
    return { announced: asAnnounced(response, isStreamed) };
  }

  /** `$.respond`: the last response without `immediate` is kept, one with it is only announced. A streamed one is immediate. */
  addActionResponse([status, headers, body, isImmediate, isStreamed]: readonly unknown[]): AddedResponse {
    const response = parseResponse(status, headers, body);
    if (response === undefined) return { error: forged("respond") };
    // The guest's own code announces one.
    if (isImmediate === true && this.#hasAnnounced) return { error: forged("respond") };
    this.#hasAnnounced ||= isImmediate === true;
    if (isImmediate === true) return { announced: asAnnounced(response, isStreamed) };
    this.#response = response;
    const error = this.#chargeAction([response.body, JSON.stringify(response.headers)]);
    return error === undefined ? {} : { error };
  }

  get response(): HttpResponse | null {
    return this.#response;
  }

  /** The error, when the db of the source would be over its limit; then no change is kept. */
  checkDb(stored: Readonly<Record<string, Readonly<Record<string, string>>>>): RunError | undefined {
    const bytes = databaseBytes(stored, this.#db);
    if (bytes <= limits.dbBytes) return undefined;
    for (const prop of Object.keys(this.#db)) delete this.#db[prop];
    return limitError(
      "db_too_large",
      `the db of this source would have ${bytes} bytes of keys and JSON; the limit is ${limits.dbBytes}; nothing of this run's changes to it is kept`,
    );
  }

  /** @param hasReturned whether what an action asked to send is part of it */
  products(durationMs: number, cpuMs: number, hasReturned = true): Products {
    const logs = this.#logsCut ? [...this.#logs, cutNotice()] : this.#logs;
    const action = this.action?.products(hasReturned);
    return { emits: this.#emits, logs, db: this.#db, response: this.#response, ...(action && { action }), durationMs, cpuMs };
  }
}

function databaseBytes(stored: Readonly<Record<string, Readonly<Record<string, string>>>>, changes: Record<string, Texts>): number {
  if (Object.keys(changes).length === 0) return 0;
  let bytes = 0;
  for (const prop of new Set([...Object.keys(stored), ...Object.keys(changes)])) {
    const merged: Texts = Object.assign(Object.create(null), stored[prop], changes[prop]);
    for (const [key, text] of Object.entries(merged)) {
      if (text !== null) bytes += Buffer.byteLength(key) + Buffer.byteLength(text);
    }
  }
  return bytes;
}

/** The body of a streamed response follows in pieces. */
const asAnnounced = (response: HttpResponse, isStreamed: unknown): HttpResponse =>
  isStreamed === true && response.body === "" ? { ...response, isStreamed } : response;

function parseResponse(status: unknown, headersText: unknown, body: unknown): HttpResponse | undefined {
  if (typeof status !== "number" || !Number.isInteger(status) || status < 200 || status > 599) return undefined;
  if (typeof headersText !== "string" || headersText.length > 64 * 1024 || !isJson(headersText)) return undefined;
  const headers = parseHeaders(JSON.parse(headersText));
  if (typeof body === "string") return Buffer.byteLength(body) > limits.responseBytes ? undefined : { status, headers, body };
  if (!(body instanceof Uint8Array) || body.byteLength > limits.responseBytes) return undefined;
  return {
    status,
    headers,
    body: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("base64"),
    base64: true,
  };
}

function parseHeaders(value: unknown): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  for (const [name, field] of Object.entries(Object(value) as object)) {
    if (typeof field === "string") headers[name] = field;
    else if (Array.isArray(field)) headers[name] = field.filter((item) => typeof item === "string");
  }
  return headers;
}

function isLonger(text: unknown, limit: number): boolean {
  return typeof text === "string" && text.length > limit;
}

function shortened(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

function cutNotice(): LogRecord {
  const msg = `the log of this run is cut here: log_limit is ${limits.logLines} lines and, with its events, ${limits.productBytes} bytes`;
  return { k: "console.warn", ts: Date.now(), msg };
}

/** Any other would throw where a `Date` is made of it, or make readers skip the run's commit: nothing of it would be stored, delivered or counted. */
function isTime(value: unknown): value is number {
  return isFinite(value) && Math.abs(value) <= maxTimestampMs;
}

function isFinite(value: unknown): value is number {
  return Number.isFinite(value);
}
