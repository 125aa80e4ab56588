import { once } from "node:events";
import type { IncomingMessage, RequestListener, Server } from "node:http";
import type { Registry } from "prom-client";
import { Unavailable } from "../domain/errors.ts";
import { createApp } from "./app.ts";
import type { ApiConfig, ListenAddress } from "./config.ts";
import { createHttpMetrics } from "./http/telemetry/metrics.ts";
import type { ApiPorts, DrainableServer } from "./ports.ts";
import { startContext } from "./context.ts";

export interface StartedApi {
  readonly address: ListenAddress;
  /** That of `adminListen`. */
  readonly adminAddress: ListenAddress | undefined;
  /** Accepts no more requests and finishes those in progress; when the signal aborts, closes their connections. */
  stop(signal: AbortSignal): Promise<void>;
}

const requestTimeoutMs = 60_000;
/** Time to produce a response, apart from deliberate waits. */
const responseMs = 30_000;

/** Starts the role: the watches first, so that requests see changes of their resources. @throws Unavailable when the address is in use */
export async function startApi(config: ApiConfig, ports: ApiPorts, registry?: Registry): Promise<StartedApi> {
  const context = await startContext(config, ports);
  const maxWaitMs = Math.max(config.deployTimeoutMs, config.deletionTimeoutMs, config.runTimeoutMs);
  const limits = { ...config, requestTimeoutMs, silenceTimeoutMs: requestTimeoutMs + maxWaitMs + responseMs };
  const { adminListen } = config;
  const ofAdminListen = new WeakSet<IncomingMessage>();
  const charges: DrainableServer["charge"][] = [];
  const app = createApp(context, createHttpMetrics(registry), {
    isAdministrable: (request) => adminListen === undefined || ofAdminListen.has(request),
    // A server allows requests that are not its own.
    charge: (request, user) => charges.every((charge) => charge(request, user)),
  });
  const administrable: RequestListener = (request, response) => {
    ofAdminListen.add(request);
    app(request, response);
  };
  const drains: ((signal: AbortSignal) => Promise<void>)[] = [];
  const serve = async (address: ListenAddress, onRequest: RequestListener): Promise<ListenAddress> => {
    const { server, drain, charge } = ports.createServer(limits, onRequest);
    charges.push(charge);
    const port = await listen(server, address);
    drains.push(drain);
    return { ...address, port };
  };
  const stop = async (signal: AbortSignal): Promise<void> => {
    await Promise.all(drains.map((drain) => drain(signal)));
    await context.stop();
  };
  try {
    const address = await serve(config.listen, app);
    return { address, adminAddress: adminListen === undefined ? undefined : await serve(adminListen, administrable), stop };
  } catch (error) {
    await stop(AbortSignal.abort());
    throw error;
  }
}

async function listen(server: Server, { host, port }: ListenAddress): Promise<number> {
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (error) {
    throw new Unavailable(`the API cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}
