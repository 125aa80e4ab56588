import type { IncomingMessage, ServerResponse } from "node:http";
import { Malformed, NotFound, QuotaUsedUp, Unavailable } from "../domain/errors.ts";
import type { Endpoint } from "../domain/deployment.ts";
import type { HttpEvent, Invocation } from "../domain/invocation.ts";
import { partitionOf } from "../domain/partition.ts";
import type { TraceContext } from "../domain/traces.ts";
import type { BacklogGate } from "./backlog-gate.ts";
import { awaitAnswer } from "./await-answer.ts";
import { discard, readBody } from "./body.ts";
import { httpEvent, originForm, parseTarget, type Target } from "./http-event.ts";
import type { Packs } from "./packs.ts";
import type { IngressConfig, IngressPorts } from "./ports.ts";
import type { QuotaGate } from "./quota-gate.ts";
import { replyAccepted, replyPreflight } from "./reply.ts";

export interface Receiving {
  readonly config: IngressConfig;
  readonly ports: IngressPorts;
  readonly packs: Packs;
  readonly gate: BacklogGate;
  readonly quotas: QuotaGate;
}

/**
 * One request: find the endpoint, take the body, store the invocation, answer.
 *
 * @param trace what the run follows from
 * @throws HeadwaterError for {@link replyError}
 */
export async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  receiving: Receiving,
  trace: TraceContext,
): Promise<void> {
  // Of several, a proxy in front may have read another one than we do (RFC 9112, section 3.2).
  if ((request.headersDistinct["host"]?.length ?? 0) > 1) {
    discard(request);
    throw new Malformed("the request has several Host headers: it must have one");
  }
  if (request.method === "OPTIONS") {
    request.resume();
    return replyPreflight(response, request.headers["access-control-request-headers"]);
  }
  const { config, packs } = receiving;
  const { target, endpoint } = await find(request, receiving);
  admit(request, endpoint, receiving);
  const body = await readBody(request, config.bodyLimitBytes);
  const event = await httpEvent(request, target, body, config.trustedProxies);
  const invocation = newInvocation(endpoint.source, event, trace);
  if (endpoint.customResponse) return awaitAnswer(response, endpoint.pool, invocation, receiving);
  await packs.add(endpoint.pool, partitionOf(endpoint.source), endpoint.source, JSON.stringify(invocation));
  replyAccepted(response);
}

async function find(
  request: IncomingMessage,
  { config, ports }: Receiving,
): Promise<{ readonly target: Target; readonly endpoint: Endpoint }> {
  const target = parseTarget(originForm(request.url ?? "/"), config.basePath);
  const known = target === undefined ? null : ports.endpoints.peek(target.key);
  const endpoint = known === undefined && target !== undefined ? await ports.endpoints.find(target.key) : known;
  if (target !== undefined && endpoint?.active === true) return { target, endpoint };
  discard(request);
  throw new NotFound("there is no active endpoint at this address", { code: "endpoint_not_found" });
}

function admit(request: IncomingMessage, endpoint: Endpoint, { config, gate, quotas }: Receiving): void {
  const leftMs = quotas.refuses(endpoint, Date.now());
  if (leftMs > 0) {
    discard(request);
    throw new QuotaUsedUp("the owner of this endpoint has used up the quota of the day: send it again as Retry-After says", leftMs);
  }
  if (gate.admits(endpoint.pool, partitionOf(endpoint.source))) return;
  discard(request);
  throw new Unavailable(`more than ${config.backlogLimit} requests wait to be run: send it again later`, {
    code: "backlog_full",
  });
}

function newInvocation(source: string, event: HttpEvent, trace: TraceContext): Invocation {
  return { source, trigger: "http", at: Date.now(), event, ...trace };
}
