import { hash } from "node:crypto";
import { chmod, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { Parser } from "tar";
import { Unavailable } from "../../../domain/errors.ts";
import { runProgram } from "./run-program.ts";

/** The version this version of Headwater is tested with. */
export const natsServerVersion = "2.15.1";

/** SHA-256 of the release's archives, by `<platform>-<arch>` as in Node. If absent, the release's own SHA256SUMS is used. */
const archives: Readonly<Record<string, { readonly file: string; readonly sha256?: string }>> = {
  "linux-x64": archive("linux-amd64", "bf5edc7b1ce98e885c368cb43a886eb148dc5d0551d99f3cf6141fb5e1954c70"),
  "linux-arm64": archive("linux-arm64", "e2fbab4cad7d3c76e3052eb959570393c9d73ba756b70bf8e9eea61e9ae6d49c"),
  "darwin-x64": archive("darwin-amd64"),
  "darwin-arm64": archive("darwin-arm64"),
};

function archive(target: string, sha256?: string): { file: string; sha256?: string } {
  const file = `nats-server-v${natsServerVersion}-${target}.tar.gz`;
  return sha256 === undefined ? { file } : { file, sha256 };
}

const release = `https://github.com/nats-io/nats-server/releases/download/v${natsServerVersion}`;
const timeoutMs = 60_000;

/** Downloads the official release into `tools`; returns the server's path. */
export async function downloadNatsServer(tools: string, onProgress: (line: string) => void): Promise<string> {
  const platform = `${process.platform}-${process.arch}`;
  const target = archives[platform];
  if (target === undefined) throw new Unavailable(`no release of nats-server is known for ${platform}`);
  onProgress(`fetching nats-server ${natsServerVersion} for ${platform}`);
  const expected = target.sha256 ?? (await publishedSum(target.file));
  const packed = await get(`${release}/${target.file}`);
  const sum = hash("sha256", packed);
  if (sum !== expected) throw new Unavailable(`${target.file} has SHA-256 ${sum}, expected ${expected}`);
  return installServer(tools, await fileInTar(packed, "nats-server"));
}

/** Builds the same version with Go, which checks the module against its checksum database. */
export async function buildNatsServer(tools: string, onProgress: (line: string) => void, env: NodeJS.ProcessEnv): Promise<string> {
  onProgress(`building nats-server ${natsServerVersion} with go install (about a minute)`);
  const bin = resolve(tools);
  await mkdir(bin, { recursive: true });
  const args = ["install", "-trimpath", `github.com/nats-io/nats-server/v2@v${natsServerVersion}`];
  await runProgram("go", args, { env: { ...env, GOBIN: bin, CGO_ENABLED: "0" } });
  return join(bin, process.platform === "win32" ? "nats-server.exe" : "nats-server");
}

async function publishedSum(file: string): Promise<string> {
  const lines = (await get(`${release}/SHA256SUMS`)).toString("utf8").split("\n");
  const line = lines.find((candidate) => candidate.trim().endsWith(file));
  const sum = /^[0-9a-f]{64}/.exec(line?.trim() ?? "")?.[0];
  if (sum === undefined) throw new Unavailable(`SHA256SUMS of nats-server ${natsServerVersion} does not name ${file}`);
  return sum;
}

async function get(url: string): Promise<Buffer> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) throw new Unavailable(`answered ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (error) {
    throw new Unavailable(`${url} could not be fetched (${reason(error)})`, { cause: error });
  }
}

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

/** Renames the file into place, so that a concurrent start sees all of it or nothing. */
export async function installServer(tools: string, content: Buffer): Promise<string> {
  await mkdir(tools, { recursive: true });
  const path = join(tools, "nats-server");
  const partial = `${path}.${process.pid}`;
  try {
    await writeFile(partial, content);
    await chmod(partial, 0o755);
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
  return path;
}

/** Reads the file with this base name from a tar archive, compressed or not. @throws Unavailable when it is not there */
export async function fileInTar(archive: Buffer, baseName: string): Promise<Buffer> {
  const content = await new Promise<Buffer | undefined>((done, fail) => {
    let found: Promise<Buffer> | undefined;
    const parser = new Parser({
      strict: true,
      filter: (path) => basename(path) === baseName,
      onReadEntry: (entry) => (found = entry.concat()),
    });
    parser.on("error", fail);
    parser.on("end", () => done(found));
    parser.end(archive);
  });
  if (content === undefined) throw new Unavailable(`the archive contains no file named ${baseName}`);
  return content;
}
