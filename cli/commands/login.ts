import { clientOf } from "../connect.ts";
import type { Definition } from "../command.ts";
import type { OfflineContext } from "../context.ts";
import { usageFailure } from "../failure.ts";
import { organizationOf } from "../organization.ts";
import type { Given } from "../given.ts";
import { defaultProfileName, nonEmpty, readConfig, writeConfig } from "../profile/config-file.ts";
import { readText } from "../values.ts";

export const command: Definition = {
  description:
    "Stores the address of an installation and an API key as a profile, after trying them. The file is readable by you only. " +
    "Without --profile the profile is `default`, which is used from then on.",
  options: [
    { flags: "--url <url>", description: "address of the API, such as https://headwater.example.com" },
    { flags: "--key-file <file>", description: "file with the API key; - is standard input. By default it is asked for, hidden" },
    { flags: "--default-org <org>", description: "organization on whose behalf the profile acts: its id or name" },
  ],
  examples: [
    {
      command: "hw login --url https://headwater.example.com --key-file key.txt --profile work",
      does: "Store a profile from a file with a key.",
    },
  ],
  operations: ["getMe"],
  isOffline: true,
  run: async (context, given) => {
    const { env, out, profileName, signal } = context;
    const name = profileName ?? defaultProfileName;
    const url = addressOf(given.text("url") ?? nonEmpty(env["HEADWATER_URL"]) ?? (await askUrl(context)));
    const apiKey = await keyOf(context, given);
    const defaultOrg = given.text("default-org");
    const client = clientOf({ name, origin: "login", url, apiKey, org: undefined }, signal);
    const { data } = await client.call("getMe", {});
    const org = defaultOrg === undefined ? undefined : await organizationOf(client, defaultOrg);
    const config = await readConfig(env);
    const profiles = { ...config.profiles, [name]: { url, apiKey, org } };
    const path = await writeConfig(env, { current: profileName === undefined ? name : (config.current ?? name), profiles });
    await out.done({ data: { name, url } }, `logged in to ${url} as ${data.username}; profile ${name} is in ${path}`);
  },
};

/** Without a path: commands add `/v1` themselves. */
function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw usageFailure(`address "${text}" is invalid`, "write http://… or https://…");
  }
  return (url.origin + url.pathname).replace(/\/+$/, "").replace(/\/v1$/, "");
}

async function askUrl({ terminal }: OfflineContext): Promise<string> {
  if (!terminal.isInteractive) throw usageFailure("the address is missing", "add --url");
  const { text, isCancel } = await import("@clack/prompts");
  const answer = await text({ message: "Address of the API", placeholder: "http://127.0.0.1:3000", output: process.stderr });
  if (isCancel(answer)) throw usageFailure("nothing was changed");
  return answer === "" ? "http://127.0.0.1:3000" : answer;
}

async function keyOf({ env, terminal }: OfflineContext, given: Given): Promise<string> {
  const file = given.text("key-file");
  const key =
    file === undefined
      ? (nonEmpty(env["HEADWATER_API_KEY"]) ?? (await terminal.askSecret("API key", "add --key-file")))
      : await readText(file);
  if (!/^\S+$/.test(key.trim())) throw usageFailure("the API key must be one word");
  return key.trim();
}
