import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { NoRespondersError, RequestError, type Msg } from "@nats-io/transport-node";
import { z } from "zod";
import { receivedCode, type ErrorCode } from "../../../domain/error-codes.ts";
import {
  Conflict,
  Forbidden,
  HeadwaterError,
  Invariant,
  InvalidInput,
  LimitExceeded,
  NotFound,
  QuotaExceeded,
  Unavailable,
  UserCode,
} from "../../../domain/errors.ts";
import type { Stoppable } from "../connection/link.ts";
import type { Nats } from "../connection/link.ts";

/**
 * Request and reply between roles, over core NATS: nothing is stored, and a caller waits for the reply or an error.
 *
 * Bodies are JSON. Errors travel with status, code, message and details, and the caller's side throws them as the class they were.
 */
export interface Service {
  /** The queue group of the processes that serve: each request goes to one of them. Absent: one process serves at a time. */
  readonly queue?: string;
  readonly timeoutMs: number;
  /** Bodies are compressed: code of 1 MiB and a lockfile fit into NATS's default message of 1 MiB. */
  readonly isCompressed?: boolean;
  /** `stop` waits until all requests in progress have their replies. Absent: their callers get no reply, and try again. */
  readonly finishesOnStop?: boolean;
  /** The error for a request without a reply, by its reason. */
  readonly noReply: Readonly<Record<NoReply, NoReplyError>>;
}

/** No process serves; none has replied in time; NATS cannot be reached. */
export type NoReply = "absent" | "late" | "unreachable";

export interface NoReplyError {
  readonly message: string;
  /** Absent: `unavailable`. */
  readonly code?: ErrorCode;
  /** Absent: 503. */
  readonly status?: number;
}

/** @returns the reply's body. @throws the error to reply with */
export type Handler = (body: unknown, subject: string) => Promise<unknown>;

const failure = z.object({ status: z.number(), code: z.string(), message: z.string(), details: z.unknown().optional() });
const reply = z.union([z.object({ error: failure }), z.object({ body: z.unknown().optional() })]);
type Reply = z.infer<typeof reply>;

const maxUncompressedBytes = 32 * 2 ** 20;

/**
 * Serves requests on a subject, which may hold wildcards, until stopped.
 * @param isServing while it returns false, requests get no reply from this process
 */
export async function serve(
  nats: Nats,
  subject: string,
  service: Service,
  handle: Handler,
  isServing: () => boolean = () => true,
): Promise<Stoppable> {
  const running = new Set<Promise<void>>();
  const subscription = nats.subscribe(subject, {
    ...(service.queue === undefined ? {} : { queue: service.queue }),
    callback: (error, message) => {
      if (error !== null || !isServing()) return; // With an error, the subscription has ended.
      const replied = respond(message, service, handle).finally(() => running.delete(replied)); // Never rejects.
      running.add(replied);
    },
  });
  // NATS knows the subscription before this resolves, so the first request finds it.
  await nats.flush().catch((error: unknown) => {
    subscription.unsubscribe(); // It would return with the connection.
    throw error;
  });
  return {
    stop: async () => {
      await subscription.drain().catch(() => undefined);
      if (service.finishesOnStop === true) await Promise.all(running);
      await nats.flush().catch(() => undefined);
    },
  };
}

/** @returns the reply's body. @throws what the handler threw; `noReply`; LimitExceeded when the body is larger than NATS takes */
export async function request(nats: Nats, subject: string, service: Service, body: unknown): Promise<unknown> {
  const payload = await encode(service, body);
  const limit = nats.info?.max_payload;
  if (limit !== undefined && payload.byteLength > limit)
    throw new LimitExceeded(`the request is ${payload.byteLength} bytes, NATS takes ${limit}: raise its max_payload`);
  const message = await nats.request(subject, payload, { timeout: service.timeoutMs }).catch((cause: unknown) => {
    throw noReplyError(service, cause);
  });
  const replied = reply.parse(await decode(service, message.data));
  if ("error" in replied) throw toError(replied.error);
  return replied.body;
}

async function respond(message: Msg, service: Service, handle: Handler): Promise<void> {
  const replied = await handle(await decode(service, message.data).catch(() => undefined), message.subject).then(
    (body): Reply => ({ body }),
    failed,
  );
  try {
    message.respond(await encode(service, replied));
  } catch (cause) {
    const tooLarge = new LimitExceeded("the reply is larger than NATS's max_payload: raise it", { cause });
    try {
      message.respond(await encode(service, failed(tooLarge)));
    } catch {
      // The connection is closed: the caller's timeout ends its wait.
    }
  }
}

function failed(error: unknown): Reply {
  const { status, code, message, details } =
    error instanceof HeadwaterError ? error : new Invariant("the request failed unexpectedly", { cause: error });
  return { error: { status, code, message, details } };
}

function noReplyError({ noReply }: Service, cause: unknown): HeadwaterError {
  const { message, code, status } = noReply[reasonOf(cause)];
  if (status !== undefined && code !== undefined) return new HeadwaterError(status, code, message, { cause });
  return new Unavailable(message, { cause, ...(code === undefined ? {} : { code }) });
}

function reasonOf(cause: unknown): NoReply {
  if (cause instanceof NoRespondersError || (cause instanceof RequestError && cause.isNoResponders())) return "absent";
  return cause instanceof Error && cause.name === "TimeoutError" ? "late" : "unreachable";
}

const classes = {
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  413: LimitExceeded,
  429: QuotaExceeded,
  500: Invariant,
  503: Unavailable,
} as const;

function toError({ status, code: received, message, details }: z.infer<typeof failure>): HeadwaterError {
  const code = receivedCode(received);
  const options = { code, details };
  if (status === 422) return code === "user_code" ? new UserCode(message, options) : new InvalidInput(message, options);
  const Class = classes[status as keyof typeof classes] as (typeof classes)[keyof typeof classes] | undefined;
  return Class === undefined ? new HeadwaterError(status, code, message, options) : new Class(message, options);
}

async function encode({ isCompressed }: Service, value: unknown): Promise<Uint8Array> {
  const text = JSON.stringify(value);
  return isCompressed === true ? promisify(gzip)(text, { level: 3 }) : Buffer.from(text);
}

async function decode({ isCompressed }: Service, data: Uint8Array): Promise<unknown> {
  const text = isCompressed === true ? await promisify(gunzip)(data, { maxOutputLength: maxUncompressedBytes }) : Buffer.from(data);
  return JSON.parse(text.toString()) as unknown;
}
