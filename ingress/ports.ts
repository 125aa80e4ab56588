import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { AdmissionGate } from "../domain/limits/admission.ts";
import { noProxies, type TrustedProxies } from "../domain/client-address.ts";
import type { Endpoint } from "../domain/source/deployment.ts";
import type { RunFiles } from "../domain/files/run-files.ts";
import type { BodyAnswer, WholeAnswer } from "../domain/invocation/invocation.ts";
import type { Traces } from "../domain/traces.ts";
import type { AuthenticateEmail, EmailConfig, ParseEmail, StartEmailServer } from "./email/ports.ts";

/** Dependencies of the ingress. main.ts supplies the adapters. */
export interface IngressPorts {
  readonly endpoints: EndpointDirectory;
  readonly invocations: Invocations;
  readonly answers: Answers;
  /** Knows which sources and owners have a full backlog. */
  readonly admission: Pick<AdmissionGate, "isFull" | "admits">;
  /** Epoch ms until which the owner's daily quota is used up; 0: it is not, or not known. */
  readonly overQuota: (owner: string) => number;
  /** A new, unguessable run id, `r_…`. */
  readonly newRunId: () => string;
  /** Called after each response, for metrics; must not throw. */
  readonly onAnswered?: (answered: Answered) => void;
  readonly createServer: (limits: ServerLimits, onRequest: RequestListener) => DrainableServer;
  readonly bodies: RequestBodies;
  readonly files: Files;
  /** Absent: no emails are received. */
  readonly email?: EmailPorts | undefined;
  readonly log: Log;
  /** Absent: tracing is off. */
  readonly traces?: Traces | undefined;
}

export interface EmailPorts {
  readonly config: EmailConfig;
  readonly start: StartEmailServer;
  readonly parse: ParseEmail;
  /** Absent: senders are not checked. */
  readonly authenticate?: AuthenticateEmail | undefined;
  /** Milliseconds of a clock that never goes back, for the limits of rates. */
  readonly now: () => number;
}

export interface ServerLimits {
  /** Maximum time to receive a complete request. */
  readonly requestTimeoutMs: number;
  /** Maximum time without a byte in either direction on a connection that is not idle; longer than a response may take. */
  readonly silenceTimeoutMs: number;
  readonly maxConnections: number;
  readonly trustedProxies: TrustedProxies;
}

export interface DrainableServer {
  readonly server: Server;
  /** Accepts no more connections and finishes requests in progress; when the signal aborts, closes them. */
  readonly drain: (signal: AbortSignal) => Promise<void>;
}

export interface RequestBodies {
  /** Reads a body within a memory bound for all bodies being received. @throws LimitExceeded, Malformed, Unavailable */
  read(request: IncomingMessage, response: ServerResponse, options: { limitBytes: number; holder: string }): Promise<Buffer>;
}

/** Files of runs, and bodies of requests that are stored as files. */
export interface Files extends Pick<RunFiles, "read" | "write"> {
  /** A new, unguessable id of an upload: see `uploadId`. */
  readonly newUploadId: () => string;
}

export interface Log {
  warn(fields: object, message?: string): void;
}

export interface Answered {
  readonly status: number;
  readonly durationMs: number;
}

export interface EndpointDirectory {
  /** The cached endpoint: `null` if it does not exist, `undefined` if it is not cached. */
  peek(key: string): Endpoint | null | undefined;
  /** @throws Unavailable */
  find(key: string): Promise<Endpoint | undefined>;
}

export interface Invocations {
  /** Resolves when the pack is stored durably. @throws Unavailable */
  publish(subject: string, pack: string): Promise<void>;
}

export interface Answers {
  /**
   * Calls back for each reply of the run until `end`; `subject` is the invocation's `answerTo`.
   * @param onPiece replies to a piece of a body whether it was taken; absent: none is
   */
  listen(
    run: string,
    onAnswer: (answer: WholeAnswer) => void,
    onPiece?: (piece: BodyAnswer, reply: (isTaken: boolean) => void) => void,
  ): { readonly subject: string; end(): void };
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
  /** Base of all endpoints as callers know it, without trailing slash. */
  readonly publicUrl: string;
  /** Maximum bytes of a body that is stored as a file. */
  readonly uploadLimitBytes: number;
  /** Maximum bodies that are being stored, and maximum files that are being sent. Each has up to two parts in memory. */
  readonly transfers: number;
  /** How many of them an owner may have, of each kind. */
  readonly transfersOfOwner: number;
  /** Maximum files whose manifest is being looked up, and how many of them a client network may have. */
  readonly lookups: number;
  readonly lookupsOfNetwork: number;
  /** Minimum mean rate of a file that is stored or sent, bytes per second, after `requestTimeoutMs`. */
  readonly minTransferRate: number;
  /** Maximum characters of all invocations being stored; an owner may have half of it. */
  readonly storingChars: number;
  /** Maximum bytes of all custom responses that callers have not read yet. */
  readonly unreadBytes: number;
  /** Maximum time to receive a complete request, milliseconds. Files may take longer: see `Pace`. */
  readonly requestTimeoutMs: number;
  /** How long a caller waits for `respond()`, milliseconds. */
  readonly answerTimeoutMs: number;
  /** How long a caller of a resume or cancel URL waits for the runner, milliseconds. */
  readonly resumeTimeoutMs: number;
}

export const ingressDefaults: IngressConfig = {
  host: "127.0.0.1",
  port: 3001,
  basePath: "",
  trustedProxies: noProxies,
  maxConnections: 4_096,
  bodyLimitBytes: 512 * 1024,
  publicUrl: "http://127.0.0.1:3001",
  uploadLimitBytes: 100 * 2 ** 20,
  transfers: 32,
  transfersOfOwner: 8,
  lookups: 64,
  lookupsOfNetwork: 16,
  minTransferRate: 128 * 1024,
  storingChars: 32 * 1024 * 1024,
  unreadBytes: 32 * 1024 * 1024,
  requestTimeoutMs: 30_000,
  answerTimeoutMs: 30_000,
  resumeTimeoutMs: 10_000,
};
