import ivm from "isolated-vm";

export type CachedData = ivm.ExternalCopy<ArrayBuffer>;

/** The guest's scripts as text, and V8's code caches of them when there are any. */
export interface Prelude {
  readonly web: PreludeScript;
  readonly node: PreludeScript;
}

export interface PreludeScript {
  readonly code: string;
  readonly cachedData: CachedData | undefined;
}

const timeoutMs = 10_000;

/** The guest's scripts, compiled once for all contexts of an isolate. */
export async function compilePrelude(isolate: ivm.Isolate, prelude: Prelude, needsNode: boolean): Promise<readonly ivm.Script[]> {
  const web = await compile(isolate, "sandbox:web", prelude.web);
  return needsNode ? [web, await compile(isolate, "sandbox:node", prelude.node)] : [web];
}

export async function runPrelude(scripts: readonly ivm.Script[], context: ivm.Context): Promise<void> {
  for (const script of scripts) await script.run(context, { timeout: timeoutMs });
}

async function compile(isolate: ivm.Isolate, filename: string, { code, cachedData }: PreludeScript): Promise<ivm.Script> {
  return await isolate.compileScript(code, { filename, ...(cachedData && { cachedData }) });
}

/**
 * Code caches taken after one execution: functions that V8 compiles when they are first called are in them then, which is most of
 * the cost of a prelude. V8 believes a cache without checks, so they come from our own scripts only.
 */
export async function makeCaches(web: string, node: string): Promise<{ readonly web: Uint8Array; readonly node: Uint8Array }> {
  const isolate = new ivm.Isolate({ memoryLimit: 256 });
  try {
    const context = await isolate.createContext();
    const uncached: Prelude = {
      web: { code: web, cachedData: undefined },
      node: { code: node, cachedData: undefined },
    };
    await runPrelude(await compilePrelude(isolate, uncached, true), context);
    await warmUp(context);
    return { web: await cacheOf(isolate, web, "sandbox:web"), node: await cacheOf(isolate, node, "sandbox:node") };
  } finally {
    isolate.dispose();
  }
}

/** Runs a component that touches what most components do. */
async function warmUp(context: ivm.Context): Promise<void> {
  const dispatch = (await context.evalClosure("return globalThis.__bind($0)", [new ivm.Callback(() => [true, new Uint8Array(16)])], {
    result: { reference: true },
    timeout: timeoutMs,
  })) as ivm.Reference<(...args: unknown[]) => unknown>;
  await context.eval(typicalComponent, { timeout: timeoutMs });
  const event = JSON.stringify({
    method: "POST",
    path: "/",
    url: "https://x/",
    query: {},
    headers: { "content-type": "application/json" },
    bodyRaw: "{}",
  });
  const source = ["run", event, "{}", { db: { key: "1" } }, "https://x/", "[]"];
  const step = {
    steps: `{"trigger":{"event":${event}}}`,
    context: "{}",
    resumeUrl: "https://x/",
    cancelUrl: "https://x/",
    variables: "{}",
    secretProps: [],
  };
  const action = ["run", "null", `{"text":"{{ steps.trigger.event.path }}"}`, {}, null, "[]", undefined, step];
  for (const [kind, ...args] of [["describe"], ["run", ...source], ["run", ...action]]) {
    const call = [0, kind, ...args] as never;
    const messages = (await dispatch.apply(undefined, call, {
      arguments: { copy: true },
      result: { copy: true },
      timeout: timeoutMs,
    })) as readonly (readonly unknown[])[];
    // What comes after a failure would be missing from every cache, which no test would show.
    const failure = messages.find(([, kind]) => kind === "failed" || kind === "uncaught");
    if (failure !== undefined) throw new Error(`the component that warms up the guest's scripts failed: ${JSON.stringify(failure)}`);
  }
}

const typicalComponent = `
  for (const name of ["buffer", "events", "util", "stream", "crypto", "http", "https", "url", "path", "querystring", "zlib"]) {
    try { globalThis.__builtin?.(name); } catch {}
  }
  __register({ default: {
    name: "typical", props: { db: "$.service.db", http: "$.interface.http", text: { type: "string" } }, methods: { print() { console.log("%s", "x", { a: [1] }); } },
    async run(event) {
      if (event.$ !== undefined) {
        event.$.export("$summary", "s");
        event.$.send.emit({ raw_event: {} });
        return this.text;
      }
      this.print();
      this.db.set("key", (this.db.get("key") ?? 0) + 1);
      this.http.respond({ status: 200, headers: { a: "b" }, body: { ok: true } });
      this.$emit({ event }, { id: 1, summary: "s", name: "n", ts: Date.now() });
      clearTimeout(setTimeout(() => {}, 1));
      new URL("/a?b=c", "https://x/").searchParams.get("b");
      new TextDecoder().decode(new TextEncoder().encode("x"));
      new Headers({ a: "b" }).get("a");
      new Request("https://x/", { method: "POST", body: "x", headers: { a: "b" } });
      await new Response("{}").json();
      crypto.randomUUID();
      // Libraries ask whether there are such.
      for (const name of ["ReadableStream", "FormData", "Blob", "AbortController"]) globalThis[name];
      return { ok: true };
    },
  } });`;

async function cacheOf(isolate: ivm.Isolate, code: string, filename: string): Promise<Uint8Array> {
  const cache = await produceCache(isolate, code, filename);
  return new Uint8Array(cache?.copy() ?? new ArrayBuffer(0));
}

/** Compiles again what has run in this isolate, for the cache alone. */
export async function produceCache(isolate: ivm.Isolate, code: string, filename: string): Promise<CachedData | undefined> {
  const script: ivm.Script & { cachedData?: CachedData } = await isolate.compileScript(code, {
    filename,
    produceCachedData: true,
  });
  script.release();
  return script.cachedData;
}
