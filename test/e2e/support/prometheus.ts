import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { endChild } from "../../support/child.ts";
import { findProgram } from "../../support/helm.ts";
import { steadyPort } from "../../support/steady-port.ts";
import { until } from "../../support/until.ts";

export interface Prometheus {
  readonly url: string;
  /** Values of an instant query; NaN and infinity are left out. */
  query(expression: string): Promise<readonly number[]>;
  /** Names of the alerts that fire. */
  firing(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

interface Options {
  readonly directory: string;
  /** `host:port` of each scraped process, by the name of its pod. */
  readonly targets: Readonly<Record<string, string>>;
  readonly rules: string;
}

/** Why there is no Prometheus. */
export const prometheusMissing =
  findProgram("prometheus") === undefined ? "prometheus was not found on PATH; Debian's package has this name" : undefined;

const answerSchema = z.object({ data: z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) }) });
const alertsSchema = z.object({
  data: z.object({ alerts: z.array(z.object({ state: z.string(), labels: z.object({ alertname: z.string() }) })) }),
});

/** Starts Prometheus, which scrapes the targets each second as a PodMonitor does. */
export async function startPrometheus({ directory, targets, rules }: Options): Promise<Prometheus> {
  const program = findProgram("prometheus");
  if (program === undefined) throw new Error(prometheusMissing);
  const [config, rulesFile, port] = [join(directory, "prometheus.yaml"), join(directory, "rules.yaml"), await steadyPort()];
  await mkdir(directory, { recursive: true });
  const scraped = Object.entries(targets).map(([pod, target]) => ({ targets: [target], labels: { namespace: "headwater", pod } }));
  await writeFile(rulesFile, rules);
  await writeFile(
    config,
    stringify({
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [rulesFile],
      scrape_configs: [{ job_name: "headwater", static_configs: scraped }],
    }),
  );
  const flags = [`--config.file=${config}`, `--storage.tsdb.path=${join(directory, "tsdb")}`, `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn(program, flags, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const url = `http://127.0.0.1:${port}`;
  await until(() => isReady(url), "Prometheus is ready", { more: () => output });
  const ask = async (path: string): Promise<unknown> => (await fetch(`${url}/api/v1/${path}`)).json();
  return {
    url,
    query: async (expression) => {
      const { data } = answerSchema.parse(await ask(`query?query=${encodeURIComponent(expression)}`));
      return data.result.map(({ value: [, text] }) => Number(text)).filter(Number.isFinite);
    },
    firing: async () => {
      const { data } = alertsSchema.parse(await ask("alerts"));
      return [...new Set(data.alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels.alertname))].toSorted();
    },
    stop: () => endChild(child, "SIGTERM"),
  };
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/-/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
