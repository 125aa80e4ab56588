import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { installationSecrets, newRoots, type SecretTexts } from "../../platform/secrets/installation-secrets.ts";
import { findProgram, renderObjects } from "../support/helm.ts";
import { natsBinary } from "../support/nats/nats.ts";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

const missing = findProgram("helm") === undefined ? " (skipped: helm was not found below KUBEBUILDER_ASSETS or on PATH)" : "";
const suite = missing === "" ? describe : describe.skip;
const count = 3;

const configMap = z.object({ data: z.object({ "nats-server.conf": z.string() }) });
const environment = z.array(
  z.object({
    name: z.string(),
    value: z.string().optional(),
    valueFrom: z.object({ secretKeyRef: z.object({ key: z.string() }).optional() }).optional(),
  }),
);
const statefulSet = z.object({
  spec: z.object({ template: z.object({ spec: z.object({ containers: z.tuple([z.object({ env: environment })]) }) }) }),
});

const clusterState = z.object({ meta_cluster: z.object({ cluster_size: z.number() }).optional() });

let directory: TemporaryDirectory;
const servers: ChildProcess[] = [];

beforeAll(async () => {
  directory = await temporaryDirectory("nats-cluster");
});
afterAll(async () => {
  for (const server of servers) {
    server.kill("SIGKILL");
    if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
  }
  await directory.remove();
});

/** As the kubelet does: from the Secret, and what names another variable gets its text. */
function environmentOf(given: z.infer<typeof environment>, secret: SecretTexts): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const { name, value, valueFrom } of given) {
    const key = valueFrom?.secretKeyRef?.key;
    const text = key === undefined ? value : secret[key];
    if (text !== undefined) texts[name] = text.replaceAll(/\$\((\w+)\)/g, (whole, other: string) => texts[other] ?? whole);
  }
  return texts;
}

suite(`the chart's NATS servers${missing}`, () => {
  /** Method: what the chart renders and the Secrets of an installation, on real servers; only addresses and paths are those of this machine. */
  it("find each other and replicate streams", async () => {
    const objects = await renderObjects("--set", `nats.replicas=${count}`);
    const find = (kind: string) => objects.find((each) => each.kind === kind && each.metadata.name === "headwater-nats");
    const configuration = configMap.parse(find("ConfigMap")).data["nats-server.conf"];
    const given = statefulSet.parse(find("StatefulSet")).spec.template.spec.containers[0].env;
    const postgres = { address: "db:5432/headwater", username: "postgres", password: "secret" };
    const secret = (await installationSecrets(await newRoots(), postgres))["headwater-nats"] ?? {};
    const routes = await ports();
    const monitors = await ports();
    for (let n = 0; n < count; n++) {
      const home = join(directory.path, String(n));
      await mkdir(home);
      const here = (text: string): string =>
        text
          .replaceAll(
            /headwater-nats-(\d)\.headwater-nats-servers\.headwater\.svc:6222/g,
            (_, other: string) => `127.0.0.1:${routes[Number(other)]}`,
          )
          .replace("0.0.0.0:6222", `127.0.0.1:${routes[n]}`)
          .replace("0.0.0.0:8222", `127.0.0.1:${monitors[n]}`)
          .replace("0.0.0.0:4222", "127.0.0.1:-1")
          .replaceAll("/tmp/", `${home}/`)
          .replaceAll("/data", `${home}/data`);
      for (const [name, text] of Object.entries({ ...secret, "nats-server.conf": configuration }))
        await writeFile(join(home, name), here(text));
      const env = Object.fromEntries(Object.entries(environmentOf(given, secret)).map(([name, text]) => [name, here(text)]));
      const log = ["-l", join(home, "log")];
      servers.push(
        spawn(await natsBinary(), ["--config", join(home, "nats-server.conf"), ...log], {
          env: { ...env, PATH: process.env["PATH"], SERVER_NAME: `headwater-nats-${n}` },
          stdio: "ignore",
        }),
      );
    }
    for (const [n, port] of monitors.entries()) {
      const isWell = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined))?.ok === true;
      await vi.waitUntil(isWell, { timeout: 120_000, interval: 100 }).catch(async () => {
        throw new Error(`server ${n} takes no part:\n${(await readFile(join(directory.path, String(n), "log"), "utf8")).slice(-2_000)}`);
      });
      // A server that has just started is well before it has met the last of the others.
      await expect.poll(() => clusterSize(port), { timeout: 120_000 }).toBe(count);
    }
  });
});

async function clusterSize(monitor: number): Promise<number | undefined> {
  const state = clusterState.parse(await (await fetch(`http://127.0.0.1:${monitor}/jsz`)).json());
  return state.meta_cluster?.cluster_size;
}

async function ports(): Promise<readonly number[]> {
  const found = new Set<number>();
  while (found.size < count) found.add(await steadyPort());
  return [...found];
}
