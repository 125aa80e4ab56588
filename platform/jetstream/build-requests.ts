import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { NoRespondersError, RequestError, TimeoutError, type Msg, type NatsConnection } from "@nats-io/transport-node";
import { z } from "zod";
import type { BuilderCalls } from "../../builder/ports.ts";
import type { ComponentCode } from "../../domain/component-code.ts";
import type { Build } from "../../domain/definition.ts";
import { Forbidden, HeadwaterError, Invariant, InvalidInput, LimitExceeded, Unavailable } from "../../domain/errors.ts";
import { buildSubject } from "../../domain/subjects.ts";

const componentCode = z.object({
  code: z.string(),
  entry: z.string().optional(),
  files: z.record(z.string(), z.string()).optional(),
});
/** What is asked of a builder, read at this edge: to build, or to fetch what is to be built. */
const builderRequest = z.union([
  componentCode.extend({ language: z.enum(["js", "ts", "auto"]).optional(), lockfile: z.string().nullish(), owner: z.string().optional() }),
  z.object({ collect: z.string(), owner: z.string().optional() }),
  /** Whether there is a builder. */
  z.object({ ping: z.literal(true) }),
]);

export interface BuildRequest extends ComponentCode {
  readonly language?: "js" | "ts" | "auto";
  readonly lockfile?: string | null;
  /** For whom: the builder has owners take turns. */
  readonly owner?: string;
}

const answer = z.union([
  z.object({ build: z.custom<Build>((value) => typeof value === "object" && value !== null && "bundle" in value) }),
  z.object({ component: componentCode }),
  z.object({ pong: z.literal(true) }),
  z.object({
    error: z.object({ status: z.number(), code: z.string(), message: z.string(), details: z.unknown().optional() }),
  }),
]);
type Answer = z.infer<typeof answer>;

const queueGroup = "builders";
/** Longer than a build may take, so that the builder's own word on the time limit arrives. */
const timeoutMs = 75_000;

/** The port `BuildRequests` over request and reply: each request goes to one of the builders of the queue group. */
export function createBuildRequests(nats: NatsConnection) {
  return {
    /** Answers with what a call returns or throws. `stop` takes no more requests and waits for those under way. */
    async serve(calls: BuilderCalls): Promise<{ stop(): Promise<void> }> {
      const running = new Set<Promise<void>>();
      const subscription = nats.subscribe(buildSubject, {
        queue: queueGroup,
        callback: (error, message) => {
          // An error here is the subscription's own end, which `closed` tells.
          if (error) return;
          const replied = reply(message, calls).finally(() => running.delete(replied));
          running.add(replied);
        },
      });
      // The server knows of the subscription before this resolves, so the first request finds it.
      await nats.flush();
      return {
        async stop() {
          if (!subscription.isClosed()) await subscription.drain();
          await Promise.allSettled(running);
          await nats.flush();
        },
      };
    },
  };
}

async function reply(message: Msg, calls: BuilderCalls): Promise<void> {
  const answered = await answerTo(message, calls);
  try {
    message.respond(await pack(answered));
  } catch (error) {
    // Larger than the server takes, or the connection is gone; a short answer tells the first and fails at the second.
    message.respond(await pack(errorAnswer(new LimitExceeded("the build's answer is larger than a message may be", { cause: error }))));
  }
}

async function answerTo(message: Msg, calls: BuilderCalls): Promise<Answer> {
  try {
    const request = builderRequest.parse(await unpack(message.data));
    if ("ping" in request) return { pong: true };
    if ("collect" in request) return { component: await calls.collect(request.collect, request.owner) };
    const { code, entry, files, language, lockfile, owner } = request;
    return {
      build: await calls.build({
        code,
        ...(entry === undefined ? {} : { entry }),
        ...(files === undefined ? {} : { files }),
        ...(language ? { language } : {}),
        ...(lockfile ? { lockfile } : {}),
        ...(owner === undefined ? {} : { owner }),
      }),
    };
  } catch (error) {
    return errorAnswer(error);
  }
}

function errorAnswer(error: unknown): Answer {
  const known =
    error instanceof HeadwaterError ? error : new Invariant(`the build failed: ${error instanceof Error ? error.message : String(error)}`);
  return { error: { status: known.status, code: known.code, message: known.message, details: known.details } };
}

interface AskOptions {
  readonly timeoutMs?: number;
}

/**
 * Asks a builder to build.
 * @throws what the builder threw (InvalidInput, LimitExceeded, Unavailable); Unavailable when none answers.
 */
export async function requestBuild(nats: NatsConnection, request: BuildRequest, options: AskOptions = {}): Promise<Build> {
  const { code, entry, files, language, lockfile, owner } = request;
  const answered = await ask(nats, { code, entry, files, language, lockfile, owner }, options);
  if (!("build" in answered)) throw new Invariant("a builder that was asked for a build answered with something else");
  return answered.build;
}

/**
 * Asks a builder for the component at an address.
 * @throws what the builder threw (InvalidInput, Forbidden, LimitExceeded, Unavailable); Unavailable when none answers.
 */
export async function requestComponent(
  nats: NatsConnection,
  url: string,
  options: AskOptions & { owner?: string | undefined } = {},
): Promise<ComponentCode> {
  const answered = await ask(nats, { collect: url, owner: options.owner }, options);
  if (!("component" in answered)) throw new Invariant("a builder that was asked for a component answered with something else");
  return answered.component;
}

const pingTimeoutMs = 1_500;

/** @throws Unavailable when no builder answers */
export async function pingBuilder(nats: NatsConnection): Promise<void> {
  await ask(nats, { ping: true }, { timeoutMs: pingTimeoutMs });
}

async function ask(nats: NatsConnection, request: unknown, options: AskOptions): Promise<Exclude<Answer, { error: unknown }>> {
  const payload = await pack(request);
  const limit = nats.info?.max_payload;
  if (limit !== undefined && payload.byteLength > limit) {
    throw new LimitExceeded(`the code is ${payload.byteLength} bytes compressed, the NATS server takes ${limit}: raise its max_payload`);
  }
  const message = await nats.request(buildSubject, payload, { timeout: options.timeoutMs ?? timeoutMs }).catch((error: unknown) => {
    throw explain(error);
  });
  const answered = answer.parse(await unpack(message.data));
  if ("error" in answered) throw revive(answered.error);
  return answered;
}

function explain(error: unknown): Error {
  if (error instanceof NoRespondersError || (error instanceof RequestError && error.isNoResponders())) {
    return new Unavailable("no builder is running: components cannot be built now, try again", {
      code: "no_builder",
      cause: error,
    });
  }
  if (error instanceof TimeoutError || (error instanceof Error && error.name === "TimeoutError")) {
    return new Unavailable("the builder did not answer in time: try again", { code: "builder_timeout", cause: error });
  }
  return new Unavailable("the builder cannot be reached: try again", { code: "builder_unreachable", cause: error });
}

function revive({ status, code, message, details }: Extract<Answer, { error: unknown }>["error"]): HeadwaterError {
  const options = { code, details };
  switch (status) {
    case 422:
      return new InvalidInput(message, options);
    case 403:
      return new Forbidden(message, options);
    case 413:
      return new LimitExceeded(message, options);
    case 503:
      return new Unavailable(message, options);
    default:
      return new Invariant(message, options);
  }
}

const maxBytes = 32 * 2 ** 20;

/** JSON, compressed: code of 1 MiB and a lockfile of some hundred KiB fit into NATS's default message of 1 MiB. */
const pack = async (value: unknown): Promise<Uint8Array> => promisify(gzip)(JSON.stringify(value), { level: 3 });
const unpack = async (data: Uint8Array): Promise<unknown> =>
  JSON.parse((await promisify(gunzip)(data, { maxOutputLength: maxBytes })).toString()) as unknown;
