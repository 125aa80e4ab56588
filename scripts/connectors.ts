import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connectorIndex, type Connector, type ConnectorIndex } from "../domain/component/connector.ts";
import type { ListedComponent } from "../domain/component/package-listing.ts";
import { openProbe, type Probe } from "./connectors/probe.ts";
import { withTable } from "./connectors/table.ts";
import { services } from "../test/sandbox/connector-runs/services/all.ts";

/**
 * `npm run connectors [-- <package>…]`: reads the packages of the index, and those named, from the registry of npm's configuration, and writes what
 * it finds to `registry/connectors.json` and to the table of docs/connectors.md. Only facts are kept: names, versions, kinds and counts. It is run
 * by hand, since it needs the network and takes minutes; packages evaluate in the sandbox. `--only` reads the named packages alone.
 */
const root = join(import.meta.dirname, "..");
const indexFile = join(root, "registry", "connectors.json");
const tableFile = join(root, "docs", "connectors.md");

type Outcome = { readonly connector: Connector } | { readonly failed: ConnectorIndex["failed"][number] };

const args = process.argv.slice(2);
const named = args.filter((arg) => !arg.startsWith("--"));
const before = connectorIndex.parse(JSON.parse(await readFile(indexFile, "utf8")));
const known = [...before.connectors, ...before.failed].map(({ name }) => name);
const names = [...new Set([...(args.includes("--only") ? [] : known), ...named])].sort();
let index = before;
const probe = await openProbe();
try {
  for (const name of names) {
    const outcome = await read(name, probe);
    console.log("connector" in outcome ? `${name}@${outcome.connector.version}` : `${name}: ${outcome.failed.problem}`);
    index = withOutcome(index, name, outcome);
    await write(index);
  }
} finally {
  await probe.stop();
}

async function read(name: string, { list, bundleBytes }: Probe): Promise<Outcome> {
  try {
    const listing = await list(name);
    const { version, piece, components, problem, kind } = listing;
    const [first] = components;
    if (problem !== undefined || first === undefined)
      return { failed: { name, version, problem: problem ?? "it has neither component files nor a piece" } };
    const members = (prefix: string) => components.filter(({ address }) => address.startsWith(prefix)).map(memberOf);
    const connector: Connector = {
      name,
      version,
      displayName: piece?.displayName ?? name,
      app: piece?.app ?? "",
      auth: [...new Set((piece?.auth ?? []).map((auth) => auth.kind))],
      actions: kind === "piece" ? members("#action/") : components.filter(({ type }) => type === "action").map(memberOf),
      triggers: kind === "piece" ? members("#trigger/") : components.filter(({ type }) => type === "source").map(memberOf),
      bundleBytes: await bundleBytes(name, version, first.address),
    };
    return { connector };
  } catch (error) {
    return { failed: { name, version: null, problem: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) } };
  }
}

function memberOf({ address, name, strategy }: ListedComponent): Connector["actions"][number] {
  return { name: address.replace(/^#(action|trigger)\//, ""), label: name, ...(strategy === undefined ? {} : { trigger: strategy }) };
}

function withOutcome({ connectors, failed }: ConnectorIndex, name: string, outcome: Outcome): ConnectorIndex {
  const others = { connectors: connectors.filter((each) => each.name !== name), failed: failed.filter((each) => each.name !== name) };
  const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);
  return "connector" in outcome
    ? { ...others, connectors: [...others.connectors, outcome.connector].sort(byName) }
    : { ...others, failed: [...others.failed, outcome.failed].sort(byName) };
}

async function write(written: ConnectorIndex): Promise<void> {
  await writeFile(indexFile, `${JSON.stringify(written, null, 1)}\n`);
  await writeFile(tableFile, withTable(await readFile(tableFile, "utf8"), written, services));
}
