import express, { type Request, type RequestHandler, type Response, type Router } from "express";
import { z } from "zod";
import { sourceKind } from "../../crds/source.ts";
import { isDerived } from "../../domain/event/derived-events.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { isEventId } from "../../domain/event/event-id.ts";
import { parseLimit } from "../../domain/page.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { scheduledChannel } from "../../domain/schedule/scheduled-event.ts";
import { runSubject } from "../../domain/subjects.ts";
import { isExpired, signedIn } from "../http/access/authentication.ts";
import { checkChannel } from "../http/request/channels.ts";
import { parse, text } from "../http/request/parameters.ts";
import { otherMethods, type Route } from "../http/routing/route-table.ts";
import { publicIdOf } from "../resources/identity.ts";
import { sourceIdFor } from "../sources/find-source.ts";
import type { SourceResource } from "../resources/source.ts";
import type { From } from "./gap.ts";
import type { StreamRequest } from "./open-streams.ts";
import { aliasesOf } from "../http/routing/aliases.ts";
import type { ApiContext } from "../context.ts";
import { readableChannels } from "../events/operations.ts";

const optionalText = text.optional().transform((value) => (value === "" ? undefined : value));
export const parameters = z.object({ event_name: optionalText, replay: optionalText });

/** By path, the channel that a request selects; undefined selects all channels except `$errors` and `$logs`. */
const channels: Readonly<Record<string, (request: Request) => string | undefined>> = {
  "/sources/:id/sse": ({ query }) => parse(parameters, query).event_name,
  "/sources/:id/logs/sse": () => "$logs",
};
const own: readonly Route[] = Object.keys(channels).map((path) => ({ method: "GET", path }));

/** All addresses of streams, for the OpenAPI document. */
export const streamed: readonly Route[] = [...own, ...aliasesOf(own)];

/** Serves the live streams. Errors and other methods are handled as on every route. */
export function streamRoutes(context: ApiContext): Router {
  const router = express.Router();
  const served = [...own.map((route) => ({ ...route, of: route })), ...aliasesOf(own)];
  for (const { path, of } of served) {
    const answer: RequestHandler = (request, response) => open(request, response, channels[of.path]?.(request), context);
    router
      .route(path)
      .get(named(`/v1${path}`), answer)
      .all(otherMethods(["GET"]));
  }
  return router;
}

const streamPaths = streamed.map(({ path }) => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}/?$`));

/** Known clients omit `/v1` in the address of a stream. */
export const unversionedStreams: RequestHandler = (request, _response, next) => {
  if (streamPaths.some((path) => path.test(request.path))) request.url = `/v1${request.url}`;
  next();
};

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
  const { replay } = parse(parameters, request.query);
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

const named =
  (route: string): RequestHandler =>
  (_request, response, next) => {
    response.locals["route"] = route;
    next();
  };
