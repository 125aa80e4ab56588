import { setTimeout as pause } from "node:timers/promises";
import type { AccountUse, StartedConnection } from "../../client/generated/operations.ts";
import type { Definition, OptionDefinition, Subcommand } from "../command.ts";
import type { Context } from "../context.ts";
import type { Given } from "../given.ts";
import { Failure } from "../failure.ts";
import { onePage } from "../kinds/kind.ts";
import { listOptions, showList } from "../listing.ts";
import { listSubcommand } from "../list-subcommand.ts";
import { openInBrowser } from "../output/browser.ts";
import type { Column } from "../output/table.ts";
import { idOf } from "../references.ts";
import { jsonOf, pairsOf, present, recordOf } from "../values.ts";

const account = { name: "<account>", description: "an account", completes: "account" } as const;
const credentialOptions: readonly OptionDefinition[] = [
  { flags: "--name <name>", description: "display name" },
  { flags: "--credential <field=value>", description: "a credential; without =value it is asked for, hidden", value: "list" },
  { flags: "--credentials <json>", description: "credentials as a JSON object, or @file, which keeps them out of the shell's history" },
  { flags: "--oauth <json>", description: "how the access token is refreshed, as JSON or @file: token_url, client_id, refresh_token, …" },
];

const create: Subcommand = {
  name: "create",
  summary: "connect an account of an app",
  arguments: [{ name: "<app>", description: "name slug of the app, such as github" }],
  options: credentialOptions,
  examples: [
    {
      command: "hw accounts create github --name work --credentials @credentials.json",
      does: "Store credentials from a file.",
    },
    { command: "hw accounts create github --credential oauth_access_token", does: "Ask for a credential, hidden.", isInert: true },
  ],
  operations: ["createAccount"],
  run: async (context, given) => {
    const body = { app: given.required("app"), ...(await credentialsOf(context, given)) };
    const answer = await context.client.call("createAccount", { body });
    await context.out.done(answer, `account ${answer.data.id} created`);
  },
};

const update: Subcommand = {
  name: "update",
  summary: "change the name or credentials of an account",
  arguments: [account],
  options: credentialOptions,
  examples: [{ command: "hw accounts update work --credentials @credentials.json", does: "Replace credentials." }],
  operations: ["updateAccount"],
  run: async (context, given) => {
    const { client, out } = context;
    const id = await idOf(client, "accounts", given.required("account"));
    await out.done(
      await client.call("updateAccount", { path: { id }, body: await credentialsOf(context, given) }),
      `account ${id} changed`,
    );
  },
};

interface Credentials {
  readonly name?: string;
  readonly credentials?: Readonly<Record<string, string>>;
  readonly oauth?: OAuth;
}
interface OAuth {
  readonly token_url: string;
  readonly client_id: string;
  readonly refresh_token: string;
}

async function credentialsOf({ terminal }: Context, given: Given): Promise<Credentials> {
  const asked = given.list("credential").filter((text) => !text.includes("="));
  const values: Record<string, string> = pairsOf(
    given.list("credential").filter((text) => text.includes("=")),
    "--credential",
  );
  for (const field of asked) values[field] = await terminal.askSecret(field, `write --credential ${field}=value, or --credentials @file`);
  const [json, oauth] = [given.text("credentials"), given.text("oauth")];
  // The API checks both.
  if (json !== undefined) Object.assign(values, recordOf(await jsonOf(json, "--credentials"), "--credentials"));
  const parts = { name: given.text("name"), credentials: Object.keys(values).length === 0 ? undefined : values };
  const refresh = oauth === undefined ? {} : { oauth: recordOf(await jsonOf(oauth, "--oauth"), "--oauth") as unknown as OAuth };
  return { ...(present(parts) as Credentials), ...refresh };
}

const pollMs = 1_500;
const printOption: OptionDefinition = { flags: "--print", description: "print the address only, without opening a browser" };

const clientOptions: readonly OptionDefinition[] = [
  { flags: "--client-id <id>", description: "of apps with client_credentials: a client of the account, not the OAuth client of the app" },
  { flags: "--client-secret <secret>", description: "its secret; without it, it is asked for, hidden" },
];

const connect: Subcommand = {
  name: "connect",
  summary: "connect an account of an app: by signing in at the service, in your browser, or with a client's id and secret",
  arguments: [{ name: "<app>", description: "name slug of the app, such as slack", completes: "app" }],
  options: [
    { flags: "--name <name>", description: "display name; by default its name at the service" },
    { flags: "--scope <scope>", description: "a scope to request; by default those of the client or the app", value: "list" },
    printOption,
    ...clientOptions,
  ],
  examples: [
    { command: "hw accounts connect slack", does: "Sign in at Slack, and wait until the account is stored.", isInert: true },
    {
      command: "hw accounts connect acme --client-id 4f1c",
      does: "Ask for the secret of a client, and wait for its first token.",
      isInert: true,
    },
  ],
  operations: ["getApp", "connectApp", "getConnection", "createAccount", "getAccount"],
  run: async (context, given) => {
    const [{ client }, slug] = [context, given.required("app")];
    const { data: app } = await client.call("getApp", { path: { slug } });
    if (app.oauth?.grant === "client_credentials") {
      const body = { app: slug, ...present({ name: given.text("name") }), client_credentials: await clientOf(context, given) };
      return untilIssued((await client.call("createAccount", { body })).data.id, context);
    }
    const body = present({ name: given.text("name"), ...scopesOf(given) });
    const { data } = await client.call("connectApp", { path: { slug }, body });
    return signIn(data, context, given);
  },
};

const reconnect: Subcommand = {
  name: "reconnect",
  summary: "connect an account again, which keeps its id and its name",
  arguments: [account],
  options: [
    { flags: "--scope <scope>", description: "a scope to request; by default those of the client or the app", value: "list" },
    printOption,
    ...clientOptions,
  ],
  examples: [{ command: "hw accounts reconnect work", does: "Sign in again at the service of an account.", isInert: true }],
  operations: ["getAccount", "reconnectAccount", "getConnection", "updateAccount"],
  run: async (context, given) => {
    const { client } = context;
    const id = await idOf(client, "accounts", given.required("account"));
    const { grant_type: grant, connection } = (await client.call("getAccount", { path: { id } })).data;
    if (grant === "client_credentials") {
      const body = { client_credentials: await clientOf(context, given, connection === null) };
      await client.call("updateAccount", { path: { id }, body });
      return untilIssued(id, context);
    }
    const { data } = await client.call("reconnectAccount", { path: { id }, body: scopesOf(given) });
    return signIn(data, context, given);
  },
};

/** @param isOwn whether the account has a client of its own, whose secret is asked for. By default if its id is given */
async function clientOf({ terminal }: Context, given: Given, isOwn = given.text("client-id") !== undefined) {
  const [id, secret] = [given.text("client-id"), given.text("client-secret")];
  const { scopes = [] } = scopesOf(given);
  const asked = secret === undefined && (isOwn || id !== undefined);
  return present({
    client_id: id,
    client_secret: asked ? await terminal.askSecret("client secret", "write --client-secret") : secret,
    scope: scopes.length === 0 ? undefined : scopes.join(" "),
  });
}

/** Waits until the operator has requested the first token. The account stays if the service refuses it: the request may be corrected. */
async function untilIssued(id: string, { client, out }: Context): Promise<void> {
  for (;;) {
    const answer = await client.call("getAccount", { path: { id } });
    const { healthy, problem } = answer.data;
    if (healthy === true) return out.done(answer, `account ${id} connected`);
    if (healthy === false) throw new Failure(`account ${id} has no access token: ${problem}`);
    await pause(pollMs);
  }
}

const scopesOf = (given: Given): { readonly scopes?: string[] } => {
  const scopes = given.list("scope");
  return scopes.length === 0 ? {} : { scopes: [...scopes] };
};

/** Shows the address, and waits until the person has signed in there. */
async function signIn(started: StartedConnection, context: Context, given: Given): Promise<void> {
  const { out } = context;
  await out.line(started.url);
  if (!given.flag("print")) await openInBrowser(started.url, context);
  const ended = await untilEnded(started.connection_id, context);
  const { account_id: id, missing_scopes: missing } = ended.data;
  const without = missing.length === 0 ? "" : `, without the scopes ${missing.join(", ")}`;
  await out.done(ended, `account ${id} connected${without}`);
}

/** The API ends a connection after ten minutes at the latest. */
async function untilEnded(id: string, { client }: Context) {
  for (;;) {
    const answer = await client.call("getConnection", { path: { id } });
    if (answer.data.problem !== null) throw new Failure(answer.data.problem.message);
    if (answer.data.status === "connected") return answer;
    await pause(pollMs);
  }
}

const remove: Subcommand = {
  name: "delete",
  summary: "delete an account",
  arguments: [account],
  options: [
    { flags: "-y, --yes", description: "delete without asking" },
    { flags: "--force", description: "delete it even if sources or workflows use it" },
  ],
  examples: [{ command: "hw accounts delete work --yes", does: "Delete an account." }],
  operations: ["deleteAccount"],
  run: async ({ client, out, terminal }, given) => {
    const id = await idOf(client, "accounts", given.required("account"));
    await terminal.confirm(`Delete account ${id}?`, given.flag("yes"));
    await client.call("deleteAccount", { path: { id }, query: given.flag("force") ? { force: true } : {} });
    await out.done({ data: { id } }, `account ${id} deleted`);
  },
};

const useColumns: readonly Column<AccountUse>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "KIND", value: ({ kind }) => kind },
  { header: "NAME", value: ({ name }) => name },
];

const uses: Subcommand = {
  name: "uses",
  summary: "list the sources and workflows that use an account",
  arguments: [account],
  options: listOptions,
  examples: [{ command: "hw accounts uses work", does: "See what stops with an account before you delete it." }],
  operations: ["listAccountUses"],
  run: async (context, given) => {
    const id = await idOf(context.client, "accounts", given.required("account"));
    const read = () => onePage(context.client.call("listAccountUses", { path: { id } }));
    return showList(context, given, { what: "uses", columns: useColumns, nameOf: ({ id: user }) => user, read });
  },
};

export const command: Definition = {
  description: "Manages accounts: credentials of apps, which sources and workflows use.",
  examples: [{ command: "hw accounts list", does: "List accounts." }],
  operations: [],
  subcommands: [listSubcommand("accounts"), connect, reconnect, create, update, uses, remove],
};
