import type { Definition, Subcommand } from "../command.ts";
import { jsonOf, recordOf } from "../values.ts";

const app = { name: "<app>", description: "name slug of the app, such as slack", completes: "app" } as const;
const json = { name: "<json>", description: "the fields as JSON, or @file: docs/connect.md lists them" } as const;

const list: Subcommand = {
  name: "list",
  isDefault: true,
  summary: "search apps",
  arguments: [{ name: "[query]", description: "words in the name, the slug or the categories" }],
  examples: [{ command: "hw apps list google", does: "Search apps." }],
  operations: ["listApps"],
  run: async ({ client, out }, given) => {
    const q = given.text("query");
    const answer = await client.call("listApps", { query: { limit: 100, ...(q === undefined ? {} : { q }) } });
    const lines = answer.data.map(({ name_slug: slug, name, kind }) => `${slug}  ${kind}  ${name}`);
    await out.done(answer, lines.join("\n"));
  },
};

const get: Subcommand = {
  name: "get",
  summary: "show an app as JSON",
  arguments: [app],
  examples: [{ command: "hw apps get slack", does: "Show the addresses and scopes of an app." }],
  operations: ["getApp"],
  run: async ({ client, out }, given) => {
    const answer = await client.call("getApp", { path: { slug: given.required("app") } });
    await out.done(answer, JSON.stringify(answer.data, undefined, 2));
  },
};

const create: Subcommand = {
  name: "create",
  summary: "add an app of your own",
  arguments: [json],
  examples: [{ command: "hw apps create @acme.json", does: "Add an app from a file.", isInert: true }],
  operations: ["createApp"],
  run: async ({ client, out }, given) => {
    const body = recordOf(await jsonOf(given.required("json"), "<json>"), "<json>");
    const answer = await client.call("createApp", { body: body as never }); // The API checks it.
    await out.done(answer, `app ${answer.data.name_slug} created`);
  },
};

const update: Subcommand = {
  name: "update",
  summary: "change an app of your own",
  arguments: [app, json],
  examples: [{ command: "hw apps update acme @acme.json", does: "Change an app.", isInert: true }],
  operations: ["updateApp"],
  run: async ({ client, out }, given) => {
    const body = recordOf(await jsonOf(given.required("json"), "<json>"), "<json>");
    const answer = await client.call("updateApp", { path: { slug: given.required("app") }, body });
    await out.done(answer, `app ${answer.data.name_slug} changed`);
  },
};

const remove: Subcommand = {
  name: "delete",
  summary: "delete an app of your own",
  arguments: [app],
  options: [{ flags: "-y, --yes", description: "delete without asking" }],
  examples: [{ command: "hw apps delete acme --yes", does: "Delete an app.", isInert: true }],
  operations: ["deleteApp"],
  run: async ({ client, out, terminal }, given) => {
    const slug = given.required("app");
    await terminal.confirm(`Delete app ${slug}?`, given.flag("yes"));
    await client.call("deleteApp", { path: { slug } });
    await out.done({ data: { slug } }, `app ${slug} deleted`);
  },
};

export const command: Definition = {
  description: "Manages apps: how one connects to services.",
  examples: [{ command: "hw apps list slack", does: "Search apps." }],
  operations: [],
  subcommands: [list, get, create, update, remove],
};
