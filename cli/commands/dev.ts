import type { Client } from "../../client/client.ts";
import type { Source } from "../../client/generated/operations.ts";
import type { Definition } from "../command.ts";
import { clientOf } from "../connect.ts";
import { rootOption, sendingOf } from "../component/sending.ts";
import type { Context } from "../context.ts";
import { keys, readKeys, type Key } from "../dev/keys.ts";
import { personalName } from "../dev/personal-source.ts";
import { DevSession } from "../dev/session.ts";
import { idOf } from "../references.ts";
import { usageFailure } from "../failure.ts";
import type { Given } from "../given.ts";
import { openInBrowser } from "../output/browser.ts";
import { givenValues, propOptions } from "../props/given-values.ts";
import { endpointsOf } from "../output/endpoints.ts";

/** What is left to do after the signal has aborted everything else. */
const cleanUpTimeoutMs = 10_000;

export const command: Definition = {
  description:
    "Deploys a file to a source of your own, deploys it again each time you save it or a file that it imports, and prints events, logs and errors. " +
    "If the new code has a mistake, the version before it still runs. Requests to the printed local address go to the source's endpoint. " +
    "At the end the source is paused; the next `hw dev` of the file continues with it.",
  arguments: [{ name: "<file>", description: "file that exports the component", completes: "file" }],
  options: [
    ...propOptions,
    rootOption,
    { flags: "--port <port>", description: "port of the local address; by default any free one", value: "count" },
    {
      flags: "--dc <source>",
      description: "write this source, instead of one of your own; it goes on at the end. Also -dc",
    },
    { flags: "--keep", description: "leave the source running at the end" },
    { flags: "--delete", description: "delete the source at the end" },
  ],
  examples: [
    { command: "hw dev hello.ts", does: "Write a source, and watch it.", isInert: true },
    { command: "hw dev hello.ts --port 8000 --prop timer=10s", does: "Use this local port and this interval.", isInert: true },
  ],
  operations: [
    ...(["getMe", "getSource", "listMySources", "saveComponent", "listComponentProps", "listComponentOptions", "listMyAccounts"] as const),
    ...(["createSource", "updateSource", "deleteSource", "runSource", "listEvents", "listMySubscriptions"] as const),
    ...(["streamEvents", "streamLogs"] as const),
  ],
  run: async (context, given) => {
    const existing = given.text("dc");
    const endings = [given.flag("keep"), given.flag("delete"), existing !== undefined].filter(Boolean);
    if (endings.length > 1) throw usageFailure("--keep, --delete and --dc exclude each other");
    const { client } = context;
    const file = given.required("file");
    const { data: user } = await client.call("getMe", {});
    const known = existing === undefined ? undefined : await sourceNamed(client, existing);
    const name = known?.name ?? personalName(user.username, file);
    const sending = { sending: sendingOf(context, given), root: given.text("root") };
    const options = { file, name, existing: known, given: await givenValues(given), ...sending, port: given.count("port") ?? 0 };
    const session = new DevSession(context, options);
    try {
      const source = await session.start();
      await untilEnd(context, session, source);
    } finally {
      await session.close();
      if (session.source !== undefined) await cleanUp(context, given, session.source);
    }
  },
};

const sourceNamed = async (client: Client, text: string): Promise<Source> =>
  (await client.call("getSource", { path: { id: await idOf(client, "sources", text) } })).data;

async function introduce({ out, terminal }: Context, session: DevSession, source: Source): Promise<void> {
  const [endpoint] = endpointsOf(source);
  if (endpoint !== undefined) {
    await out.record({ type: "endpoint", url: session.endpoint, target: endpoint }, () => [`  ${session.endpoint} → ${endpoint}`]);
  }
  if (terminal.isInteractive) out.note(terminal.style("dim", `  ${keys.map(({ key, does }) => `${key} ${does}`).join(" · ")}`));
}

/** Prints what happens until a signal, or until the person quits. */
async function untilEnd(context: Context, session: DevSession, source: Source): Promise<void> {
  const { client, signal, terminal } = context;
  const quit = new AbortController();
  const actions: Readonly<Record<Key, () => Promise<void>>> = {
    r: () => session.runNow(client),
    l: () => session.repeatLast(client),
    o: () => openEndpoint(context, session),
    q: async () => quit.abort(),
  };
  // Floats: an action reports its own failure.
  const giveBack = terminal.isInteractive ? readKeys(process.stdin, (key) => void actions[key]()) : () => {};
  const introduced = Promise.withResolvers<void>();
  try {
    const following = session.follow(source, AbortSignal.any([signal, quit.signal]), () =>
      introduced.resolve(introduce(context, session, source)),
    );
    await Promise.all([Promise.race([introduced.promise, following]), following]);
  } finally {
    giveBack();
  }
}

async function openEndpoint({ out, env }: Context, session: DevSession): Promise<void> {
  const [endpoint] = session.source === undefined ? [] : endpointsOf(session.source);
  if (endpoint === undefined) return out.note("the source has no HTTP interface: add a prop of type $.interface.http");
  await out.line(session.endpoint);
  await openInBrowser(session.endpoint, { out, env });
}

/** The signal has ended the requests of the client: this one has its own time. */
async function cleanUp({ profile, out }: Context, given: Given, { id, name_slug: slug }: Source): Promise<void> {
  if (given.flag("keep") || given.text("dc") !== undefined) return out.note(`source ${slug} goes on`);
  const client = clientOf(profile, AbortSignal.timeout(cleanUpTimeoutMs));
  try {
    if (given.flag("delete")) await client.call("deleteSource", { path: { id }, query: { ignore_hook_errors: true } });
    else await client.call("updateSource", { path: { id }, body: { active: false, ignore_hook_errors: true } });
    out.note(`source ${slug} is ${given.flag("delete") ? "deleted" : "paused; `hw dev` continues with it"}`);
  } catch (error) {
    out.note(`hw: source ${slug} still runs: ${error instanceof Error ? error.message : String(error)}`);
  }
}
