import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { NoRespondersError, RequestError } from "@nats-io/transport-node";
import { z } from "zod";
import type { ConfiguredOptions, ConfiguredProps } from "../../domain/configure.ts";
import { parseConfigured } from "../../domain/configured.ts";
import {
  HeadwaterError,
  Invariant,
  LimitExceeded,
  NotFound,
  QuotaExceeded,
  Unavailable,
  UserCode,
  InvalidInput,
} from "../../domain/errors.ts";
import { configureSubject } from "../../domain/subjects.ts";
import type { Connection } from "./connection.ts";
import type { Reading } from "./consumer.ts";

const call = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("options"),
    prop: z.string(),
    page: z.int().min(0),
    prevContext: z.json().exactOptional(),
    query: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal("props") }),
]);
const request = z.object({
  namespace: z.string(),
  component: z.string(),
  source: z.string().exactOptional(),
  props: z.record(z.string(), z.json()).exactOptional(),
  call,
});
type ConfigureRequest = z.infer<typeof request>;
type Answered = ConfiguredOptions | ConfiguredProps;

const failure = z.object({ status: z.number(), code: z.string(), message: z.string(), details: z.unknown().optional() });
const answer = z.union([z.object({ configured: z.unknown() }), z.object({ error: failure })]);

const queueGroup = "configurators";
/** Longer than an answer may take, so that the operator's own word on the time limit arrives. */
const timeoutMs = 25_000;

/** Answers what the API asks; any number of operators may do so, each request goes to one. */
export async function serveConfigureRequests(
  { nats }: Pick<Connection, "nats">,
  configure: (request: ConfigureRequest) => Promise<Answered>,
): Promise<Reading> {
  const subscription = nats.subscribe(configureSubject, {
    queue: queueGroup,
    callback: (error, message) => {
      if (error === null) void reply(message, configure); // Never rejects.
    },
  });
  // The server knows of it before this resolves, so the first request finds somebody.
  await nats.flush();
  return {
    stop: async () => {
      await subscription.drain().catch(() => undefined);
    },
  };
}

async function reply(message: Msg, configure: (request: ConfigureRequest) => Promise<Answered>): Promise<void> {
  try {
    message.respond(JSON.stringify({ configured: await configure(request.parse(message.json())) }));
  } catch (error) {
    const known = error instanceof HeadwaterError ? error : new Invariant("the call failed unexpectedly", { cause: error });
    const { status, code, details } = known;
    try {
      message.respond(JSON.stringify({ error: { status, code, message: known.message, details } }));
    } catch {
      // The connection is gone: the asker's deadline ends its wait.
    }
  }
}

/** Asks an operator; the form of what is asked is checked where it is answered. @throws what it threw; Unavailable when none answers */
export async function requestConfigure(nats: NatsConnection, asked: object): Promise<Answered> {
  const message = await nats.request(configureSubject, JSON.stringify(asked), { timeout: timeoutMs }).catch((error: unknown) => {
    throw explain(error);
  });
  const answered = answer.parse(message.json());
  if ("error" in answered) throw revive(answered.error);
  const configured = parseConfigured(answered.configured);
  if (configured.outcome === "failed") throw new Invariant("a failed call is told as an error");
  return configured;
}

function explain(cause: unknown): HeadwaterError {
  if (cause instanceof NoRespondersError || (cause instanceof RequestError && cause.isNoResponders()))
    return new Unavailable("no operator is running: components cannot be configured now, try again", { code: "no_operator", cause });
  if (cause instanceof Error && cause.name === "TimeoutError")
    return new HeadwaterError(504, "configure_timeout", "the operator did not answer in time: try again", { cause });
  return new Unavailable("the operator cannot be reached: try again", { code: "operator_unreachable", cause });
}

const kinds = { 404: NotFound, 413: LimitExceeded, 429: QuotaExceeded, 503: Unavailable } as const;

function revive({ status, code, message, details }: z.infer<typeof failure>): HeadwaterError {
  const options = { code, details };
  if (status === 422) return code === "user_code" ? new UserCode(message, options) : new InvalidInput(message, options);
  if (status === 404 || status === 413 || status === 429 || status === 503) return new kinds[status](message, options);
  return status === 504 ? new HeadwaterError(504, code, message, options) : new Invariant(message, options);
}
