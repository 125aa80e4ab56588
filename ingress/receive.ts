import type { IncomingMessage, ServerResponse } from "node:http";
import { QuotaUsedUp } from "../domain/errors.ts";
import type { Budget } from "../domain/budget.ts";
import { networkOf, type Client } from "../domain/client-address.ts";
import type { Endpoint } from "../domain/deployment.ts";
import type { Invocation } from "../domain/invocation.ts";
import { partitionOf } from "../domain/partition.ts";
import type { TraceContext } from "../domain/traces.ts";
import type { BacklogGate } from "./backlog-gate.ts";
import { awaitAnswer, type ReplyAddress } from "./await-answer.ts";
import { backlogFull, overloaded, PublicError, rethrowOfBody } from "./errors.ts";
import { httpEvent, originForm, parseTarget, type Target } from "./http-event.ts";
import type { Packs } from "./packs.ts";
import type { IngressConfig, IngressPorts } from "./ports.ts";
import type { QuotaGate } from "./quota-gate.ts";
import { replyAccepted, replyPreflight, replyResponse } from "./reply.ts";

export interface Receiving {
  readonly config: IngressConfig;
  readonly ports: IngressPorts;
  readonly packs: Packs;
  readonly gate: BacklogGate;
  readonly quotas: QuotaGate;
  readonly clientOf: (request: IncomingMessage) => Client;
  /** Characters of invocations that are being stored, by owner. */
  readonly storing: Budget;
  /** Requests that wait for `respond()`, by owner. */
  readonly waiting: Budget;
  /** Bytes of custom responses that were not read yet, by the client's network. */
  readonly unread: Budget;
}

/**
 * One request: find the endpoint, take the body, store the invocation, answer.
 *
 * @param trace what the run follows from
 * @throws PublicError, and what its ports throw
 */
export async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  receiving: Receiving,
  trace: TraceContext,
): Promise<void> {
  // Of several, a proxy in front may have read another one than we do (RFC 9112, section 3.2).
  if (hasSeveralHosts(request.rawHeaders))
    throw new PublicError(400, "malformed", "the request has several Host headers: it must have one");
  if (request.method === "OPTIONS") {
    request.resume();
    return replyPreflight(response, request.headers["access-control-request-headers"]);
  }
  const { target, endpoint } = await find(request, receiving);
  admit(endpoint, receiving);
  const client = receiving.clientOf(request);
  const store = (replyAddress?: () => ReplyAddress): Promise<void> =>
    storeRequest({ request, response, target, endpoint, client, trace, replyAddress }, receiving);
  if (endpoint.customResponse) {
    const given = await awaitAnswer(response, endpoint.owner ?? endpoint.source, receiving, store);
    if (given !== undefined) replyResponse(response, given, (bytes) => holdUnread(response, client, bytes, receiving));
    return;
  }
  await store();
  replyAccepted(response);
}

/** Names and values in turn. Node's `headersDistinct` would copy all of them for this. */
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
  if (target !== undefined && endpoint?.active === true) return { target, endpoint };
  throw new PublicError(404, "endpoint_not_found", "there is no active endpoint at this address");
}

function admit(endpoint: Endpoint, { gate, quotas }: Receiving): void {
  const leftMs = quotas.refuses(endpoint, Date.now());
  if (leftMs > 0) {
    const { status, code, retryAfterSeconds } = new QuotaUsedUp("", leftMs);
    throw new PublicError(status, code, "this endpoint takes no more requests today: send it again as Retry-After says", {
      retryAfterSeconds,
    });
  }
  if (!gate.admits(endpoint.pool, partitionOf(endpoint.source))) throw backlogFull();
}

interface Stored {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: Target;
  readonly endpoint: Endpoint;
  readonly client: Client;
  readonly trace: TraceContext;
  /** Absent: nobody waits for an answer. */
  readonly replyAddress: (() => ReplyAddress) | undefined;
}

/** Reads and stores the request. While it is stored, its text is kept and neither its body nor its event. */
async function storeRequest(stored: Stored, receiving: Receiving): Promise<void> {
  const { pool, source, owner = source } = stored.endpoint;
  const text = await readInvocation(stored, receiving);
  const place = receiving.storing.open(owner);
  if (!place.take(text.length)) throw overloaded("too many requests are being stored");
  try {
    await receiving.packs.add(pool, partitionOf(source), source, text);
  } finally {
    place.release();
  }
}

/** @returns JSON text of the invocation */
async function readInvocation(
  { request, response, target, endpoint, client, trace, replyAddress }: Stored,
  { config, ports }: Receiving,
): Promise<string> {
  const options = { limitBytes: config.bodyLimitBytes, holder: networkOf(client.address) };
  const body = await ports.bodies.read(request, response, options).catch(rethrowOfBody);
  const event = await httpEvent(request, target, body, client);
  const invocation: Invocation = { source: endpoint.source, trigger: "http", at: Date.now(), event, ...trace, ...replyAddress?.() };
  return JSON.stringify(invocation);
}

/** A caller that does not read its response must not have us keep it. */
function holdUnread(response: ServerResponse, { address }: Client, bytes: number, { unread }: Receiving): void {
  const held = unread.open(networkOf(address), () => {
    response.destroy();
    return true;
  });
  if (!held.take(bytes)) throw overloaded("too many responses are not read");
  response.once("close", () => held.release());
}
