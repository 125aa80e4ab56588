import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { deliveredSchema } from "../cluster/probe/delivered.ts";
import { call } from "../support/system/client.ts";
import { until } from "../support/until.ts";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startInstallation, type Installation } from "./rolling/installation.ts";

/**
 * Processes of two versions replace each other under load, on one machine. HEADWATER_TEST_PREVIOUS_CHECKOUT is a checkout of the previous
 * version with its node_modules. Without it both versions are the current one.
 */
const current = resolve(import.meta.dirname, "../..");
const previous = process.env["HEADWATER_TEST_PREVIOUS_CHECKOUT"] ?? current;
const perSecond = Number(process.env["HEADWATER_TEST_REQUESTS_PER_SECOND"] ?? 50);
const settings = { HEADWATER_DELIVERY_RETRY: "500ms,1s,2s,4s,8s,16s,32s", HEADWATER_KEEP_EVENTS: "100000", HEADWATER_RUN_TIMEOUT: "15" };

const counter = `
export default {
  name: "Counter",
  dedupe: "unique",
  props: { http: "$.interface.http", db: "$.service.db" },
  run({ body }) {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n, request: body.request }, { id: body.request });
  },
};`;

let directory: TemporaryDirectory;
let installation: Installation;
let probe: ChildProcess;
let probeUrl: string;
const sources: { readonly id: string; readonly endpoint: string }[] = [];

async function askProbe(path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${probeUrl}${path}`, body === undefined ? {} : { method: "POST", body: JSON.stringify(body) });
  return response.json();
}
const stoppedSchema = z.object({ sent: z.number(), refused: z.record(z.string(), z.number()), slowestMs: z.number() });
const delivered = async () => deliveredSchema.parse(await askProbe("/delivered"));
const accepted = async (): Promise<number> => z.object({ accepted: z.number() }).parse(await askProbe("/load")).accepted;

interface Created {
  readonly data: { readonly id: string; readonly configured_props: { readonly http: { readonly endpoint_url: string } } };
}
async function send(path: string, body: object): Promise<Created["data"]> {
  const { status, text, body: answer } = await call<Created>(installation.apiUrl, installation.key, "POST", path, body);
  expect(status, text).toBeLessThan(300);
  return answer.data;
}

beforeAll(async () => {
  directory = await temporaryDirectory("versions");
  const port = await steadyPort();
  probeUrl = `http://127.0.0.1:${port}`;
  probe = spawn(process.execPath, [join(current, "test/cluster/probe/probe.mjs")], {
    env: { ...process.env, PROBE: "probe", PROBE_PORT: String(port) },
    stdio: "inherit",
  });
  installation = await startInstallation(directory.path, previous, settings);
  for (let n = 0; n < 3; n++) {
    const source = await send("/sources", { name: `counter ${n}`, component_code: counter });
    const webhook = await send("/webhooks", { url: `${probeUrl}/events` });
    await send("/subscriptions", { emitter_id: source.id, listener_id: webhook.id });
    sources.push({ id: source.id, endpoint: source.configured_props.http.endpoint_url });
  }
});
afterAll(async () => {
  await installation.stop();
  probe.kill();
  await once(probe, "exit");
  await directory.remove();
});

interface Outcome {
  readonly refused: Readonly<Record<string, number>>;
  readonly missing: number;
  readonly repeated: number;
}
const nothingLost: Outcome = { refused: {}, missing: 0, repeated: 0 };

async function underLoad(step: string, change: () => Promise<void>): Promise<Outcome> {
  await askProbe("/load", { sources, perSecond });
  await until(async () => (await accepted()) > perSecond, "requests are accepted");
  const startedAt = performance.now();
  await change();
  const changedMs = Math.round(performance.now() - startedAt);
  const before = await accepted();
  await until(async () => (await accepted()) > before + perSecond, "requests are accepted afterwards");
  const { sent, refused, slowestMs } = stoppedSchema.parse(await askProbe("/stop", {}));
  const { maxGapMs } = await delivered();
  await until(async () => (await delivered()).missing === 0, "each accepted request is delivered");
  const counts = await delivered();
  const figures = [
    `${changedMs} ms`,
    `${sent} requests, slowest ${Math.round(slowestMs)} ms`,
    `longest time between deliveries ${maxGapMs} ms`,
  ];
  process.stdout.write(`${step}: ${figures.join("; ")}; ${JSON.stringify({ refused, ...counts })}\n`);
  return { refused, missing: counts.missing, repeated: counts.repeated };
}

describe("no request is refused, and each is delivered under one id", () => {
  it("while the current version replaces the previous one", async () => {
    expect(await underLoad("upgrade", () => installation.upgradeTo(current))).toEqual(nothingLost);
  });

  it("while the previous version replaces the current one, on its tables and streams", async () => {
    expect(await underLoad("rollback", () => installation.rollBackTo(previous))).toEqual(nothingLost);
  });

  it("while the current version replaces the previous one again", async () => {
    expect(await underLoad("upgrade again", () => installation.upgradeTo(current))).toEqual(nothingLost);
  });
});
