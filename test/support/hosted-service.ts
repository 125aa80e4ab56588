import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

/** A server that answers as the specification says and no more: two sources to a page, subscriptions without pages. */
export interface HostedService {
  readonly url: string;
  readonly key: string;
  /** Each request that changed something, as `PUT /sources/dc_1 {…}`. */
  readonly changes: string[];
  readonly sources: readonly HostedSource[];
  stop(): Promise<void>;
}

interface HostedSource {
  readonly id: string;
  readonly component_id: string;
  readonly name: string;
  readonly configured_props: Readonly<Record<string, unknown>>;
  active: boolean;
}

/** A source that the service has. */
export const hostedSource = (
  id: string,
  component_id: string,
  configured_props: Readonly<Record<string, unknown>>,
  active = true,
): HostedSource => ({ id, component_id, name: `my ${id}`, configured_props, active });

const pageSize = 2;
const change = z.object({ active: z.boolean() });

export async function startHostedService(given: {
  readonly components: Readonly<Record<string, string>>;
  readonly sources: readonly HostedSource[];
  readonly webhooks: readonly object[];
  readonly subscriptions: readonly object[];
}): Promise<HostedService> {
  const key = "key-there";
  const changes: string[] = [];
  const server = createServer((request, response) => {
    // It never rejects but by a mistake of a test, which then ends as unhandled.
    void answer(request).then(({ status, body }) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body)),
    );
  });

  async function answer(request: IncomingMessage): Promise<{ status: number; body: object }> {
    if (request.headers.authorization !== `Bearer ${key}`) return { status: 401, body: { error: "unauthorized" } };
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    const [, , kind, id = ""] = pathname.split("/");
    if (request.method === "PUT") return update(id, Buffer.concat(await request.toArray()).toString());
    if (pathname === "/v1/users/me/sources") return { status: 200, body: page(given.sources.toReversed(), searchParams.get("after")) };
    if (pathname === "/v1/users/me/webhooks") return { status: 200, body: page(given.webhooks, null) };
    if (pathname === "/v1/users/me/subscriptions") return { status: 200, body: { data: given.subscriptions } };
    const code = kind === "components" ? given.components[id] : undefined;
    return code === undefined ? { status: 404, body: { error: "record not found" } } : { status: 200, body: { data: { id, code } } };
  }

  function update(id: string, text: string): { status: number; body: object } {
    const source = given.sources.find((each) => each.id === id);
    if (source === undefined) return { status: 404, body: { error: "record not found" } };
    changes.push(`PUT /sources/${id} ${text}`);
    source.active = change.parse(JSON.parse(text)).active;
    return { status: 200, body: { data: source } };
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    // Listening on TCP.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    key,
    changes,
    sources: given.sources,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Cursors are positions here. */
function page(all: readonly object[], after: string | null): object {
  const start = after === null ? 0 : Number(after) + 1;
  const data = all.slice(start, start + pageSize);
  const [first, last] = [String(start), String(start + data.length - 1)];
  return { page_info: { total_count: all.length, count: data.length, start_cursor: first, end_cursor: last }, data };
}
