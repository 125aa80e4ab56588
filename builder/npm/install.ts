import type { ChildProcess } from "node:child_process";
import { chown, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InvalidInput, LimitExceeded } from "../../domain/errors.ts";
import { fileBytes } from "../cache/disk-room.ts";
import { formatBytes, type BuildLimits } from "../limits.ts";
import { maxMemoryBytes, residentBytesOf } from "../cache/process-memory.ts";
import type { Confine } from "../ports.ts";
import type { NpmConfig } from "./config.ts";
import { measureFolder, type FolderSize } from "../cache/folder-size.ts";
import type { InstallAnswer, InstallOrder } from "./install-packages.ts";
import { startInstall } from "./install-process.ts";
import { withLargestPackages } from "./largest-packages.ts";
import { parseLockfile, pinTags, restoreWishes } from "./lockfile.ts";

export interface InstallRequest {
  /** An empty folder. */
  readonly directory: string;
  /** Folder name below node_modules → what npm is asked for. */
  readonly wanted: Readonly<Record<string, string>>;
  /** Checked by `parseLockfile`. */
  readonly lockfile: string | null;
  readonly signal: AbortSignal;
  /** Absent: nothing but Node's permission model confines the process. */
  readonly confine?: Confine | undefined;
  /** Default: a process of its own, which is confined, and ends when it takes too much or the signal aborts. Tests install in theirs. */
  readonly performInstall?: PerformInstall | undefined;
}

export interface Installed {
  readonly lockfile: string;
  /** On disk. */
  readonly bytes: number;
}

export type PerformInstall = (order: InstallOrder, signal: AbortSignal, confine: Confine | undefined) => Promise<InstallAnswer>;

/** Resolves and installs packages into a folder. @throws LimitExceeded `packages_too_large` with the largest ones */
export async function install(request: InstallRequest, npm: NpmConfig, cache: string, limits: BuildLimits): Promise<Installed> {
  try {
    return await installInto(request, npm, cache, limits);
  } catch (error) {
    const isTooLarge = error instanceof LimitExceeded && error.code === "packages_too_large";
    throw isTooLarge ? await withLargestPackages(error, request.directory, limits) : error;
  }
}

async function installInto(request: InstallRequest, npm: NpmConfig, cache: string, limits: BuildLimits): Promise<Installed> {
  const { directory, wanted, lockfile, signal, confine, performInstall = performInProcess } = request;
  // The name ends up in the lockfile; a fixed one keeps equal sets equal.
  await writeFile(
    join(directory, "package.json"),
    JSON.stringify({
      name: "component",
      private: true,
      dependencies: lockfile === null ? wanted : pinTags(wanted, lockfile),
    }),
  );
  if (lockfile !== null) await writeFile(join(directory, "package-lock.json"), lockfile);
  const { user } = confine ?? {};
  // npm writes both again.
  if (user !== undefined) await Promise.all((await readdir(directory)).map((name) => chown(join(directory, name), user, user)));
  settle(await performInstall({ directory, npm, cache, limits }, signal, confine));
  const size = await measureFolder(directory, { bytes: limits.unpackedBytes, files: limits.unpackedFiles });
  const excess = excessOf(size, limits);
  if (excess !== undefined) throw excess;
  const written = await readFile(join(directory, "package-lock.json"), "utf8");
  return { lockfile: restoreWishes(parseLockfile(written, limits), wanted), bytes: size.bytes + size.files * fileBytes };
}

const watchMs = 500;

/** By a process of its own (`install-program.ts`), which is killed when it takes too much. */
async function performInProcess(order: InstallOrder, signal: AbortSignal, confine: Confine | undefined): Promise<InstallAnswer> {
  signal.throwIfAborted();
  const { process: program, answer } = startInstall(order, confine);
  const exited = new Promise<void>((done) => program.once("close", () => done()));
  const { promise, reject } = Promise.withResolvers<never>();
  const end = (error: unknown): void => {
    reject(error);
    program.kill("SIGKILL");
  };
  const abort = (): void => end(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  let looking = false;
  const watch = setInterval(() => {
    if (looking) return;
    looking = true;
    void excessWhile(program, order).then((excess) => {
      looking = false;
      if (excess !== undefined) end(excess);
    });
  }, watchMs);
  program.once("error", end);
  // V8 ends a process whose heap is full. After an answer it exits with 0.
  program.once("exit", (code, how) => {
    if (code !== 0) reject(how === "SIGABRT" || code === 134 ? tooMuchMemory() : ended(how ?? `exit code ${code}`));
  });
  promise.catch(() => {});
  try {
    return await Promise.race([promise, exited.then(() => answer)]);
  } finally {
    clearInterval(watch);
    signal.removeEventListener("abort", abort);
    // What it was writing is removed next.
    await exited;
  }
}

/** Sizes in the registry come from publishers, so the folder is measured during the install. */
async function excessWhile(program: ChildProcess, { directory, limits }: InstallOrder): Promise<Error | undefined> {
  if ((await residentBytesOf(program.pid)) > maxMemoryBytes) return tooMuchMemory();
  return excessOf(await measureFolder(directory, { bytes: limits.unpackedBytes, files: limits.unpackedFiles }), limits);
}

function excessOf({ bytes, files }: FolderSize, limits: BuildLimits): Error | undefined {
  if (files > limits.unpackedFiles)
    return tooLarge(`are more than ${limits.unpackedFiles} files and folders`, { files, limit: limits.unpackedFiles });
  if (bytes <= limits.unpackedBytes) return undefined;
  return tooLarge(`take ${formatBytes(bytes)} unpacked, ${formatBytes(limits.unpackedBytes)} are allowed`, {
    bytes,
    limit: limits.unpackedBytes,
  });
}

const tooMuchMemory = (): Error => tooLarge("need more memory to install than the builder may use", {});

const tooLarge = (what: string, details: unknown): Error =>
  new LimitExceeded(`the packages ${what}: import less, or a smaller package`, { code: "packages_too_large", details });

const ended = (how: string): Error => Object.assign(new Error(`its process ended with ${how}`), { code: "EINSTALL" });

function settle(answer: InstallAnswer): void {
  switch (answer.outcome) {
    case "installed":
      return;
    case "refused": {
      const { status, code, message, details } = answer;
      throw status === 413 ? new LimitExceeded(message, { code, details }) : new InvalidInput(message, { code, details });
    }
    case "failed":
      throw Object.assign(new Error("npm's libraries failed"), answer.fields);
  }
}
