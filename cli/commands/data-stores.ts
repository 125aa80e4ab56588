import type { DataStoreEntry } from "../../client/generated/operations.ts";
import type { Definition, Subcommand } from "../command.ts";
import { listOptions, showList } from "../listing.ts";
import { listSubcommand } from "../list-subcommand.ts";
import { bytes } from "../output/bytes.ts";
import { age } from "../output/time.ts";
import { idOf } from "../references.ts";
import { jsonOf, present } from "../values.ts";
import { usageFailure } from "../failure.ts";
import type { Context } from "../context.ts";
import type { Given } from "../given.ts";

const storeArgument = { name: "<store>", description: "id or name of a data store", completes: "data-store" } as const;
const keyArgument = { name: "<key>", description: "a key" } as const;
const orgOption = { flags: "--org <organization>", description: "a store of this organization, by its id" } as const;
const yesOption = { flags: "-y, --yes", description: "delete without asking" } as const;

const storeOf = ({ client }: Context, given: Given): Promise<string> => idOf(client, "data-stores", given.required("store"));

const create: Subcommand = {
  name: "create",
  summary: "create a data store",
  arguments: [{ name: "<name>", description: "display name" }],
  options: [{ flags: "--description <text>", description: "what it is for" }, orgOption],
  examples: [{ command: "hw data-stores create orders", does: "Create a store, for props of type data_store." }],
  operations: ["createDataStore"],
  run: async ({ client, out }, given) => {
    const org = given.text("org");
    const description = given.text("description");
    const body = { name: given.required("name"), ...(description === undefined ? {} : { description }) };
    const answer = await client.call("createDataStore", { query: org === undefined ? {} : { org_id: org }, body });
    await out.done(answer, `data store ${answer.data.id} created`);
  },
};

const update: Subcommand = {
  name: "update",
  summary: "rename a data store",
  arguments: [storeArgument],
  options: [
    { flags: "--name <name>", description: "display name" },
    { flags: "--description <text>", description: "what it is for" },
  ],
  examples: [{ command: "hw data-stores update orders --description 'orders by number'", does: "Describe a store." }],
  operations: ["updateDataStore"],
  run: async (context, given) => {
    const body = present({ name: given.text("name"), description: given.text("description") });
    const answer = await context.client.call("updateDataStore", { path: { id: await storeOf(context, given) }, body });
    await context.out.done(answer, `data store ${answer.data.id} changed`);
  },
};

const show: Subcommand = {
  name: "show",
  summary: "show a data store with its size",
  arguments: [storeArgument],
  examples: [{ command: "hw data-stores show orders", does: "Show entries and bytes of a store." }],
  operations: ["getDataStore"],
  run: async (context, given) => {
    const answer = await context.client.call("getDataStore", { path: { id: await storeOf(context, given) } });
    const { id, name, entries, bytes: size } = answer.data;
    await context.out.done(answer, `${id}  ${name}: ${entries} entries, ${bytes(size)}`);
  },
};

const remove: Subcommand = {
  name: "delete",
  summary: "delete a data store with its entries",
  arguments: [storeArgument],
  options: [yesOption, { flags: "--force", description: "also a store that sources or workflows use" }],
  examples: [{ command: "hw data-stores delete orders --yes", does: "Delete a store." }],
  operations: ["deleteDataStore"],
  run: async (context, given) => {
    const id = await storeOf(context, given);
    await context.terminal.confirm(`Delete data store ${id} with its entries?`, given.flag("yes"));
    await context.client.call("deleteDataStore", { path: { id }, query: given.flag("force") ? { force: true } : {} });
    await context.out.done({ data: { id } }, `data store ${id} deleted`);
  },
};

const keys: Subcommand = {
  name: "keys",
  summary: "list the keys of a data store",
  arguments: [storeArgument],
  options: listOptions,
  examples: [{ command: "hw data-stores keys orders", does: "List keys with their sizes." }],
  operations: ["listDataStoreEntries"],
  run: async (context, given) => {
    const id = await storeOf(context, given);
    await showList<DataStoreEntry>(context, given, {
      what: "keys",
      read: (query) => context.client.call("listDataStoreEntries", { path: { id }, query: { ...query, values: false } }),
      nameOf: ({ key }) => key,
      columns: [
        { header: "KEY", value: ({ key }) => key, isWhole: true },
        { header: "VERSION", value: ({ version }) => String(version) },
        { header: "SIZE", value: ({ bytes: size }) => bytes(size) },
        { header: "AGE", value: ({ updated_at: at }) => age(Date.parse(at) / 1_000) },
        { header: "EXPIRES", value: ({ expires_at: at }) => at ?? "" },
      ],
    });
  },
};

const get: Subcommand = {
  name: "get",
  summary: "print the value of a key",
  arguments: [storeArgument, keyArgument],
  examples: [{ command: "hw data-stores get orders last", does: "Print a value as JSON." }],
  operations: ["getDataStoreEntry"],
  run: async (context, given) => {
    const path = { id: await storeOf(context, given), key: given.required("key") };
    const answer = await context.client.call("getDataStoreEntry", { path });
    await context.out.done(answer, JSON.stringify(answer.data.value, undefined, 2));
  },
};

const set: Subcommand = {
  name: "set",
  summary: "set the value of a key",
  arguments: [storeArgument, keyArgument, { name: "<json>", description: "the value as JSON, or @file, or @- for standard input" }],
  options: [
    { flags: "--ttl <seconds>", description: "seconds after which the key is gone", value: "count" },
    { flags: "--if-version <version>", description: "only if the entry has this version; 0: only if there is none", value: "count" },
  ],
  examples: [{ command: `hw data-stores set orders last '{"number":7}' --ttl 3600`, does: "Set a value for an hour." }],
  operations: ["setDataStoreEntry"],
  run: async (context, given) => {
    const value = await jsonOf(given.required("json"), "<json>");
    const [ttl, version] = [given.count("ttl"), given.count("if-version")];
    if (ttl === 0) throw usageFailure("--ttl 0 is invalid: it must be an integer from 1");
    const path = { id: await storeOf(context, given), key: given.required("key") };
    const options = { ...(ttl === undefined ? {} : { ttl }), ...(version === undefined ? {} : { if_version: version }) };
    const answer = await context.client.call("setDataStoreEntry", { path, body: { value: value as never, ...options } }); // Any JSON.
    await context.out.done(answer, `${path.key} is set, version ${answer.data.version}`);
  },
};

const unset: Subcommand = {
  name: "unset",
  summary: "delete a key",
  arguments: [storeArgument, keyArgument],
  examples: [{ command: "hw data-stores unset orders last", does: "Delete a key." }],
  operations: ["deleteDataStoreEntry"],
  run: async (context, given) => {
    const path = { id: await storeOf(context, given), key: given.required("key") };
    await context.client.call("deleteDataStoreEntry", { path });
    await context.out.done({ data: { key: path.key } }, `${path.key} deleted`);
  },
};

const clear: Subcommand = {
  name: "clear",
  summary: "delete all keys of a data store",
  arguments: [storeArgument],
  options: [yesOption],
  examples: [{ command: "hw data-stores clear orders --yes", does: "Empty a store." }],
  operations: ["clearDataStore"],
  run: async (context, given) => {
    const id = await storeOf(context, given);
    await context.terminal.confirm(`Delete all keys of data store ${id}?`, given.flag("yes"));
    await context.client.call("clearDataStore", { path: { id } });
    await context.out.done({ data: { id } }, `data store ${id} cleared`);
  },
};

export const command: Definition = {
  description: "Manages data stores: keys with JSON values, which sources and steps of workflows share by props of type data_store.",
  examples: [{ command: "hw data-stores list", does: "List stores with their sizes." }],
  operations: [],
  subcommands: [listSubcommand("data-stores"), create, show, update, remove, keys, get, set, unset, clear],
};
