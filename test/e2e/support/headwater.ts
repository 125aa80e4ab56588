import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { steadyPort } from "../../support/steady-port.ts";

const controlC = "\u0003";
const root = join(import.meta.dirname, "..", "..", "..");

/** Calls of the REST API with one key. */
export interface Client {
  readonly key: string;
  /** Base of the REST API, with `/v1`. */
  readonly apiUrl: string;
  readonly ingressUrl: string;
  /** One call of the REST API. */
  call<T = unknown>(method: string, path: string, body?: unknown): Promise<Called<T>>;
}

export interface Headwater extends Client {
  readonly pid: number;
  /** Everything printed so far. */
  readonly output: () => string;
  readonly dataDirectory: string;
  /** Ctrl-C; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** kill -9 of the launcher alone. */
  kill(): Promise<void>;
}

export interface Called<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when it is empty or not JSON. */
  readonly body: T;
}

export interface HeadwaterOptions {
  readonly dataDirectory: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Ports to use again, as a restart on the same machine does. */
  readonly ports?: { readonly api: number; readonly ingress: number };
  /** Its standard output is a terminal. */
  readonly isInTerminal?: boolean;
}

/** Starts `npm start` with these settings in a child, without waiting. */
export function launch(
  env: Readonly<Record<string, string>>,
  { isInTerminal = false }: Pick<HeadwaterOptions, "isInTerminal"> = {},
): { readonly child: ChildProcess; readonly output: () => string } {
  const command = [process.execPath, join(root, "scripts/launch.mjs"), "main.ts"];
  // script(1) runs a command in a terminal of its own, and returns its exit code.
  const inTerminal = ["script", "-qefc", command.map((part) => `'${part}'`).join(" "), "/dev/null"];
  const [program = "", ...args] = isInTerminal ? inTerminal : command;
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: [isInTerminal ? "pipe" : "ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return { child, output: () => output };
}

/** Starts `npm start` in a child and waits until it prints that it is ready. */
export async function startHeadwater({ dataDirectory, env = {}, ports, isInTerminal = false }: HeadwaterOptions): Promise<Headwater> {
  const api = ports?.api ?? (await steadyPort());
  const ingress = ports?.ingress ?? (await steadyPort());
  const settings = {
    HEADWATER_DATA: dataDirectory,
    HEADWATER_LISTEN: `127.0.0.1:${api}`,
    HEADWATER_INGRESS_LISTEN: `127.0.0.1:${ingress}`,
    HEADWATER_EGRESS_ALLOW: "127.0.0.0/8",
    HEADWATER_LOG_LEVEL: "warn",
    ...env,
  };
  const { child, output } = launch(settings, { isInTerminal });
  await until(() => output().includes("curl ") || child.exitCode !== null, "Headwater prints its first lines", output);
  if (child.exitCode !== null) throw new Error(`Headwater did not start (exit code ${child.exitCode}):\n${output()}`);
  const key = (await readFile(join(dataDirectory, "api-key"), "utf8")).trim();
  const scheme = env["HEADWATER_SERVER_CERTIFICATE"] === undefined ? "http" : "https";
  const apiUrl = `${scheme}://127.0.0.1:${api}/v1`;
  return {
    ...clientOf(apiUrl, `${scheme}://127.0.0.1:${ingress}`, key),
    pid: child.pid ?? 0,
    output,
    dataDirectory,
    stop: async () => {
      if (isInTerminal) child.stdin?.write(controlC);
      else child.kill("SIGINT");
      return exitOf(child);
    },
    kill: async () => {
      child.kill("SIGKILL");
      await exitOf(child);
    },
  };
}

export const clientOf = (apiUrl: string, ingressUrl: string, key: string): Client => ({
  apiUrl,
  ingressUrl,
  key,
  call: (method, path, body) => call(apiUrl, key, method, path, body),
});

async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}

export async function call<T>(apiUrl: string, key: string, method: string, path: string, body?: unknown): Promise<Called<T>> {
  const headers = {
    authorization: `Bearer ${key}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const response = await fetch(`${apiUrl}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  return { status: response.status, headers: response.headers, text, body: parsed as T }; // The caller names the expected type, and asserts the content.
}

export interface Receiver {
  readonly url: string;
  readonly received: {
    readonly body: string;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  }[];
  close(): Promise<void>;
}

/** Starts a webhook endpoint. */
export async function startReceiver(status: () => number = () => 200): Promise<Receiver> {
  const received: Receiver["received"] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ body: Buffer.concat(chunks).toString(), headers: request.headers });
      response.writeHead(status()).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`, // Listening on TCP.
    received,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const [firstPauseMs, maxPauseMs, maxWaitMs] = [10, 200, 240_000];

/** Waits for a condition, less long than a test may take. Its pauses grow: asking the API each time uses CPU time of the system. */
export async function until(condition: () => boolean | Promise<boolean>, what: string, more: () => string = () => ""): Promise<void> {
  const deadline = performance.now() + maxWaitMs;
  for (let pauseMs = firstPauseMs; !(await condition()); pauseMs = Math.min(pauseMs * 1.5, maxPauseMs)) {
    if (performance.now() > deadline) throw new Error(`not within ${maxWaitMs} ms: ${what}\n${more()}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
