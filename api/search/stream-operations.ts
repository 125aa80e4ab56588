import type { Request, Response } from "express";
import { z } from "zod";
import { parseLiveSearch } from "../../domain/search/query.ts";
import { maxQueryLength } from "../../domain/search/terms.ts";
import type { ApiContext, ApiOperation } from "../context.ts";
import { signedIn, userOfKey } from "../http/access/authentication.ts";
import { ownerParameters, text } from "../http/request/parameters.ts";
import { parse } from "../http/request/parse.ts";
import { VisibleObjects } from "../traces/visible-objects.ts";
import { LiveEmitters } from "./live-emitters.ts";
import { parseLivePosition } from "./live-frames.ts";
import { LiveSearch } from "./live-search.ts";
import { checkOwners } from "./search.ts";

const parameters = z.object({
  q: text
    .optional()
    .describe(`A query as that of a search, without \`before:\`; at most ${maxQueryLength} characters. Absent: everything.`),
});

const description =
  "Each message is a `SearchItem`. The event `skipped` says how many `items` and `commits` could not be sent or compared in time, " +
  "`position` is only an id to continue after.";
const stream = {
  headers: { "last-event-id": "Continues after this item." },
  responses: { 200: { contentType: "text/event-stream", description: "Server-Sent Events. The response stays open." } },
};

/** Searches that stay open. They read the express request themselves, because their responses do not end. */
export const searchStreamOperations: readonly ApiOperation[] = [
  {
    route: "GET /search/sse",
    id: "streamSearch",
    summary: "Stream what a search would find, as it is committed",
    description: `Of the caller and all their organizations; with \`org_id\`, of that organization. ${description}`,
    query: parameters.extend(ownerParameters.shape),
    ...stream,
    respond: async (request, response, context) => {
      const call = { user: signedIn(response).user, parameters: request.query };
      const organization = await context.access.organization(call);
      await open(request, response, organization, context);
    },
  },
  {
    route: "GET /orgs/:org_id/search/sse",
    id: "streamOrganizationSearch",
    summary: "Stream what a search of an organization would find, as it is committed",
    description,
    query: parameters,
    ...stream,
    respond: async (request, response, context) => {
      const organization = String(request.params["org_id"] ?? "");
      await context.access.checkOrganization(signedIn(response).user, organization);
      await open(request, response, organization, context);
    },
  },
];

/** @param organization undefined: all owners for whom the user may act */
async function open(request: Request, response: Response, organization: string | undefined, context: ApiContext): Promise<void> {
  const { ports, streams, live } = context;
  const { user, keyHash } = signedIn(response);
  const query = parseLiveSearch(parse(parameters, request.query).q ?? "", ports.clock.now());
  const last = request.get("last-event-id") ?? "";
  const after = last === "" ? undefined : last;
  if (after !== undefined) parseLivePosition(after);
  const access = context.access.within(organization);
  const owners = organization === undefined ? await access.ownersOf(user) : [organization];
  checkOwners(owners);
  if (request.method === "HEAD") return void response.type("text/event-stream").end();
  await streams.openTail(
    {
      user,
      owners,
      after,
      reader: `${keyHash} search ${owners.join(" ")}`,
      refusal: "the API key or its organizations have changed: open the stream again",
      mayRead: async () => {
        const current = await userOfKey(ports, keyHash);
        if (current === undefined) return false;
        const now = await access.ownersOf(current);
        return organization === undefined ? isSame(now, owners) : now.includes(organization);
      },
      start: (stream, runs) => {
        const emitters = new LiveEmitters(query, () => new VisibleObjects(access, user), ports.log);
        const shares = { ...live, rate: live.rate.open(user.id, performance.now()), pending: live.pending.open(user.id) };
        return new LiveSearch({ query, owners, after, user: user.id }, { emitters, stream, runs, ...shares });
      },
    },
    response,
  );
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  some.length === others.length && some.every((each) => others.includes(each));
