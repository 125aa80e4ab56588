/**
 * Components for run-semantics.test.ts, with one function per case. The event names the case, so a row of the table needs a run but no
 * deployment. Tests of stacks assert line numbers of this code.
 */
export const cases = `export default {
  name: "Cases", props: { db: "$.service.db", other: "$.service.db", http: { type: "$.interface.http", customResponse: true } },
  methods: {
    deep() { throw new RangeError("deep"); },
    async emitsLater() { await 0; this.$emit("later, without waiting"); },

    anyEvent() { this.$emit(); this.$emit(undefined); this.$emit(null); this.$emit(new Date(0)); this.$emit({ f() {}, d: new Date(0), u: undefined, n: NaN, m: new Map([[1, 2]]) }); this.$emit([undefined, () => 1]); this.$emit("text"); this.$emit(0); },
    aFunction() { this.$emit("before", { summary: "first" }); this.$emit(() => 1, { summary: "second" }); },
    aSymbol() { this.$emit(Symbol("x")); },
    bigInt() { this.$emit({ n: 1n }); },
    cyclic() { const a = {}; a.a = a; this.$emit(a); },
    changedLater() { const e = { n: 1 }; this.$emit(e); e.n = 2; },
    order() { this.$emit("c", { ts: 3000 }); this.$emit("a", { ts: 1000 }); this.$emit("b1", { ts: 2000 }); this.$emit("b2", { ts: 2000 }); },
    noTsIsNow() { this.$emit("now"); this.$emit("future", { ts: Date.now() + 1e6 }); this.$emit("past", { ts: 1 }); },
    times() { for (const ts of [new Date(5), "1970-01-01T00:00:00.006Z", "7", 8n, { valueOf: () => 9 }, "", "soon", NaN, Infinity, true, [], null, 1e300]) this.$emit("e", { ts }); },
    meta() { this.$emit(1, { id: 7, name: "chan", summary: 5, ts: 1 }); this.$emit(2, { id: "7", summary: { a: 1 }, name: "" }); this.$emit(3, { id: new Date(0), summary: null, name: null }); this.$emit(4, null); this.$emit(5, "metadata"); this.$emit(6, { id: 10n ** 20n, summary: "x".repeat(5000) }); this.$emit(7, { id: { toString: () => "507f" } }); },
    idObject() { this.$emit(1, { id: { a: 1 }, summary: "the odd one" }); },
    idNaN() { this.$emit(1, { id: NaN }); },
    reservedName() { this.$emit(1); this.$emit({ error: {} }, { name: "$errors", summary: "forged" }); },
    nameObject() { this.$emit(1, { name: {} }); },
    nul() { this.$emit("a\\u0000b", { id: "i\\u0000", summary: "s\\u0000", name: "n\\u0000" }); console.log("l\\u0000"); },
    surrogates() { this.$emit("\\ud800", { id: "\\ud800", summary: "\\udfff" }); console.log("\\ud800"); this.db.set("\\ud800", "\\ud800"); },
    megabyte() { this.$emit("x".repeat(2 ** 20 - 2)); },
    overMegabyte() { this.$emit("x".repeat(2 ** 20), { summary: "big" }); },
    ten() { for (let n = 0; n < 10_000; n++) this.$emit({ n }); },
    eleven() { for (let n = 0; n < 10_001; n++) this.$emit(n); },
    sixMegabytes() { for (let n = 0; n < 7; n++) this.$emit("x".repeat(2 ** 20 - 2)); },
    quotes() { for (let n = 0; n < 5; n++) this.$emit('"'.repeat(2 ** 18)); },
    later() { this.emitsLater(); this.$emit("at once"); },
    afterTimer() { setTimeout(() => this.$emit("too late"), 1); this.$emit("in time"); },
    afterRequest() { fetch("http://127.0.0.1:1/").catch(() => this.$emit("too late")); },
    beforeThrow() { this.$emit("kept"); this.db.set("kept", true); throw new Error("after"); },

    dbSync() { this.db.set("n", 1); const was = this.db.get("n"); this.db.set("n", was + 1); return [was, this.db.get("n"), this.db.get("none") === undefined, this.other.get("n") === undefined]; },
    dbNext() { return [this.db.get("n"), this.db.get("kept")]; },
    dbDelete() { this.db.set("n", undefined); return this.db.get("n") === undefined; },
    dbCopies() { const v = { a: 1 }; this.db.set("v", v); v.a = 2; this.db.get("v").a = 3; return this.db.get("v"); },
    dbKeys() { for (const key of ["__proto__", "constructor", "", "a.b", "ключ", 5, null]) this.db.set(key, String(key)); },
    dbKeysRead() { return ["__proto__", "constructor", "", "a.b", "ключ", "5", "null", "toString"].map((key) => this.db.get(key) ?? "none"); },
    dbTooLarge() { this.db.set("small", 1); for (let n = 0; n < 4; n++) this.db.set("k" + n, "x".repeat(20_000)); this.$emit("emitted all the same"); },
    dbTooLargeRead() { return [this.db.get("small") ?? "none", this.db.get("k0") ?? "none"]; },
    dbOneTooLarge() { this.db.set("k", "x".repeat(70_000)); },
    dbFunction() { this.db.set("f", () => 1); },
    dbCyclic() { const a = {}; a.a = a; this.db.set("c", a); },
    dbBigInt() { this.db.set("b", 1n); },

    levels() { for (const level of ["log", "info", "warn", "error", "debug"]) console[level](level, { a: 1 }); },
    printed() { console.table([{ a: 1, b: "x" }, { a: 2 }]); console.group("g"); console.log("in\\nside"); console.groupEnd(); console.count(); console.count(); console.assert(1 === 2, "no"); console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 }); console.timeEnd("nothing"); console.log("%s is %d", "x", 5, new Map([["k", [1]]])); },
    bigLog() { console.log({ a: Array.from({ length: 100 }, () => "x".repeat(100_000)) }); console.log("y".repeat(10_000_000)); },
    manyLogs() { for (let n = 0; n < 500; n++) console.log("z".repeat(16_000)); this.$emit("emitted all the same"); },
    throwingGetter() { console.log(new Proxy({}, { ownKeys() { throw new Error("no"); } })); },
    loggedError() { try { this.deep(); } catch (error) { console.error("caught", error); } },

    throwsError() { this.deep(); },
    throwsText() { throw "just text"; },
    throwsObject() { throw { status: 500, reason: "odd" }; },
    throwsNothing() { throw undefined; },
    throwsCause() { throw new Error("outer", { cause: new TypeError("inner") }); },
    throwsAggregate() { throw new AggregateError([new TypeError("one"), "two"], "many"); },
    rejects() { return Promise.reject(new RangeError("rejected")); },
    async unhandled() { Promise.reject(new RangeError("no handler")); await new Promise((ok) => setTimeout(ok, 2_000)); },
    async inTimer() { setTimeout(() => this.deep(), 1); await new Promise((ok) => setTimeout(ok, 2_000)); },
    stalls() { return new Promise(() => {}); },
    env() { return [process.env, Object.keys(process.env)]; },
    respondTwice() { this.http.respond({ status: 200 }); this.http.respond({ status: 201 }); },
    returns() { return { a: [1, null], d: new Date(0) }; },
    returnsCyclic() { const a = {}; a.a = a; return a; },
  },
  async run(event) {
    const { act } = event.body ?? event;
    return await this[act](event);
  },
};
`;

/** Responds as its request demands. */
export const responder = `import { Readable } from "node:stream";
const bodies = { text: "plain", object: { a: 1 }, buffer: Buffer.from([0, 255]), array: [1], none: undefined, number: 5, stream: Readable.from(["x"]), web: new ReadableStream({ start(c) { c.enqueue("w"); c.close(); } }), promise: Promise.resolve(1) };
export default {
  name: "Responder", props: { http: { type: "$.interface.http", customResponse: true } },
  async run({ body }) {
    if (body.throwBefore) throw new Error("secret reason");
    if (body.nothing) return;
    if (body.emit) this.$emit("got it");
    this.http.respond({ status: body.status ?? 200, headers: body.headers, body: bodies[body.body] });
    if (body.work) { await new Promise((ok) => setTimeout(ok, body.work)); this.$emit("worked"); }
    if (body.throwAfter) throw new Error("too late to matter");
  },
};`;

/** Emits the ids of its event, with the dedupe strategy of its deployment. */
export const dedupes = (strategy: string): string => `export default { name: "Dedupes ${strategy}", dedupe: "${strategy}",
  run({ emits }) { for (const emit of emits) this.$emit(emit.id ?? "none", emit); } };`;

/** Its props select what each hook does. */
export const hooked = `export default {
  name: "Hooked", props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db", fails: { type: "string", optional: true } },
  methods: {
    async act(hook) {
      const ran = [...(this.db.get("ran") ?? []), hook];
      this.db.set("ran", ran);
      this.$emit({ hook, ran, endpoint: typeof this.http.endpoint }, { summary: hook });
      this.http.respond({ status: 200, body: "no caller" });
      if (this.fails === hook) throw new RangeError("cannot " + hook);
    },
  },
  hooks: { deploy() { return this.act("deploy"); }, activate() { return this.act("activate"); }, deactivate() { return this.act("deactivate"); } },
  run() { return this.db.get("ran"); },
};`;

export const ticks = `export default { name: "Ticks", props: { timer: "$.interface.timer" }, run(event) { this.$emit(event); } };`;
export const listens = `export default { name: "Listens", run(event) { this.$emit({ heard: event }); } };`;
export const waits = `export default { name: "Waits", run({ at }) { this.$emit("later", { delivery_ts: at }); this.$emit("at once"); } };`;
export const action = `export default { name: "Act", key: "act", version: "0.0.1", type: "action", props: {}, run({ $ }) { return 1; } };`;
export const slowTicks = `export default { name: "Slow", props: { timer: "$.interface.timer" }, run: () => new Promise((done) => setTimeout(done, 2_500)) };`;
export const repeats = `export default { name: "Repeats", props: { http: "$.interface.http" }, run({ body }) { this.$emit({ repeats: body }); } };`;
