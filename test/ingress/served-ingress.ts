import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { afterEach } from "vitest";
import { decodePack, type WholeAnswer, type BodyAnswer, type HttpEvent, type Invocation } from "../../domain/invocation/invocation.ts";
import { AdmissionGate, defaultBacklogLimits } from "../../domain/limits/admission.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import { ingressDefaults, type IngressConfig, type IngressPorts } from "../../ingress/ports.ts";
import { startIngress, type Ingress } from "../../ingress/start.ts";
import { createBoundedServer } from "../../platform/http/bounded-server.ts";
import { RequestBodies } from "../../platform/http/request-bodies.ts";
import { memoryRunFiles } from "../support/memory-run-files.ts";

export interface ServedIngress {
  readonly ingress: Ingress;
  readonly port: number;
  readonly stored: Invocation[];
  readonly log: object[];
  /** A reply of a run to the caller that waits for it. */
  answer(run: string, answer: WholeAnswer): void;
  /** Sends a piece of a streamed response. @returns whether it was taken */
  send(run: string, piece: Omit<BodyAnswer, "kind">): Promise<boolean>;
  url(path: string): string;
}

const endpointOf = (name: string): Endpoint => ({
  source: `dc_${name}`,
  pool: "default",
  owner: `u_${name.replace(/\d/, "")}`,
  customResponse: name.startsWith("custom"),
  active: true,
});

/** An ingress whose endpoints are `plain1`, `custom1`, `custom2`, `customer1` and `custommer1`, and whose queue is a list. */
export async function serveIngress(config: Partial<IngressConfig> = {}, ports: Partial<IngressPorts> = {}): Promise<ServedIngress> {
  const endpoints = new Map(["plain1", "custom1", "custom2", "customer1", "custommer1"].map((name) => [name, endpointOf(name)]));
  type Listener = Parameters<IngressPorts["answers"]["listen"]>;
  const listeners = new Map<string, { readonly onAnswer: Listener[1]; readonly onPiece: Listener[2] }>();
  const [stored, log]: [Invocation[], object[]] = [[], []];
  let [runs, uploads] = [0, 0];
  const ingress = await startIngress(
    { ...ingressDefaults, port: 0, ...config },
    {
      endpoints: { peek: (key) => endpoints.get(key) ?? null, find: async (key) => endpoints.get(key) },
      invocations: { publish: async (_subject, pack) => void stored.push(...decodePack(pack)) },
      answers: {
        listen: (run, onAnswer, onPiece) => {
          listeners.set(run, { onAnswer, onPiece });
          return { subject: `answers.${run}`, end: () => listeners.delete(run) };
        },
      },
      admission: new AdmissionGate(defaultBacklogLimits),
      overQuota: () => 0,
      newRunId: () => `r_${runs++}`,
      createServer: createBoundedServer,
      bodies: new RequestBodies(32 * 2 ** 20),
      files: { ...memoryRunFiles(), newUploadId: () => `up_${uploads++}` },
      log: { warn: (fields) => void log.push(fields) },
      ...ports,
    },
  );
  const port = Number(ingress.address.split(":").at(-1));
  return {
    ingress,
    port,
    stored,
    log,
    answer: (run, answer) => listeners.get(run)?.onAnswer(answer),
    send: (run, piece) =>
      new Promise((resolve) => {
        const onPiece = listeners.get(run)?.onPiece;
        if (onPiece === undefined) resolve(false);
        else onPiece({ kind: "body", ...piece }, resolve);
      }),
    url: (path) => `http://${ingress.address}${path}`,
  };
}

/** Starts ingresses as `serveIngress` does, which are stopped after each test. */
export function withIngress(): typeof serveIngress {
  const running: ServedIngress[] = [];
  afterEach(async () => {
    for (const { ingress } of running.splice(0)) await ingress.stop(AbortSignal.timeout(100));
  });
  return async (config, ports) => {
    const served = await serveIngress(config, ports);
    running.push(served);
    return served;
  };
}

export const eventOf = (invocation: Invocation | undefined): HttpEvent => invocation?.event as HttpEvent; // These invocations have one.

export interface RawClient {
  readonly socket: Socket;
  received(): string;
  isClosed(): boolean;
}

/** Sends bytes as they are. */
export async function rawClient(port: number, bytes: string | Buffer = "", from = "127.0.0.1"): Promise<RawClient> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  let [received, closed] = ["", false];
  socket.setEncoding("latin1").on("data", (chunk: string) => (received += chunk));
  socket.on("error", () => undefined).once("close", () => (closed = true));
  await once(socket, "connect");
  if (bytes.length > 0) socket.write(bytes);
  return { socket, received: () => received, isClosed: () => closed };
}
