import type { Request, RequestHandler, Response } from "express";
import { z } from "zod";
import { sourceKind } from "../../crds/source.ts";
import { isDerived } from "../../domain/event/derived-events.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { parseLimit } from "../../domain/page.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { scheduledChannel } from "../../domain/schedule/scheduled-event.ts";
import { runSubject } from "../../domain/subjects.ts";
import type { ApiContext, ApiOperation } from "../context.ts";
import { isExpired, signedIn } from "../http/access/authentication.ts";
import { checkChannel, readableChannels } from "../http/request/channels.ts";
import { text } from "../http/request/parameters.ts";
import { parse } from "../http/request/parse.ts";
import { aliasesOf } from "../http/routing/aliases.ts";
import { parseRoute } from "../http/routing/operation.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { SourceResource } from "../resources/source.ts";
import { sourceIdFor } from "../sources/find-source.ts";
import type { From } from "../streams/gap.ts";
import type { StreamRequest } from "../streams/open-streams.ts";

const optionalText = text.optional().transform((value) => (value === "" ? undefined : value));
const query = z.object({
  event_name: optionalText.describe("Name of a channel; empty is the default channel."),
  replay: optionalText.describe("Number of stored events to send first."),
});
const stream = { contentType: "text/event-stream", description: "Server-Sent Events. The response stays open." };

/** Live streams. They read the express request themselves, because their responses do not end. */
export const streamOperations: readonly ApiOperation[] = [
  {
    route: "GET /sources/:id/sse",
    id: "streamEvents",
    summary: "Stream the events of a source as they are committed",
    query,
    headers: { "last-event-id": "Continues after this event." },
    responses: { 200: stream },
    respond: (request, response, context) => open(request, response, parse(query, request.query).event_name, context),
  },
  {
    route: "GET /sources/:id/logs/sse",
    id: "streamLogs",
    summary: "Stream the log of a source as it is written",
    responses: { 200: stream },
    respond: (request, response, context) => open(request, response, "$logs", context),
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
async function open(request: Request, response: Response, channel: string | undefined, context: ApiContext): Promise<void> {
  checkChannel(channel, readableChannels);
  const from = isDerived(channel) || channel === scheduledChannel ? ({ kind: "now" } as const) : fromOf(request);
  const { user } = signedIn(response);
  const id = await sourceIdFor(String(request.params["id"] ?? ""), { user, parameters: request.query }, context);
  const { namespace, name } = (await context.access.getListed(sourceKind, "source", id, user)).metadata;
  // Follow the source before reading it again, so that its deletion is not missed.
  const following = context.sources.follow(namespace, name);
  try {
    const source = await context.access.get(sourceKind, "source", id, user);
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

const isGone = (source: SourceResource | undefined): boolean => source?.metadata.deletionTimestamp !== undefined || source === undefined;

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
async function followedOf(source: SourceResource, channel: string | undefined, { access }: ApiContext) {
  const [id, owner] = [publicIdOf(source), await access.ownerOf(source)];
  if (owner === undefined) throw new NotFound();
  return { source: id, subject: runSubject(partitionOf(id), owner, id), channel };
}

function readerOf(
  response: Response,
  source: SourceResource,
  { access, ports }: ApiContext,
): Pick<StreamRequest, "key" | "reader" | "mayRead"> {
  const { keyHash } = signedIn(response);
  return {
    key: keyHash,
    reader: `${keyHash} ${source.metadata.namespace}`,
    mayRead: async () => {
      const key = await ports.accounts.findKey(keyHash);
      if (key === undefined || isExpired(key, ports.clock.now())) return false;
      const owner = await access.ownerOf(source);
      return owner !== undefined && (await access.ownersOf(key.user)).includes(owner);
    },
  };
}
