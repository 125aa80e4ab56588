import { join } from "node:path";

const folder = join(import.meta.dirname, "release-0.1.0");
/** The release's data directory, packed: keys and the files of NATS, without those of Postgres. */
export const dataArchive = join(folder, "data.tgz");
/** The release's database as gzipped SQL: its own migrations, then the rows. */
export const databaseDump = join(folder, "database.sql.gz");
/** What `capture-release.ts` created, to compare with. */
export const expectations = join(folder, "expectations.json");
/** The release's chart, packed by `helm package`. */
export const chartArchive = join(folder, "headwater-0.1.0.tgz");

/** The webhooks' endpoint at the time of the capture. Nothing listens on port 9 (discard): each attempt is refused. */
export const refusingUrl = "http://127.0.0.1:9/events";
export const secretToken = "token-of-the-previous-release";

/** Short waits, many attempts: whenever the archive is restored, the next attempt follows within seconds. */
export const settings = { HEADWATER_DELIVERY_RETRY: Array.from({ length: 1_000 }, () => "1s").join(",") };

export interface Expectations {
  readonly ids: Readonly<Record<"counter" | "relay" | "ticker" | "slow" | "ordered" | "plain" | "gone" | "organization", string>>;
  /** Path of each HTTP endpoint, without the host. */
  readonly endpoints: Readonly<Record<"counter" | "slow", string>>;
  /** Keys besides the one in the data directory's file `api-key`. */
  readonly keys: Readonly<Record<"admin" | "reader" | "member", string>>;
  /** The response of `GET` by path, as the release sent it. */
  readonly responses: Readonly<Record<string, unknown>>;
  /** Requests that counted before the capture, in order, and those that were accepted and had not run. */
  readonly counted: readonly number[];
  readonly unrun: readonly number[];
}

/** Counts its runs in the db. A request's `takesMs` says how long its run takes. */
export const counter = `
export default {
  name: "Counter",
  version: "1.0.0",
  key: "counter",
  dedupe: "unique",
  props: { http: "$.interface.http", db: "$.service.db", token: { type: "string", secret: true, optional: true } },
  async run({ body }) {
    await new Promise((resolve) => setTimeout(resolve, body.takesMs ?? 0));
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n, request: body.request, tokenLength: this.token?.length }, { id: body.request, summary: "request " + body.request });
  },
};`;

/** Emits the events of another source. */
export const relay = `
export default {
  name: "Relay",
  version: "1.0.0",
  async run({ request }) {
    this.$emit({ request });
  },
};`;

export const ticker = `
export default {
  name: "Ticker",
  version: "1.0.0",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } }, db: "$.service.db" },
  run() {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n });
  },
};`;
