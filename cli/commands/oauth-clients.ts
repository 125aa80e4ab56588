import type { Definition, Subcommand } from "../command.ts";
import { listSubcommand } from "../list-subcommand.ts";
import { idOf } from "../references.ts";
import { jsonOf, recordOf } from "../values.ts";

const client = { name: "<client>", description: "id of the client, or slug of its app", completes: "oauth-client" } as const;
const json = { name: "<json>", description: "the fields as JSON, or @file, which keeps the secret out of the shell's history" } as const;

const get: Subcommand = {
  name: "get",
  summary: "show an OAuth client, without its secret",
  arguments: [client],
  examples: [{ command: "hw oauth-clients get oac_1", does: "Show a client and its redirect address.", isInert: true }],
  operations: ["getOAuthClient"],
  run: async ({ client: api, out }, given) => {
    const answer = await api.call("getOAuthClient", { path: { id: await idOf(api, "oauth-clients", given.required("client")) } });
    await out.done(answer, JSON.stringify(answer.data, undefined, 2));
  },
};

const create: Subcommand = {
  name: "create",
  summary: "add the OAuth client of an app",
  arguments: [json],
  examples: [{ command: "hw oauth-clients create @slack.json", does: "Add a client from a file.", isInert: true }],
  operations: ["createOAuthClient"],
  run: async ({ client: api, out }, given) => {
    const body = recordOf(await jsonOf(given.required("json"), "<json>"), "<json>");
    const answer = await api.call("createOAuthClient", { body: body as never }); // The API checks it.
    const { id, redirect_uri: address } = answer.data;
    await out.done(answer, `client ${id} created: register the redirect address ${address} at the service`);
  },
};

const update: Subcommand = {
  name: "update",
  summary: "change an OAuth client",
  arguments: [client, json],
  examples: [{ command: "hw oauth-clients update oac_1 @slack.json", does: "Change a client.", isInert: true }],
  operations: ["updateOAuthClient"],
  run: async ({ client: api, out }, given) => {
    const body = recordOf(await jsonOf(given.required("json"), "<json>"), "<json>");
    const answer = await api.call("updateOAuthClient", { path: { id: await idOf(api, "oauth-clients", given.required("client")) }, body });
    await out.done(answer, `client ${answer.data.id} changed`);
  },
};

const remove: Subcommand = {
  name: "delete",
  summary: "delete an OAuth client",
  arguments: [client],
  options: [{ flags: "-y, --yes", description: "delete without asking" }],
  examples: [{ command: "hw oauth-clients delete oac_1 --yes", does: "Delete a client.", isInert: true }],
  operations: ["deleteOAuthClient"],
  run: async ({ client: api, out, terminal }, given) => {
    const id = await idOf(api, "oauth-clients", given.required("client"));
    await terminal.confirm(`Delete OAuth client ${id}?`, given.flag("yes"));
    await api.call("deleteOAuthClient", { path: { id } });
    await out.done({ data: { id } }, `client ${id} deleted`);
  },
};

export const command: Definition = {
  description: "Manages OAuth clients, by which accounts of apps are connected.",
  examples: [{ command: "hw oauth-clients list", does: "List clients." }],
  operations: [],
  subcommands: [listSubcommand("oauth-clients"), get, create, update, remove],
};
