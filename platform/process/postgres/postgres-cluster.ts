import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chown, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Unavailable } from "../../../domain/errors.ts";
import { tracked } from "../own-children.ts";
import type { PostgresInstallation } from "./postgres-installation.ts";

/**
 * Initializes `<directory>/data` unless it is a cluster. Created in another directory and renamed, so that a crash leaves no partial
 * cluster.
 */
export async function initialiseCluster(
  installation: PostgresInstallation,
  directory: string,
  password: string,
  durable: boolean,
): Promise<void> {
  const data = join(directory, "data");
  if (existsSync(join(data, "PG_VERSION"))) return requireSameMajor(installation, data);
  const draft = join(directory, "data.new");
  const passwordFile = join(directory, "initdb-password");
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  const { owner } = installation;
  if (owner !== undefined) await Promise.all([draft, passwordFile].map((path) => chown(path, owner.uid, owner.gid)));
  try {
    await runInitdb(installation, draft, passwordFile, durable);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, data);
}

/** The built-in provider sorts the same on every machine, regardless of its locales. */
async function runInitdb(installation: PostgresInstallation, data: string, passwordFile: string, durable: boolean): Promise<void> {
  const flags = [
    `--pgdata=${data}`,
    "--username=headwater",
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    ...(durable ? [] : ["--no-sync"]),
  ];
  await new Promise<void>((done, fail) => {
    const child = spawn(installation.initdb, flags, {
      stdio: ["ignore", "ignore", "pipe"],
      cwd: data,
      env: { ...process.env, LC_ALL: "C" },
      ...installation.owner,
    });
    tracked(child);
    let output = "";
    child.stderr.on("data", (chunk: Buffer) => (output = (output + chunk.toString()).slice(-1_000)));
    child.once("error", (error) => fail(new Unavailable(`initdb could not be run: ${error.message}`)));
    child.once("close", (code) => (code === 0 ? done() : fail(new Unavailable(`initdb failed in ${data}: ${output.trim()}`))));
  });
}

async function requireSameMajor(installation: PostgresInstallation, data: string): Promise<void> {
  const kept = (await readFile(join(data, "PG_VERSION"), "utf8")).trim();
  if (kept === installation.major) return;
  throw new Unavailable(
    `${data} was written by Postgres ${kept} and this is Postgres ${installation.major}: dump it with the old version and load it with this one, or set DATABASE_URL`,
  );
}
