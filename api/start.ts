import { once } from "node:events";
import type { Server } from "node:http";
import type { Registry } from "prom-client";
import { Unavailable } from "../domain/errors.ts";
import { createApp } from "./app.ts";
import type { ApiConfig } from "./config.ts";
import { createHttpMetrics } from "./http/metrics.ts";
import type { ApiPorts } from "./ports.ts";
import { startContext } from "./routes/context.ts";

export interface StartedApi {
  readonly address: { readonly host: string; readonly port: number };
  /** Takes no more requests and lets those under way end; when the signal aborts, breaks them off. */
  stop(signal: AbortSignal): Promise<void>;
}

const requestTimeoutMs = 60_000;
/** Beside what is waited for on purpose: an answer takes a moment to be made. */
const answerMs = 30_000;

/** Starts the role: the watches first, so that whoever waits for a resource hears of it. @throws Unavailable when the address is taken */
export async function startApi(config: ApiConfig, ports: ApiPorts, registry?: Registry): Promise<StartedApi> {
  const context = await startContext(config, ports);
  const longestWaitMs = Math.max(config.deployTimeoutMs, config.deletionTimeoutMs, config.runTimeoutMs);
  const limits = { ...config, requestTimeoutMs, silenceTimeoutMs: requestTimeoutMs + longestWaitMs + answerMs };
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
