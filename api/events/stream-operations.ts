import type { Request, RequestHandler, Response } from "express";
import { z } from "zod";
import type { Kind, Resource } from "../../crds/resource.ts";
import { sourceKind, type SourceSpec, type SourceStatus } from "../../crds/source.ts";
import { workflowKind, type WorkflowSpec, type WorkflowStatus } from "../../crds/workflow.ts";
import { isDerived } from "../../domain/event/committed-event.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { parseLimit } from "../../domain/page.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { scheduledChannel } from "../../domain/schedule/scheduled-event.ts";
import { runSubject } from "../../domain/subjects.ts";
import type { ApiContext, ApiOperation } from "../context.ts";
import { signedIn, userOfKey } from "../http/access/authentication.ts";
import { checkChannel, readableChannels } from "../http/request/channels.ts";
import { text } from "../http/request/parameters.ts";
import { parse } from "../http/request/parse.ts";
import { aliasesOf } from "../http/routing/aliases.ts";
import { parseRoute } from "../http/routing/operation.ts";
import type { User } from "../http/ports.ts";
import type { ResourceWatch } from "../resources/watch/resource-watch.ts";
import { publicIdOf } from "../resources/identity.ts";
import { sourceIdFor } from "../sources/find-source.ts";
import type { From } from "../streams/gap.ts";
import type { StreamReader } from "../streams/open-streams.ts";

const optionalText = text.optional().transform((value) => (value === "" ? undefined : value));
const query = z.object({
  event_name: optionalText.describe("Name of a channel; empty is the default channel."),
  replay: optionalText.describe("Number of stored events to send first."),
});
const stream = { contentType: "text/event-stream", description: "Server-Sent Events. The response stays open." };

/** What can be followed. */
interface EmitterKind<S, T> {
  readonly kind: Kind<S, T>;
  readonly idKind: "source" | "workflow";
  /** Id of the emitter in the path. */
  idOf(request: Request, user: User, context: ApiContext): Promise<string>;
  watchOf(context: ApiContext): ResourceWatch<S, T>;
}

const sources: EmitterKind<SourceSpec, SourceStatus> = {
  kind: sourceKind,
  idKind: "source",
  idOf: (request, user, context) => sourceIdFor(String(request.params["id"] ?? ""), { user, parameters: request.query }, context),
  watchOf: (context) => context.sources,
};
const workflows: EmitterKind<WorkflowSpec, WorkflowStatus> = {
  kind: workflowKind,
  idKind: "workflow",
  idOf: async (request) => String(request.params["workflow_id"] ?? ""),
  watchOf: (context) => context.workflows,
};

/** Live streams. They read the express request themselves, because their responses do not end. */
export const streamOperations: readonly ApiOperation[] = [
  {
    route: "GET /sources/:id/sse",
    id: "streamEvents",
    summary: "Stream the events of a source as they are committed",
    query,
    headers: { "last-event-id": "Continues after this event." },
    responses: { 200: stream },
    respond: (request, response, context) => open(request, response, parse(query, request.query).event_name, sources, context),
  },
  {
    route: "GET /sources/:id/logs/sse",
    id: "streamLogs",
    summary: "Stream the log of a source as it is written",
    responses: { 200: stream },
    respond: (request, response, context) => open(request, response, "$logs", sources, context),
  },
  {
    route: "GET /workflows/:workflow_id/sse",
    id: "streamWorkflowEvents",
    summary: "Stream the events of a workflow, and what `$.send.sse` sends",
    description: "`event_name` is a channel: of `$.send.emit`, of `$.send.sse`, or `$errors`.",
    query,
    headers: { "last-event-id": "Continues after this event." },
    responses: { 200: stream },
    respond: (request, response, context) => open(request, response, parse(query, request.query).event_name, workflows, context),
  },
  {
    route: "GET /workflows/:workflow_id/logs/sse",
    id: "streamWorkflowLogs",
    summary: "Stream the log of a workflow as it is written",
    responses: { 200: stream },
    respond: (request, response, context) => open(request, response, "$logs", workflows, context),
  },
];

const paths = streamOperations.flatMap(({ route }) => [parseRoute(route), ...aliasesOf(route)].map(({ path }) => path));
const patterns = paths.map((path) => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}/?$`));

/** Known clients omit `/v1` in the address of a stream. */
export const unversionedStreams: RequestHandler = (request, _response, next) => {
  if (patterns.some((pattern) => pattern.test(request.path))) request.url = `/v1${request.url}`;
  next();
};

/** @param channel undefined: all channels except `$errors` and `$logs` */
async function open<S, T extends { readonly id?: string | undefined }>(
  request: Request,
  response: Response,
  channel: string | undefined,
  { kind, idKind, idOf, watchOf }: EmitterKind<S, T>,
  context: ApiContext,
): Promise<void> {
  checkChannel(channel, readableChannels);
  const from = isDerived(channel) || channel === scheduledChannel ? ({ kind: "now" } as const) : fromOf(request);
  const { user } = signedIn(response);
  const id = await idOf(request, user, context);
  const { namespace, name } = (await context.access.getListed(kind, idKind, id, user)).metadata;
  // Follow the emitter before reading it again, so that its deletion is not missed.
  const following = watchOf(context).follow(namespace, name);
  try {
    const source = await context.access.get(kind, idKind, id, user);
    if (request.method === "HEAD") return void response.type("text/event-stream").end();
    const streaming = { ...(await followedOf(source, channel, context)), from, ...readerOf(response, source, context) };
    response.once("close", () => following.end());
    await context.streams.open(
      {
        ...streaming,
        untilGone: async (signal) => (await following.until((seen) => isGone(seen) || undefined, signal)) === true,
      },
      response,
    );
  } finally {
    if (!response.headersSent || response.writableEnded) following.end();
  }
}

type Emitter = Resource<unknown, { readonly id?: string | undefined }>;
const isGone = (source: Resource | undefined): boolean => source?.metadata.deletionTimestamp !== undefined || source === undefined;

/** `Last-Event-ID` takes precedence over `replay`: clients reconnect to the same URL. @throws InvalidInput */
function fromOf(request: Request): From {
  const last = request.get("last-event-id") ?? "";
  if (last !== "" && !isEventId(last))
    throw new InvalidInput(
      `Last-Event-ID '${last.slice(0, 80)}' is invalid: it must be the id of an event, <epoch milliseconds>-<sequence>`,
    );
  if (last !== "") return { kind: "after", id: last };
  const { replay } = parse(query, request.query);
  return replay === undefined || replay === "0" ? { kind: "now" } : { kind: "last", count: parseLimit(replay, "replay") };
}

/** The subject of a source's commits contains the owner: a runner may only publish to subjects of its owners. */
async function followedOf(source: Emitter, channel: string | undefined, { access }: ApiContext) {
  const [id, owner] = [publicIdOf(source), await access.ownerOf(source)];
  if (owner === undefined) throw new NotFound();
  return { source: id, subject: runSubject(partitionOf(id), owner, id), channel };
}

function readerOf(response: Response, source: Emitter, { access, ports }: ApiContext): StreamReader {
  const { keyHash, user } = signedIn(response);
  return {
    user,
    reader: `${keyHash} ${source.metadata.namespace}`,
    refusal: "the API key does not reach this source any more",
    mayRead: async () => {
      const [current, owner] = await Promise.all([userOfKey(ports, keyHash), access.ownerOf(source)]);
      return current !== undefined && owner !== undefined && (await access.ownersOf(current)).includes(owner);
    },
  };
}
