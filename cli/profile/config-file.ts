import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { Failure } from "../failure.ts";

/** A profile as `hw login` stores it. */
export interface StoredProfile {
  readonly url?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly org?: string | undefined;
}

export interface Config {
  /** Profile without `--profile`. */
  readonly current?: string | undefined;
  readonly profiles: Readonly<Record<string, StoredProfile>>;
}

export const defaultProfileName = "default";
const ownerOnly = 0o600;

export const configFolder = (env: NodeJS.ProcessEnv): string =>
  nonEmpty(env["XDG_CONFIG_HOME"]) ?? join(env["HOME"] ?? homedir(), ".config");
export const configPath = (env: NodeJS.ProcessEnv): string => join(configFolder(env), "headwater", "config.json");

/** The configuration file of this user; without one, a configuration without profiles. @throws Failure if it is damaged */
export async function readConfig(env: NodeJS.ProcessEnv): Promise<Config> {
  const path = configPath(env);
  const text = await readIfPresent(path);
  if (text === undefined) return { profiles: {} };
  try {
    return parseConfig(JSON.parse(text));
  } catch (error) {
    throw new Failure(`${path} is not a configuration: ${error instanceof Error ? error.message : String(error)}`, {
      hint: "correct or delete it, then run `hw login`",
    });
  }
}

/** Replaces the file at once, readable by its owner only: it has API keys. */
export async function writeConfig(env: NodeJS.ProcessEnv, config: Config): Promise<string> {
  const path = configPath(env);
  const draft = `${path}.${process.pid}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(draft, `${JSON.stringify(config, null, 2)}\n`, { mode: ownerOnly });
  await chmod(draft, ownerOnly);
  await rename(draft, path);
  return path;
}

export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && ["ENOENT", "ENOTDIR", "EISDIR"].includes(String(error.code))) return undefined;
    throw error;
  }
}

function parseConfig(value: unknown): Config {
  const { current, profiles } = recordOf(value, "the file");
  const entries = Object.entries(recordOf(profiles ?? {}, "profiles")).map(([name, stored]): [string, StoredProfile] => {
    const { url, apiKey, org } = recordOf(stored, `profile ${name}`);
    return [name, { url: textOf(url), apiKey: textOf(apiKey), org: textOf(org) }];
  });
  return { current: textOf(current), profiles: Object.fromEntries(entries) };
}

function recordOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${what} must be an object`);
  return value as Readonly<Record<string, unknown>>; // Any object.
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
export const nonEmpty = textOf;
