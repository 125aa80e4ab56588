import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import { Unavailable } from "../../domain/errors.ts";

export interface HealthServerOptions {
  readonly listen: { readonly host: string; /** 0: any free one. */ readonly port: number };
  /** Resolves when this process can do its work now; the message of its error is shown. It must not take longer than the probe waits. */
  readonly checkReady: () => Promise<void>;
  readonly registry: Registry;
}

const readyTimeoutMs = 3_000;

/**
 * What whoever runs the process asks it, for every role alike: `/healthz` (it lives), `/readyz` (it can do its work), `/metrics`.
 * Nothing else, and no authentication: it is for the cluster's own network.
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
    if (answer === undefined) return void response.writeHead(404).end("there is /healthz, /readyz and /metrics\n");
    answer(response).catch(() => response.writeHead(500).end());
  });
  try {
    server.listen(listen.port, listen.host);
    await once(server, "listening");
  } catch (cause) {
    throw new Unavailable(`HEADWATER_HEALTH_LISTEN: cannot listen on ${listen.host}:${listen.port}: ${messageOf(cause)}`, { cause });
  }
  server.unref(); // Nothing waits for a probe.
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

/** @returns what is wrong, if anything */
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
