import { once } from "node:events";
import type { Server } from "node:http";
import type { Registry } from "prom-client";
import { Unavailable } from "../domain/errors.ts";
import { createApp } from "./app.ts";
import type { ApiConfig } from "./config.ts";
import { createHttpMetrics } from "./http/telemetry/metrics.ts";
import type { ApiPorts } from "./ports.ts";
import { startContext } from "./context.ts";

export interface StartedApi {
  readonly address: { readonly host: string; readonly port: number };
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
  const { server, drain } = ports.createServer(limits, createApp(context, createHttpMetrics(registry)));
  try {
    const port = await listen(server, config.listen);
    return {
      address: { host: config.listen.host, port },
      stop: async (signal) => {
        await drain(signal);
        await context.stop();
      },
    };
  } catch (error) {
    await context.stop();
    throw error;
  }
}

async function listen(server: Server, { host, port }: ApiConfig["listen"]): Promise<number> {
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
