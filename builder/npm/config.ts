import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "ini";

/** Options for npm's libraries: `registry`, `@scope:registry`, `//host/:_authToken`, proxies, certificates. */
export type NpmConfig = Readonly<Record<string, unknown>>;

/** npm's names of the settings that decide where packages come from, and the names its libraries know them by. */
const settings: Readonly<Record<string, string>> = {
  registry: "registry",
  proxy: "proxy",
  "https-proxy": "httpsProxy",
  noproxy: "noProxy",
  "strict-ssl": "strictSSL",
  cafile: "cafile",
  ca: "ca",
  "replace-registry-host": "replaceRegistryHost",
};

/**
 * Registry and credentials as npm itself would use them: the environment (`npm_config_…`), then `.npmrc` of the working
 * directory, of the user and of the installation. What is set nowhere stays unset, so npm's own defaults hold.
 */
export async function readNpmConfig(environment: Readonly<Record<string, string | undefined>>, directory: string): Promise<NpmConfig> {
  const fromEnvironment = Object.entries(environment)
    .filter(([name]) => /^npm_config_/i.test(name))
    .map(([name, value]): [string, string] => [settingName(name.slice("npm_config_".length)), value ?? ""]);
  const set = new Map(fromEnvironment);
  const files = [
    join(directory, ".npmrc"),
    set.get("userconfig") ?? join(homedir(), ".npmrc"),
    set.get("globalconfig") ?? join(set.get("prefix") ?? dirname(dirname(process.execPath)), "etc", "npmrc"),
  ];
  for (const file of files) {
    for (const [name, value] of parseNpmrc(await readFile(file, "utf8").catch(() => ""), environment)) {
      if (!set.has(name)) set.set(name, value);
    }
  }
  return optionsOf(set);
}

/** npm reads `NPM_CONFIG_HTTPS_PROXY` as `https-proxy`, and names with a scope or a host as they stand. */
function settingName(name: string): string {
  return name.startsWith("@") || name.startsWith("//") ? name : name.toLowerCase().replaceAll("_", "-");
}

/** Settings of an npmrc file, with `${VARIABLE}` replaced. Sections and lists, which none of our settings have, are ignored. */
export function parseNpmrc(text: string, environment: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(parse(text))
    .filter(([, value]) => typeof value !== "object")
    .map(([name, value]) => [
      name,
      String(value).replaceAll(/\$\{([^}]+)\}/g, (whole, variable: string) => environment[variable] ?? whole),
    ]);
}

async function optionsOf(set: ReadonlyMap<string, string>): Promise<NpmConfig> {
  const options: Record<string, unknown> = {};
  for (const [name, value] of set) {
    const known = settings[name];
    if (known) options[known] = value === "true" ? true : value === "false" ? false : value;
    else if (name.startsWith("//") || /^@[^:]+:registry$/.test(name)) options[name] = value;
  }
  if (typeof options["cafile"] === "string") {
    options["ca"] = (await readFile(options["cafile"], "utf8")).split(/(?<=-----END CERTIFICATE-----)\s*/).filter(Boolean);
    delete options["cafile"];
  }
  return options;
}
