import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AdmissionGate } from "../domain/admission.ts";
import { noProxies, type TrustedProxies } from "../domain/client-address.ts";
import type { Endpoint } from "../domain/deployment.ts";
import type { Answer } from "../domain/invocation.ts";
import type { Traces } from "../domain/traces.ts";

/** Everything the ingress reaches; main.ts wires adapters to it. */
export interface IngressPorts {
  readonly endpoints: EndpointDirectory;
  readonly invocations: Invocations;
  readonly answers: Answers;
  /** Knows which sources and owners are at the bound of their backlog. */
  readonly admission: Pick<AdmissionGate, "isFull" | "admits">;
  /** Epoch ms until which the owner's quota of the day is used up, as far as it is known; 0: it is not. */
  readonly overQuota: (owner: string) => number;
  /** A new, unguessable run id, `r_…`. */
  readonly newRunId: () => string;
  /** Told of each request when it is answered, for metrics; must not throw. */
  readonly onAnswered?: (answered: Answered) => void;
  readonly createServer: (limits: ServerLimits, onRequest: RequestListener) => DrainableServer;
  readonly bodies: RequestBodies;
  readonly log: Log;
  /** Absent: there are none. */
  readonly traces?: Traces | undefined;
}

export interface ServerLimits {
  /** For a whole request to arrive. */
  readonly requestTimeoutMs: number;
  /** Without a byte on a connection that is not idle, in either direction; longer than an answer may take. */
  readonly silenceTimeoutMs: number;
  readonly maxConnections: number;
  readonly trustedProxies: TrustedProxies;
}

export interface DrainableServer {
  readonly server: Server;
  /** Takes no more connections and finishes what is in flight; cuts off the rest when the signal aborts. */
  readonly drain: (signal: AbortSignal) => Promise<void>;
}

export interface RequestBodies {
  /** Bounds what all bodies hold while they arrive. @throws LimitExceeded, Malformed, Unavailable */
  read(request: IncomingMessage, response: ServerResponse, options: { limitBytes: number; holder: string }): Promise<Buffer>;
}

export interface Log {
  warn(fields: object, message?: string): void;
}

export interface Answered {
  readonly status: number;
  readonly durationMs: number;
}

export interface EndpointDirectory {
  /** What is known without waiting: `null` for an endpoint known not to exist, `undefined` when it must be found. */
  peek(key: string): Endpoint | null | undefined;
  /** @throws Unavailable */
  find(key: string): Promise<Endpoint | undefined>;
}

export interface Invocations {
  /** Resolves when the pack is stored durably. @throws Unavailable */
  publish(subject: string, pack: string): Promise<void>;
}

export interface Answers {
  /** Calls back with each answer for the run until ended; `subject` is the invocation's `answerTo`. */
  listen(run: string, onAnswer: (answer: Answer) => void): { readonly subject: string; end(): void };
}

export interface IngressConfig {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Path before the endpoint's key, `""` or `/hooks`. */
  readonly basePath: string;
  readonly trustedProxies: TrustedProxies;
  readonly maxConnections: number;
  readonly bodyLimitBytes: number;
  /** Characters of all invocations that are being stored; half of it for one owner. */
  readonly storingChars: number;
  /** Bytes of all custom responses that their callers have not read yet. */
  readonly unreadBytes: number;
  /** For a whole request to arrive, milliseconds. */
  readonly requestTimeoutMs: number;
  /** How long a caller waits for `respond()`, milliseconds. */
  readonly answerTimeoutMs: number;
}

export const ingressDefaults: IngressConfig = {
  host: "127.0.0.1",
  port: 3001,
  basePath: "",
  trustedProxies: noProxies,
  maxConnections: 4_096,
  bodyLimitBytes: 512 * 1024,
  storingChars: 32 * 1024 * 1024,
  unreadBytes: 32 * 1024 * 1024,
  requestTimeoutMs: 30_000,
  answerTimeoutMs: 30_000,
};
