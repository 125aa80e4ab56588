import { z } from "zod";
import { QuotaUsedUp } from "../../domain/errors.ts";
import type { FairSemaphore } from "../../domain/limits/fair-semaphore.ts";
import { parseLimit } from "../../domain/page.ts";
import { maxQueryLength } from "../../domain/search/terms.ts";
import { parseSearch } from "../../domain/search/query.ts";
import { operation, type ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { itemCount, optionalParameter, ownerParameters, text } from "../http/request/parameters.ts";
import { ok } from "../http/response/replies.ts";
import { one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { VisibleObjects } from "../traces/visible-objects.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import { searchResponse } from "./response.ts";
import { searchSchema } from "./schemas.ts";
import { searchPage } from "./search.ts";

const defaultLimit = 20;
/** Requests of a user that wait for others of theirs. */
const maxWaiting = 8;

const parameters = z.object({
  q: text
    .optional()
    .describe(
      `Words, "phrases", -excluded words and fields such as \`level:error source:stripe* after:-2h\`; at most ${maxQueryLength} characters. Absent: everything.`,
    ),
  limit: itemCount.optional().meta({ default: defaultLimit, description: "Maximum items of a page; more than 100 counts as 100." }),
  cursor: optionalParameter(text).describe("Searches further back: `cursor` of the last page."),
});

export const searchOperations = [
  operation({
    route: "GET /search",
    id: "search",
    summary: "Search events, log lines, runs and errors",
    description:
      "Of the caller and all their organizations, newest first; with `org_id`, of that organization. A page may end before it is full: `searched_to_ms` says how far it has searched, and `cursor` continues.",
    query: parameters.extend(ownerParameters.shape),
    responses: one(searchSchema),
    handle: async (call, context) => {
      const organization = await context.access.organization(call);
      const owners = organization === undefined ? await context.access.ownersOf(call.user) : [organization];
      return search(owners, call.query(), call, context);
    },
  }),
  operation({
    route: "GET /orgs/:org_id/search",
    id: "searchOrganization",
    summary: "Search events, log lines, runs and errors of an organization",
    query: parameters,
    responses: one(searchSchema),
    handle: async (call, context) => {
      const organization = pathOf(call, "org_id");
      await context.access.checkOrganization(call.user, organization);
      const access = context.access.within(organization);
      return search([organization], call.query(), call, { ...context, access });
    },
  }),
];

async function search(
  owners: readonly string[],
  { q = "", limit, cursor }: z.output<typeof parameters>,
  { user }: Pick<Call, "user">,
  { access, ports, searches }: ApiContext,
) {
  const start = { nowMs: ports.clock.now(), position: undefined, isByOwner: false };
  const { nowMs, position, isByOwner } = cursor === undefined ? start : readCursor(cursor);
  const request = { query: parseSearch(q, nowMs), owners, after: position, isByOwner, limit: parseLimit(limit, "limit", defaultLimit) };
  const records = {
    records: ports.search,
    objects: new VisibleObjects(access, user),
    namespaceOf: (owner: string) => ports.owners.find(owner),
  };
  checkWaiting(searches, user.id);
  const page = await searches.use(user.id, () => searchPage(request, records));
  const next = page.position === undefined ? null : writeCursor({ nowMs, position: page.position, isByOwner: page.isByOwner });
  return ok(searchResponse(page, next));
}

/** @throws QuotaUsedUp */
function checkWaiting(searches: FairSemaphore, user: string): void {
  if (searches.waitingFor(user) < maxWaiting) return;
  throw new QuotaUsedUp(`${maxWaiting} of your searches wait for others of yours: try again as Retry-After says`, 1_000, {
    code: "rate_limited",
  });
}
