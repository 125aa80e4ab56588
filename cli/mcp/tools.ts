import { z } from "zod";
import type { Client } from "../../client/client.ts";
import { collectFiles } from "../component/files.ts";
import type { Sending } from "../component/sending.ts";
import { findDeployable } from "../component/named.ts";
import { emitterOf } from "../emitters.ts";
import { usageFailure } from "../failure.ts";
import { kindNamed, kindNames } from "../kinds/kinds.ts";
import { idOf, referredTo } from "../references.ts";
import { lastEventOf } from "../run-source.ts";

/** A verb of the command line, as a tool of the Model Context Protocol. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** Whether it changes something: only with `--write`. */
  readonly writes: boolean;
  /** Its arguments; others are refused. */
  readonly input: z.ZodRawShape;
  /** What the API answered. */
  readonly call: (client: Client, input: Readonly<Record<string, unknown>>) => Promise<unknown>;
}

const source = z.string().describe("Id, name or unique beginning of an id of a source or workflow");
const limit = z.number().int().min(1).max(100).default(10).describe("At most this many, newest first");
const file = z.string().describe("Path of the file that exports the component; its relative imports are sent with it");
const props = z.record(z.string(), z.unknown()).optional().describe("Values by name of the prop");
const text = (value: unknown): string => String(value);

/** Collects code below the working directory only: what is sent comes back to the agent, who may act for others. @throws Failure for other files */
const sendOwn: Sending = async (entry) => {
  if (!/\.[cm]?[jt]s$/.test(entry)) throw usageFailure(`${entry} is no component: its name must end in .ts, .mts, .cts, .js, .mjs or .cjs`);
  const { component_files, component_entry } = await collectFiles(entry, { root: process.cwd() });
  return { component_files, component_entry };
};

const reading: readonly Tool[] = [
  {
    name: "list",
    description: `Lists things of a kind: ${kindNames.join(", ")}`,
    writes: false,
    input: { kind: z.enum(kindNames as [string, ...string[]]), limit },
    call: (client, { kind, limit: count }) => kindNamed(text(kind)).list(client, { limit: Number(count) }),
  },
  {
    name: "describe",
    description: "Shows everything about a source, workflow, webhook or other thing, with its state and current problem",
    writes: false,
    input: { thing: z.string().describe("Id or name; kind/name where a name is ambiguous") },
    call: async (client, { thing }) => {
      const { kind, id } = await referredTo(client, text(thing));
      if (kind.get === undefined) throw new Error(`${kind.name} can only be listed`);
      return kind.get(client, id);
    },
  },
  {
    name: "events",
    description: "Reads the newest events of a source or workflow; channel $errors has its errors",
    writes: false,
    input: { source, limit, channel: z.string().optional() },
    call: async (client, { source: name, limit: count, channel }) => {
      const { id, isWorkflow } = await emitterOf(client, text(name));
      const query = { limit: Number(count), expand: "event", ...(channel === undefined ? {} : { event_name: text(channel) }) };
      return isWorkflow
        ? client.call("listWorkflowEvents", { path: { workflow_id: id }, query })
        : client.call("listEvents", { path: { id }, query });
    },
  },
  {
    name: "logs",
    description: "Reads the newest lines of the log of a source or workflow, with errors and their lines of code",
    writes: false,
    input: { source },
    call: async (client, { source: name }) => {
      const { id, isWorkflow } = await emitterOf(client, text(name));
      return isWorkflow ? client.call("listWorkflowLogs", { path: { workflow_id: id } }) : client.call("listLogs", { path: { id } });
    },
  },
  {
    name: "runs",
    description: "Lists the newest runs of a source or workflow, or shows one with its logs",
    writes: false,
    input: { source, limit, run: z.string().optional().describe("Id of a run, r_…") },
    call: async (client, { source: name, limit: count, run }) => {
      const { id, isWorkflow } = await emitterOf(client, text(name));
      const query = { limit: Number(count) };
      if (isWorkflow) {
        const path = { workflow_id: id };
        return run === undefined
          ? client.call("listWorkflowRuns", { path, query })
          : client.call("getWorkflowRun", { path: { ...path, run_id: text(run) } });
      }
      return run === undefined
        ? client.call("listRuns", { path: { id }, query })
        : client.call("getRun", { path: { id, run_id: text(run) } });
    },
  },
  {
    name: "search",
    description: "Searches events, log lines, runs and errors of everything that you may see, newest first; cursor searches further back",
    writes: false,
    input: {
      query: z.string().describe(`Words, "phrases" and fields: kind: level: source: status: run: channel: after:-2h before:2027-01-31`),
      limit,
      cursor: z.string().optional().describe("Of the last answer, with the same query"),
    },
    call: (client, { query: q, limit: count, cursor }) =>
      client.call("search", { query: { q: text(q), limit: Number(count), ...(cursor === undefined ? {} : { cursor: text(cursor) }) } }),
  },
  {
    name: "validate",
    description: "Builds a component without saving it; reports mistakes with the lines of code around them, and warnings",
    writes: false,
    input: { file },
    call: async (client, { file: path }) => {
      return client.call("saveComponent", { query: { dry_run: true, exclude: "code" }, body: await sendOwn(text(path)) });
    },
  },
];

const writing: readonly Tool[] = [
  {
    name: "deploy",
    description: "Deploys a component as a new source: a file, an address, or the key of a component",
    writes: true,
    input: { component: z.string().describe("File, http(s) address, or key"), props, name: z.string().optional() },
    call: async (client, { component, props: values, name }) => {
      const { body } = await findDeployable(client, text(component), sendOwn);
      const configured_props = (values ?? {}) as Readonly<Record<string, unknown>>; // By the tool's input.
      return client.call("createSource", { body: { ...body, configured_props, ...(name === undefined ? {} : { name: text(name) }) } });
    },
  },
  {
    name: "update",
    description: "Changes the code or props of a source; props that are not given stay",
    writes: true,
    input: { source, component: z.string().optional().describe("New code: file, address or key"), props },
    call: async (client, { source: name, component, props: values }) => {
      const id = await idOf(client, "sources", text(name));
      const { data } = await client.call("getSource", { path: { id } });
      const code = component === undefined ? {} : (await findDeployable(client, text(component), sendOwn)).body;
      const given = values as Readonly<Record<string, unknown>> | undefined; // By the tool's input.
      const configured = given === undefined ? {} : { configured_props: { ...data.configured_props, ...given } };
      return client.call("updateSource", { path: { id }, body: { ...code, ...configured, name: data.name } });
    },
  },
  {
    name: "run",
    description: "Runs a source or workflow now, and returns the run with its logs",
    writes: true,
    input: {
      source,
      event: z.unknown().optional(),
      last: z.boolean().optional().describe("Run a source with its last event, instead of `event`"),
      dry_run: z.boolean().optional().describe("Run a source without storing anything, and return what the run would have stored"),
    },
    call: async (client, { source: name, event, last, dry_run: isDry }) => {
      const { id, isWorkflow } = await emitterOf(client, text(name));
      if (isWorkflow && (last === true || isDry === true)) throw usageFailure("last and dry_run are for sources", "give event");
      if (last === true && event !== undefined) throw usageFailure("event and last exclude each other");
      const given = event === undefined ? {} : { event };
      if (isWorkflow) return client.call("runWorkflow", { path: { workflow_id: id }, body: given });
      const body = last === true ? await lastEventOf(client, id) : given;
      return client.call("runSource", { path: { id }, body: { ...body, ...(isDry === true ? { dry_run: true } : {}) } });
    },
  },
  {
    name: "replay",
    description: "Delivers past events of a source to its listeners again",
    writes: true,
    input: { source, from: z.string().optional().describe("First event"), to: z.string().optional().describe("Last event") },
    call: async (client, { source: name, from, to }) => {
      const id = await idOf(client, "sources", text(name));
      const range = { ...(from === undefined ? {} : { start_id: text(from) }), ...(to === undefined ? {} : { end_id: text(to) }) };
      return client.call("replayEvents", { path: { id }, body: range });
    },
  },
];

export const toolsFor = (mayWrite: boolean): readonly Tool[] => [...reading, ...(mayWrite ? writing : [])];
