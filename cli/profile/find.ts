import { Failure, exitCodes, usageFailure } from "../failure.ts";
import { openCluster } from "./cluster.ts";
import { configPath, defaultProfileName, nonEmpty, readConfig, type StoredProfile } from "./config-file.ts";
import { readIniConfigs } from "./ini-file.ts";
import { findLocal } from "./local.ts";
import type { OpenProfile, Profile } from "./profile.ts";

export interface Search {
  readonly env: NodeJS.ProcessEnv;
  readonly directory: string;
  /** Value of `--profile`. */
  readonly profileName: string | undefined;
}

/**
 * The profile of a command, from the first of: `--profile`; HEADWATER_URL and HEADWATER_API_KEY; the stored profile; the local instance; the
 * cluster of kubectl's current context. @throws Failure if there is none
 */
export async function openProfile(search: Search): Promise<OpenProfile> {
  const stored = await listStored(search.env);
  const found =
    findNamed(search, stored) ?? ofEnvironment(search.env) ?? current(stored) ?? (await findLocal(search.directory, search.env));
  const open = found === undefined ? await openCluster(search.env) : { profile: found, close: async () => {} };
  if (open !== undefined) return open;
  throw new Failure("no Headwater was found", {
    exitCode: exitCodes.unreachable,
    hint: "run `hw login`, set HEADWATER_URL and HEADWATER_API_KEY, or start one with `npm start` in a clone",
  });
}

interface Stored {
  readonly profiles: readonly Profile[];
  readonly current: string;
}

/** Profiles of the configuration files; of two with the same name the first counts. */
export async function listStored(env: NodeJS.ProcessEnv): Promise<Stored> {
  const config = await readConfig(env);
  const files = [{ path: configPath(env), config }, ...(await readIniConfigs(env))];
  const profiles = files.flatMap(({ path, config: { profiles: byName } }) =>
    Object.entries(byName).flatMap(([name, stored]) => profileOf(name, path, stored)),
  );
  return { profiles, current: config.current ?? defaultProfileName };
}

function profileOf(name: string, origin: string, { url, apiKey, org }: StoredProfile): Profile[] {
  return url === undefined ? [] : [{ name, origin, url, apiKey, org }];
}

function findNamed({ profileName, directory }: Search, { profiles }: Stored): Profile | undefined {
  if (profileName === undefined) return undefined;
  const found = profiles.find(({ name }) => name === profileName);
  if (found !== undefined) return found;
  const names = profiles.map(({ name }) => name).join(", ");
  void directory;
  throw usageFailure(`there is no profile "${profileName}"`, names === "" ? "`hw login --profile …` stores one" : `stored are: ${names}`);
}

const current = ({ profiles, current: chosen }: Stored): Profile | undefined => profiles.find(({ name }) => name === chosen);

function ofEnvironment(env: NodeJS.ProcessEnv): Profile | undefined {
  const [url, apiKey] = [nonEmpty(env["HEADWATER_URL"]), nonEmpty(env["HEADWATER_API_KEY"])];
  if (url === undefined) {
    if (apiKey === undefined) return undefined;
    throw usageFailure("HEADWATER_API_KEY is set without HEADWATER_URL", "set both, or neither");
  }
  return { name: "environment", origin: "HEADWATER_URL", url, apiKey, org: nonEmpty(env["HEADWATER_ORG"]) };
}
