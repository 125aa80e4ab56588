import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import { Unavailable } from "../../domain/errors.ts";

export interface HealthServerOptions {
  readonly listen: { readonly host: string; /** 0: any free one. */ readonly port: number };
  /** Resolves when this process can do its work; otherwise rejects, and the response shows the message. Must end before the probe times out. */
  readonly checkReady: () => Promise<void>;
  readonly registry: Registry;
}

const readyTimeoutMs = 3_000;

/**
 * Serves probes and metrics of a process, the same for every role: `/healthz` (alive), `/readyz` (able to work), `/metrics`. Without
 * authentication: it is for the cluster's own network.
 * @throws Unavailable when the address is taken
 */
export async function startHealthServer(options: HealthServerOptions): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const { listen, checkReady, registry } = options;
  const answers: Readonly<Record<string, (response: ServerResponse) => Promise<void>>> = {
    "/healthz": async (response) => void response.end("ok\n"),
    "/readyz": async (response) => {
      const problem = await inTime(checkReady());
      response.statusCode = problem === undefined ? 200 : 503;
      response.end(`${problem ?? "ok"}\n`);
    },
    "/metrics": async (response) => void response.setHeader("content-type", registry.contentType).end(await registry.metrics()),
  };
  const server = createServer((request, response) => {
    const answer = request.method === "GET" || request.method === "HEAD" ? answers[(request.url ?? "").split("?")[0] ?? ""] : undefined;
    response.setHeader("content-type", "text/plain; charset=utf-8");
    if (answer === undefined) return void response.writeHead(404).end("not found: use /healthz, /readyz or /metrics\n");
    answer(response).catch(() => response.writeHead(500).end());
  });
  try {
    server.listen(listen.port, listen.host);
    await once(server, "listening");
  } catch (cause) {
    throw new Unavailable(`HEADWATER_HEALTH_LISTEN: cannot listen on ${listen.host}:${listen.port}: ${messageOf(cause)}`, { cause });
  }
  server.unref(); // Probes do not keep the process alive.
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : listen.port,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** @returns the problem; undefined when the check passes */
async function inTime(check: Promise<void>): Promise<string | undefined> {
  const late = Promise.withResolvers<string>();
  const timer = setTimeout(() => late.resolve(`no answer within ${readyTimeoutMs} ms`), readyTimeoutMs);
  try {
    return await Promise.race([check.then(() => undefined, messageOf), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
