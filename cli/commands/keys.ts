import type { CreatedKey } from "../../client/generated/operations.ts";
import type { Definition, OptionDefinition, Subcommand } from "../command.ts";
import type { Given } from "../given.ts";
import { listSubcommand } from "../list-subcommand.ts";
import { fieldLines } from "../output/fields.ts";
import { idOf } from "../references.ts";
import { timeOf } from "../times.ts";
import { present } from "../values.ts";

const scopes = ["read", "write"] as const;

export const keyOptions: readonly OptionDefinition[] = [
  { flags: "--read-only", description: "the key can only read" },
  { flags: "--expires <time>", description: "when it stops working: ISO 8601, a duration such as 90d, or epoch seconds" },
];

export const keyBody = (given: Given): { readonly name: string; readonly scopes?: ["read"]; readonly expires_at?: number } => {
  const expires = given.text("expires");
  return {
    name: given.required("name"),
    ...(given.flag("read-only") ? { scopes: [scopes[0]] } : {}),
    ...(expires === undefined ? {} : { expires_at: Math.floor(timeOf(expires, "--expires", "future") / 1_000) }),
  };
};

export const createdKeyLines = ({ key, ...fields }: CreatedKey): string[] => [...fieldLines(fields), `key: ${key}`, "it is shown only now"];

const create: Subcommand = {
  name: "create",
  summary: "create an API key, and show it",
  arguments: [{ name: "<name>", description: "display name" }],
  options: keyOptions,
  examples: [{ command: "hw keys create ci --read-only --expires 90d", does: "Create a key that can only read." }],
  operations: ["createKey"],
  run: async ({ client, out }, given) => {
    const answer = await client.call("createKey", { body: keyBody(given) });
    await out.document(answer, () => createdKeyLines(answer.data));
  },
};

const revoke: Subcommand = {
  name: "revoke",
  aliases: ["delete"],
  summary: "revoke an API key",
  arguments: [{ name: "<key>", description: "id or name of a key" }],
  options: [{ flags: "-y, --yes", description: "revoke without asking" }],
  examples: [{ command: "hw keys revoke ci --yes", does: "Revoke a key." }],
  operations: ["revokeKey"],
  run: async ({ client, out, terminal }, given) => {
    const id = await idOf(client, "keys", given.required("key"));
    await terminal.confirm(`Revoke key ${id}?`, given.flag("yes"));
    await client.call("revokeKey", { path: { id } });
    await out.done({ data: { id } }, `key ${id} revoked`);
  },
};

const token: Subcommand = {
  name: "token",
  summary: "get an access token for a client that uses OAuth",
  description: "Exchanges the API key for an access token, as OAuth clients do (client_credentials).",
  examples: [{ command: "hw keys token", does: "Print an access token." }],
  operations: ["createToken"],
  run: async ({ client, out, profile }) => {
    const { data } = await client.call("getMe", { query: { include: "id" } });
    const body = { grant_type: "client_credentials", client_id: data.id, ...present({ client_secret: profile.apiKey }) };
    const answer = await client.call("createToken", { body });
    await out.document(answer, () => [answer.access_token]);
  },
};

export const command: Definition = {
  description: "Manages your API keys.",
  examples: [{ command: "hw keys list", does: "List API keys." }],
  operations: [],
  subcommands: [listSubcommand("keys"), create, revoke, token],
};
