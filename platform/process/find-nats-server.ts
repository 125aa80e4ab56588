import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { Unavailable } from "../../domain/errors.ts";
import { buildNatsServer, downloadNatsServer, natsServerVersion } from "./nats-release.ts";

/** Message schedules, on which timers and retries rest, came with 2.14. */
const oldest = { major: 2, minor: 14 };

export interface FindNatsOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Where a server that had to be fetched is kept; `.headwater/tools` of this installation when absent. */
  readonly toolsDirectory?: string;
  /** Told what takes time, one line each. */
  readonly onProgress?: (line: string) => void;
}

export interface FoundNatsServer {
  readonly path: string;
  /** Such as 2.15.1. */
  readonly version: string;
}

/** Beside node_modules: whatever the data directory is, a server is fetched once. */
const keptTools = join(import.meta.dirname, "..", "..", ".headwater", "tools");
const executable = process.platform === "win32" ? "nats-server.exe" : "nats-server";

/**
 * A nats-server of 2.14 or later: the one named by HEADWATER_NATS_SERVER, on PATH or kept from before; else the
 * official release is fetched, else built by Go. An unsuitable one on PATH is passed over; one that was named is an error.
 */
export async function findNatsServer(options: FindNatsOptions = {}): Promise<FoundNatsServer> {
  const env = options.env ?? process.env;
  const tools = resolve(options.toolsDirectory ?? keptTools);
  const named = env["HEADWATER_NATS_SERVER"];
  if (named !== undefined && named !== "") return requireSuitable(named);
  for (const path of [...onPath(env["PATH"]), join(tools, executable)]) {
    const found = suitable(path);
    if (found !== undefined) return found;
  }
  return fetchNatsServer(tools, options.onProgress ?? (() => undefined));
}

async function fetchNatsServer(tools: string, onProgress: (line: string) => void): Promise<FoundNatsServer> {
  const reasons: string[] = [];
  for (const bring of [downloadNatsServer, buildNatsServer]) {
    try {
      return requireSuitable(await bring(tools, onProgress));
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Unavailable(
    [
      `nats-server ${oldest.major}.${oldest.minor} or later is needed and was found neither on PATH nor in ${tools}.`,
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
  if (!isRecent(version)) throw new Unavailable(`${path} is nats-server ${version}; ${oldest.major}.${oldest.minor} or later is needed`);
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

/** Versions compare number by number: 2.9 is older than 2.14. */
export function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > oldest.major || (major === oldest.major && minor >= oldest.minor);
}
