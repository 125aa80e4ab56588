import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { call, launch, until } from "./support/headwater.ts";
import { processesOf } from "./support/process-tree.ts";

/** `/readyz` is 200 once a component can be saved and run. */

let directory: TemporaryDirectory;
let port: number;
let started: ReturnType<typeof launch>;

beforeAll(async () => {
  directory = await temporaryDirectory("readiness");
  port = await steadyPort();
  started = launch({
    HEADWATER_DATA: directory.path,
    HEADWATER_LISTEN: `127.0.0.1:${port}`,
    HEADWATER_INGRESS_LISTEN: `127.0.0.1:${await steadyPort()}`,
    HEADWATER_LOG_LEVEL: "error",
  });
});
afterAll(async () => {
  const exited = new Promise((resolve) => started.child.once("exit", resolve));
  started.child.kill("SIGINT");
  await exited;
  await directory.remove();
});

interface Readiness {
  readonly status: number;
  readonly body: { readonly status: string; readonly checks: Readonly<Record<string, string>> };
}

async function readiness(): Promise<Readiness | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
  return response === undefined ? undefined : { status: response.status, body: (await response.json()) as Readiness["body"] };
}

const rest = async <T>(method: string, path: string, body?: unknown) =>
  call<T>(`http://127.0.0.1:${port}/v1`, (await readFile(join(directory.path, "api-key"), "utf8")).trim(), method, path, body);

it("answers 503 until a component can be saved, deployed and run; only then `npm start` prints that it is ready", async () => {
  const seen: (Readiness & { readonly hasSaidSo: boolean })[] = [];
  await until(
    async () => {
      const hasSaidSo = started.output().includes("Headwater is ready");
      const now = await readiness();
      if (now !== undefined) seen.push({ ...now, hasSaidSo });
      return now?.status === 200;
    },
    "it is ready",
    90_000,
    started.output,
  );
  const code = 'export default { name: "One", async run() { return 1; } }';
  const created = await rest<{ data: { id: string } }>("POST", "/sources", { component_code: code });
  expect(created.status, created.text).toBe(200);
  const run = await rest<{ data: { status: string } }>("POST", `/sources/${created.body.data.id}/runs`, {});
  expect([run.status, run.body.data.status]).toEqual([200, "succeeded"]);
  expect(seen.at(-1)?.body).toEqual({
    status: "ready",
    checks: { database: "ok", streams: "ok", store: "ok", builder: "ok", operator: "ok", runners: "ok" },
  });
  for (const { status, body, hasSaidSo } of seen.slice(0, -1)) expect([status, body.status, hasSaidSo]).toEqual([503, "not ready", false]);
  await until(() => started.output().includes("Headwater is ready"), "npm start prints that it is ready", 10_000, started.output);
});

it("names the missing role while the builder is down, and is ready again when it is back", async () => {
  const environmentOf = (pid: number): readonly string[] => {
    try {
      return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    } catch {
      return []; // It ended in the meantime.
    }
  };
  const builders = processesOf(directory.path).filter(
    ({ pid, command }) => command.includes("main.ts") && environmentOf(pid).includes("HEADWATER_ROLES=builder"),
  );
  expect(builders).toHaveLength(1);
  for (const { pid } of builders) process.kill(pid, "SIGKILL");
  let away: Readiness | undefined;
  await until(async () => (away = await readiness())?.status === 503, "it is not ready");
  expect(away?.body.checks).toMatchObject({ database: "ok", streams: "ok", store: "ok", operator: "ok", runners: "ok" });
  expect(away?.body.checks["builder"]).toMatch(/^(no builder is running|the builder did not answer)/);
  await until(async () => (await readiness())?.status === 200, "it is ready again", 40_000, started.output);
});
