import { join } from "node:path";
import { configFolder, defaultProfileName, nonEmpty, readIfPresent, type Config, type StoredProfile } from "./config-file.ts";

/**
 * Configuration files of the hosted service's command line: INI, a section for each profile, with `api_key` and `org_id`. A section counts only
 * with a `url`: its key belongs to the hosted service otherwise, and is sent to no other server.
 */
export const iniPaths = (env: NodeJS.ProcessEnv): readonly string[] =>
  ["headwater", "pipedream"].map((folder) => join(configFolder(env), folder, "config"));

export async function readIniConfigs(env: NodeJS.ProcessEnv): Promise<readonly { readonly path: string; readonly config: Config }[]> {
  const found = await Promise.all(iniPaths(env).map(async (path) => ({ path, text: await readIfPresent(path) })));
  const present = found.flatMap(({ path, text }) => (text === undefined ? [] : [{ path, text }]));
  if (present.length === 0) return [];
  const { parse } = await import("ini");
  return present.map(({ path, text }) => ({ path, config: configOf(parse(text)) }));
}

/** Values before the first section are the default profile. */
function configOf(parsed: Readonly<Record<string, unknown>>): Config {
  const sections = Object.entries(parsed).filter(([, value]) => typeof value === "object" && value !== null);
  const named = sections.map(([name, section]): [string, StoredProfile] => [name, storedOf(section as Readonly<Record<string, unknown>>)]); // Checked.
  const profiles = [[defaultProfileName, storedOf(parsed)] as const, ...named].filter(([, { url }]) => url !== undefined);
  return { profiles: Object.fromEntries(profiles) };
}

function storedOf(section: Readonly<Record<string, unknown>>): StoredProfile {
  return { url: nonEmpty(section["url"]), apiKey: nonEmpty(section["api_key"]), org: nonEmpty(section["org_id"]) };
}
