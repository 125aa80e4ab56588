import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** The service that `fixtures/npm/piece-ledger` is a connector of: strict about each request, so that a wrong one fails a test. */
export interface LedgerService {
  readonly origin: string;
  readonly token: string;
  readonly entries: readonly LedgerEntry[];
  /** Addresses that receive each new entry, by id. */
  readonly hooks: ReadonlyMap<string, string>;
  /** Requests that it refused, with the reason. */
  readonly refusals: readonly string[];
  /** Adds an entry as another client would, and calls the hooks. @returns the statuses of their answers */
  add(entry: Omit<LedgerEntry, "id">): Promise<readonly number[]>;
  stop(): Promise<void>;
}

export interface LedgerEntry {
  readonly id: number;
  readonly book: string;
  readonly direction: string;
  readonly amount: number;
  readonly city?: string;
}

const books = [
  { id: "travel", name: "Travel" },
  { id: "office", name: "Office" },
];

type Answer = readonly [status: number, body?: unknown];

export async function startLedger(): Promise<LedgerService> {
  const token = "ledger-token-0123456789";
  const [entries, refusals] = [[] as LedgerEntry[], [] as string[]];
  const hooks = new Map<string, string>();
  const routes: Readonly<Record<string, (body: unknown, id: string) => Answer | Promise<Answer>>> = {
    "GET /books": () => [200, books],
    "GET /entries": () => [200, entries.toReversed()],
    "POST /entries": (body) => {
      const problem = problemOf(body);
      if (problem !== undefined) return [422, { error: problem }];
      entries.push({ ...(body as Omit<LedgerEntry, "id">), id: entries.length + 1 }); // `problemOf` checked it.
      return [201, entries.at(-1)];
    },
    "POST /hooks": async (body) => {
      const { url } = body as { readonly url: string };
      const challenge = `challenge-${hooks.size}`;
      const response = await post(url, { challenge });
      if (response.status !== 200 || response.text !== challenge) return [422, { error: "the address did not repeat the challenge" }];
      const id = `hook_${hooks.size + 1}`;
      hooks.set(id, url);
      return [201, { id }];
    },
    "DELETE /hooks/:id": (_body, id) => (hooks.delete(id) ? [204] : [404, { error: "no such hook" }]),
  };
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    if (request.headers.authorization !== `Bearer ${token}`) return [401, { error: "the token is wrong" }];
    const [, resource = "", id = ""] = (request.url ?? "").split("/");
    const route = routes[`${request.method} /${resource}${id === "" ? "" : "/:id"}`];
    if (route === undefined) return [404, { error: `${request.method} ${request.url} is unknown` }];
    const text = await textOf(request);
    if (text !== "" && request.headers["content-type"] !== "application/json") return [415, { error: "JSON is expected" }];
    return route(text === "" ? undefined : JSON.parse(text), id);
  };
  const server = createServer((request, response) => {
    void answer(request).then(([status, body]) => {
      if (status >= 400) refusals.push(`${request.method} ${request.url}: ${JSON.stringify(body)}`);
      response.writeHead(status, { "content-type": "application/json" }).end(body === undefined ? "" : JSON.stringify(body));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    entries,
    hooks,
    refusals,
    add: async (entry) => {
      const added = { ...entry, id: entries.length + 1 };
      entries.push(added);
      const answers = await Promise.all([...hooks.values()].map((url) => post(url, added)));
      return answers.map(({ status }) => status);
    },
    stop: () => close(server),
  };
}

const fields: Readonly<Record<string, string>> = { book: "string", direction: "string", amount: "number", city: "string" };

function problemOf(body: unknown): string | undefined {
  const entry = body as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(entry).find((field) => !(field in fields));
  if (unknown !== undefined) return `field ${unknown} is unknown`;
  const wrong = Object.entries(fields).find(([field, type]) => (field in entry || field !== "city") && typeof entry[field] !== type);
  if (wrong !== undefined) return `${wrong[0]} must be a ${wrong[1]}`;
  if (!books.some(({ id }) => id === entry["book"])) return "there is no such book";
  return entry["book"] === "travel" && entry["city"] === undefined ? "city is missing" : undefined;
}

async function post(url: string, body: unknown): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += String(piece);
  return text;
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}
