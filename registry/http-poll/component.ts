import { createHash } from "node:crypto";
import { defineSource } from "headwater/types";
import { decodeText, fetchIfChanged, type Validators } from "../shared/conditional-fetch.ts";
import { valueAt } from "../shared/json-path.ts";

interface Remembered {
  readonly hash: string;
  /** The value itself while it is small: it is the `previous` of the next event. */
  readonly value?: unknown;
}

const maxRememberedLength = 16 * 1024;

export default defineSource({
  name: "Change of an HTTP Response",
  key: "headwater-http-poll",
  version: "1.0.0",
  type: "source",
  description: "Asks an address again and again, and emits when the answer, or a part of its JSON, has changed",
  annotations: { released: "2026-11-21" },
  props: {
    db: "$.service.db",
    timer: { type: "$.interface.timer", label: "Interval", description: "How often it is asked", default: { intervalSeconds: 300 } },
    url: { type: "string", label: "URL", description: "Address to ask" },
    path: {
      type: "string",
      label: "JSON Path",
      description:
        "The part of the answer that counts, such as `data.items[0].price`. Without one, all of it; the answer need not be JSON then.",
      optional: true,
    },
    method: { type: "string", label: "Method", description: "Of the request", options: ["GET", "POST", "PUT"], default: "GET" },
    headers: { type: "object", label: "Headers", description: "Of the request, such as `Accept`", optional: true },
    token: { type: "string", label: "Bearer Token", description: "Sent as `Authorization: Bearer …`", secret: true, optional: true },
    body: { type: "string", label: "Body", description: "Of the request; no GET has one", optional: true },
    emitFirst: { type: "boolean", label: "Emit the First Answer", description: "Also emit what the first request finds", default: false },
  },
  methods: {
    async ask(): Promise<{ value: unknown; validators: Validators } | undefined> {
      const headers = Object.fromEntries(Object.entries(this.headers ?? {}).map(([name, value]) => [name, String(value)]));
      const fetched = await fetchIfChanged(this.url, {
        method: this.method,
        headers: { ...headers, ...(this.token === undefined ? {} : { authorization: `Bearer ${this.token}` }) },
        body: this.method === "GET" ? undefined : this.body,
        // Of another part of the answer it is not known whether it has changed.
        validators: this.db.get("of") === this.subject() ? this.db.get("validators") : undefined,
      });
      if (!fetched.changed) return undefined;
      return { value: this.select(decodeText(fetched.bytes, fetched.type)), validators: fetched.validators };
    },
    /** What is looked at: values of another are not compared. */
    subject(): string {
      return `${this.url} ${this.path ?? ""}`;
    },
    select(text: string): unknown {
      const value = parse(text);
      if (this.path === undefined || this.path === "") return value ?? text;
      if (value === undefined)
        throw new Error(`${this.url} answered with what is no JSON, in which "${this.path}" cannot be found: ${text.slice(0, 100)}`);
      return valueAt(value, this.path) ?? null;
    },
  },
  async run(event) {
    const answer = await this.ask();
    if (answer === undefined) return;
    const { value, validators } = answer;
    const text = JSON.stringify(value);
    const hash = createHash("sha256").update(text).digest("base64url");
    const last: Remembered | undefined = this.db.get("last");
    const isFirst = last === undefined || this.db.get("of") !== this.subject();
    this.db.set("of", this.subject());
    this.db.set("last", { hash, ...(text.length <= maxRememberedLength ? { value } : {}) } satisfies Remembered);
    this.db.set("validators", validators);
    if (isFirst ? !this.emitFirst : last.hash === hash) return;
    const previous = isFirst ? null : (last.value ?? null);
    // Run by hand there is no tick.
    this.$emit(
      { url: this.url, value, previous, first: isFirst },
      {
        summary: `${this.path ?? this.url}: ${text.slice(0, 80)}`,
        ts: typeof event?.timestamp === "number" ? event.timestamp * 1_000 : Date.now(),
      },
    );
  },
});

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
