import type { IncomingMessage, ServerResponse } from "node:http";
import type { Budget, BudgetEntry } from "../domain/limits/budget.ts";
import { networkOf, type Client } from "../domain/client-address.ts";
import type { Endpoint } from "../domain/source/deployment.ts";
import type { Invocation } from "../domain/invocation/invocation.ts";
import { partitionOf } from "../domain/invocation/partition.ts";
import type { TraceContext } from "../domain/traces.ts";
import type { ResumeRequest } from "../domain/workflow/resume-request.ts";
import { awaitAnswer, ownerOf, type ReplyAddress } from "./await-answer.ts";
import { backlogFull, overloaded, PublicError, quotaUsedUp, requestTimedOut, rethrowOfBody } from "./errors.ts";
import { requestedFile } from "./files/file-urls.ts";
import { sendFile } from "./files/send-file.ts";
import { asksForUpload, storeBody, uploadHint } from "./files/store-body.ts";
import { httpEvent, originForm, parseTarget, type Target } from "./http-event.ts";
import type { Pace } from "./pace.ts";
import type { Packs } from "./packs.ts";
import type { IngressConfig, IngressPorts } from "./ports.ts";
import { replyAccepted, replyPreflight, replyResponse } from "./reply.ts";
import { replyStream } from "./reply-stream.ts";
import { breakOff } from "./written.ts";
import { awaitResumed, requestedResume } from "./resume.ts";

export interface Receiving {
  readonly config: IngressConfig;
  readonly ports: IngressPorts;
  readonly packs: Packs;
  readonly clientOf: (request: IncomingMessage) => Client;
  /** Characters of invocations being stored, by owner. */
  readonly storing: Budget;
  /** Requests waiting for `respond()`, by owner. */
  readonly waiting: Budget;
  /** Bytes of custom responses that are not read yet, by the client's network. */
  readonly unread: Budget;
  /** Bodies that are being stored as files, by owner. */
  readonly uploads: Budget;
  /** Manifests of files that are being looked up, by the client's network. */
  readonly lookups: Budget;
  /** Files that are being sent, by owner. */
  readonly downloads: Budget;
}

/** What belongs to one request. */
export interface Arriving {
  /** Parent of the run. */
  readonly trace: TraceContext;
  /** Ends it if it is too slow. */
  readonly pace: Pace;
}

/**
 * Handles one request: finds the endpoint, reads the body, stores the invocation, responds. A request to a resume URL of a workflow
 * continues a suspended run, and one to the URL of a file reads it; any other request starts a run.
 *
 * @throws PublicError, and what its ports throw
 */
export async function receive(request: IncomingMessage, response: ServerResponse, receiving: Receiving, arriving: Arriving): Promise<void> {
  // A proxy may have read another of several Host headers (RFC 9112, section 3.2).
  if (hasSeveralHosts(request.rawHeaders))
    throw new PublicError(400, "malformed", "the request has several Host headers: it must have one");
  if (request.method === "OPTIONS") {
    request.resume();
    return replyPreflight(response, request.headers["access-control-request-headers"]);
  }
  const { target, endpoint } = await find(request, receiving);
  const file = requestedFile(target, endpoint, Date.now());
  if (file !== undefined) return sendFile(request, response, file, receiving);
  const resume = requestedResume(target, endpoint, Date.now());
  if (resume === undefined && !startsRuns(endpoint)) throw notFound();
  // HEAD only checks a resume URL: programs that preview links send it.
  if (resume !== undefined && request.method === "HEAD") return replyAccepted(response);
  const isAwaited = resume === undefined && endpoint.customResponse;
  const isStored = resume === undefined && asksForUpload(request.headers, target);
  // Both are of no use to a run hours later: the response, and the file, which is deleted by then.
  if (isAwaited || isStored) checkQuota(endpoint, receiving);
  checkBacklog(endpoint, receiving);
  const client = receiving.clientOf(request);
  const stored = { request, response, target, endpoint, client, ...arriving, isStored };
  if (resume !== undefined) {
    const outcome = await awaitResumed(endpoint, receiving, (answerTo) =>
      storeRequest({ ...stored, resume: () => ({ ...resume, answerTo: answerTo() }), replyAddress: undefined }, receiving),
    );
    return replyAccepted(response, outcome === "done" ? 200 : 202);
  }
  const store = (replyAddress?: () => ReplyAddress): Promise<void> =>
    storeRequest({ ...stored, resume: undefined, replyAddress }, receiving);
  if (isAwaited) {
    return awaitAnswer(response, endpoint, receiving, store, (given, body) => {
      const held = openUnread(response, client, receiving);
      if (body === undefined) replyResponse(response, given, (bytes) => hold(held, bytes));
      else return replyStream(response, given, body, held, receiving.config);
    });
  }
  await store();
  replyAccepted(response);
}

/** `rawHeaders` alternates names and values. Node's `headersDistinct` would copy all of them. */
function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.length === 4 && /^host$/i.test(rawHeaders[at] ?? "")) hosts++;
  return hosts > 1;
}

async function find(
  request: IncomingMessage,
  { config, ports }: Receiving,
): Promise<{ readonly target: Target; readonly endpoint: Endpoint }> {
  const target = parseTarget(originForm(request.url ?? "/"), config.basePath);
  const known = target === undefined ? null : ports.endpoints.peek(target.key);
  const endpoint = known === undefined && target !== undefined ? await ports.endpoints.find(target.key) : known;
  if (target !== undefined && endpoint != null) return { target, endpoint };
  throw notFound();
}

const notFound = (): PublicError => new PublicError(404, "endpoint_not_found", "there is no active endpoint at this address");

/** Of a workflow, only if it has an HTTP trigger. */
const startsRuns = ({ active, workflow }: Endpoint): boolean => active && workflow?.hasHttpTrigger !== false;

/** Refuses requests that cannot wait for tomorrow's quota. Others are stored up to the backlog's limit. */
function checkQuota(endpoint: Endpoint, { ports }: Receiving): void {
  const leftMs = ports.overQuota(ownerOf(endpoint)) - Date.now();
  if (leftMs > 0) throw quotaUsedUp(leftMs);
}

/** @param bytes to count if the request is admitted; absent: only check, before the body is read */
function checkBacklog(endpoint: Endpoint, { ports }: Receiving, bytes?: number): void {
  const { pool, source } = endpoint;
  const [admission, now] = [{ pool, source, owner: ownerOf(endpoint) }, performance.now()];
  if (bytes === undefined ? !ports.admission.isFull(admission, now) : ports.admission.admits(admission, bytes, now)) return;
  const leftMs = ports.overQuota(admission.owner) - Date.now();
  throw leftMs > 0 ? quotaUsedUp(leftMs) : backlogFull();
}

interface Stored {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: Target;
  readonly endpoint: Endpoint;
  readonly client: Client;
  readonly trace: TraceContext;
  readonly pace: Pace;
  /** Its body becomes a file. */
  readonly isStored: boolean;
  /** Called after reading the request. Absent: the request starts a run. */
  readonly resume: (() => ResumeRequest) | undefined;
  /** Absent: the caller does not wait for the run. */
  readonly replyAddress: (() => ReplyAddress) | undefined;
}

/** Reads and stores the request. During the store it retains only the text, neither the body nor the event. */
async function storeRequest(stored: Stored, receiving: Receiving): Promise<void> {
  const { pool, source } = stored.endpoint;
  const text = await readInvocation(stored, receiving);
  // The answer 408 may wait for others on its connection while the rest of the body arrives: the caller will send the request again.
  if (stored.response.headersSent) throw requestTimedOut();
  checkBacklog(stored.endpoint, receiving, text.length);
  const held = receiving.storing.open(ownerOf(stored.endpoint));
  if (!held.take(text.length)) throw overloaded("too many requests are being stored");
  try {
    await receiving.packs.add(pool, partitionOf(source), source, text);
  } finally {
    held.release();
  }
}

/** @returns JSON text of the invocation */
async function readInvocation(stored: Stored, receiving: Receiving): Promise<string> {
  const { request, target, endpoint, client, trace, resume, replyAddress } = stored;
  const body = await readBody(stored, receiving);
  const event = await httpEvent(request, target, body, client);
  const cause: Pick<Invocation, "trigger" | "resume"> =
    resume === undefined ? { trigger: "http" } : { trigger: "resume", resume: resume() };
  const invocation: Invocation = { source: endpoint.source, ...cause, at: Date.now(), event, ...trace, ...replyAddress?.() };
  return JSON.stringify(invocation);
}

async function readBody(stored: Stored, receiving: Receiving): Promise<Buffer | object> {
  const { request, response, target, endpoint, client, pace, isStored, resume } = stored;
  if (isStored) return storeBody(request, response, target, endpoint, pace, receiving);
  const { bodyLimitBytes: limitBytes, uploadLimitBytes } = receiving.config;
  const advice = resume === undefined ? `: send it with ${uploadHint}, which allows ${uploadLimitBytes} bytes` : "";
  const body = receiving.ports.bodies.read(request, response, { limitBytes, holder: networkOf(client.address) });
  return await body.catch((error: unknown) => rethrowOfBody(error, advice));
}

/** Bounds the memory of responses that callers do not read. */
function openUnread(response: ServerResponse, { address }: Client, { unread }: Receiving): BudgetEntry {
  const held = unread.open(networkOf(address), () => {
    breakOff(response);
    return true;
  });
  response.once("close", () => held.release());
  return held;
}

function hold(held: BudgetEntry, bytes: number): void {
  if (!held.take(bytes)) throw overloaded("too many responses are not read");
}
