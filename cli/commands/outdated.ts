import type { Client } from "../../client/client.ts";
import { ApiError } from "../../client/errors.ts";
import type { Component } from "../../client/generated/operations.ts";
import { itemsOf, maxPageItems } from "../../client/pages.ts";
import type { Definition } from "../command.ts";
import { npmPackage, rangeIn } from "../component/npm-package.ts";
import { stepsWithin } from "../component/workflow-file.ts";
import type { Column } from "../output/table.ts";
import { present } from "../values.ts";

/** A source or step whose component comes from npm. */
interface Outdated {
  /** Slug of the source, or name of the workflow and its step. */
  readonly used_by: string;
  readonly package: string;
  readonly current: string;
  /** The newest version within the range of its address; null: the registry has none any more. */
  readonly wanted: string | null;
  readonly latest: string | null;
}

interface Use {
  readonly usedBy: string;
  readonly componentId: string;
}

const columns: readonly Column<Outdated>[] = [
  { header: "USED BY", value: ({ used_by: by }) => by, isWhole: true },
  { header: "PACKAGE", value: (each) => each.package },
  { header: "CURRENT", value: ({ current }) => current },
  { header: "WANTED", value: ({ wanted }) => wanted ?? "-" },
  { header: "LATEST", value: ({ latest }) => latest ?? "-" },
];

export const command: Definition = {
  description:
    "Lists the sources and steps whose component comes from a package of npm that has a newer version. `hw update <source> --newest` deploys the one wanted.",
  options: [{ flags: "--all", description: "list those that are up to date, too" }],
  examples: [{ command: "hw outdated", does: "List what `hw update --newest` would update." }],
  operations: ["listMySources", "listMyWorkflows", "getComponent", "getPackage"],
  run: async ({ client, out, terminal }, given) => {
    const found = await terminal.progress("Asking the registry", () => outdated(client));
    const shown = given.flag("all") ? found : found.filter(({ current, wanted, latest }) => current !== wanted || current !== latest);
    await out.list({ data: shown }, columns, ({ used_by: by }) => by);
    if (shown.length === 0) out.note(found.length === 0 ? "no components come from npm" : "all components from npm are up to date");
  },
};

export async function outdated(client: Client): Promise<readonly Outdated[]> {
  const versions = new Map<string, Promise<string | null>>();
  const versionOf = (name: string, range: string | undefined): Promise<string | null> => {
    const key = `${name}@${range ?? ""}`;
    const asked = versions.get(key) ?? newest(client, name, range);
    versions.set(key, asked);
    return asked;
  };
  const found: Outdated[] = [];
  for (const { usedBy, componentId } of await usesOf(client)) {
    const origin = await originOf(client, componentId);
    if (origin === null) continue;
    const [wanted, latest] = await Promise.all([versionOf(origin.package, rangeIn(origin.url)), versionOf(origin.package, undefined)]);
    found.push({ used_by: usedBy, package: origin.package, current: origin.version, wanted, latest });
  }
  return found;
}

async function usesOf(client: Client): Promise<readonly Use[]> {
  const uses: Use[] = [];
  const page = (after: string | undefined) => ({ query: { limit: maxPageItems, ...present({ after }) } });
  for await (const source of itemsOf((after) => client.call("listMySources", page(after))))
    if (source.component_id !== null) uses.push({ usedBy: source.name_slug, componentId: source.component_id });
  for await (const workflow of itemsOf((after) => client.call("listMyWorkflows", page(after))))
    for (const { name, component_id: id } of stepsWithin(workflow.steps))
      if (typeof id === "string") uses.push({ usedBy: `${workflow.name}/${String(name)}`, componentId: id });
  return uses;
}

/** Null: it does not come from npm, or was deleted in the meantime. */
async function originOf(client: Client, id: string): Promise<Component["origin"]> {
  const found = await unlessAbsent(client.call("getComponent", { path: { key: id } }));
  return found?.data.origin ?? null;
}

async function newest(client: Client, text: string, version: string | undefined): Promise<string | null> {
  const { name } = npmPackage(text);
  const found = await unlessAbsent(client.call("getPackage", { path: { name }, query: present({ version }) }));
  return found?.data.version ?? null;
}

async function unlessAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
