import { dirname, join } from "node:path";
import { nonEmpty, readIfPresent } from "./config-file.ts";
import type { Profile } from "./profile.ts";

const defaultUrl = "http://127.0.0.1:3000";

/** The instance of `npm start` in this directory or one above: its first user's key is in `.headwater/api-key`. */
export async function findLocal(directory: string, env: NodeJS.ProcessEnv): Promise<Profile | undefined> {
  const named = nonEmpty(env["HEADWATER_DATA"]);
  const folders = named === undefined ? ancestorsOf(directory).map((folder) => join(folder, ".headwater")) : [named];
  for (const folder of folders) {
    const key = (await readIfPresent(join(folder, "api-key")))?.trim();
    if (key === undefined || key === "") continue;
    const url = (await readIfPresent(join(folder, "api-url")))?.trim() ?? defaultUrl;
    return { name: "local", origin: folder, url, apiKey: key, org: undefined };
  }
  return undefined;
}

function ancestorsOf(directory: string): string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...ancestorsOf(parent)];
}
