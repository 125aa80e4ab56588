import { accountKind, appLabelOf } from "../../crds/account.ts";
import { autoSubscriptionKind } from "../../crds/auto-subscription.ts";
import { labels, type Kind, type Resource } from "../../crds/resource.ts";
import { sourceKind } from "../../crds/source.ts";
import { subscriptionKind } from "../../crds/subscription.ts";
import { webhookKind } from "../../crds/webhook.ts";
import { workflowKind } from "../../crds/workflow.ts";
import { pageInfo, type PageRequest } from "../../domain/page.ts";
import type { Call, Handle, Reply } from "../http/request/call.ts";
import { listFields } from "../accounts/request.ts";
import { pathOf } from "../http/routing/handle.ts";
import { requestsPage, parse, parsePage } from "../http/request/parameters.ts";
import { publicIdOf } from "./identity.ts";
import type { ResourceSelection } from "../ports.ts";
import { factsOfAll } from "../sources/facts.ts";
import { parseSourceFilters } from "../sources/list-filters.ts";
import { accountResponse } from "../accounts/response.ts";
import { autoSubscriptionResponse } from "../subscriptions/auto-response.ts";
import { sourceResponse } from "../sources/response.ts";
import { subscriptionResponse } from "../subscriptions/response.ts";
import { webhookResponse } from "../webhooks/response.ts";
import { workflowResponse } from "../workflows/response.ts";
import type { ApiContext } from "../context.ts";

const nothing = { items: [], total: 0 } as const;

type Lister<Shown extends object> = (owner: string, call: Call) => Promise<Reply<readonly Shown[]>>;

/** Page of a list that is unpaged in the specification; callers get more with `limit` and `after`. */
const unpaged: PageRequest = { limit: 1_000, cursor: null };

/** Lists of an owner's resources: newest first, without those being deleted. */
export function listRoutes(context: ApiContext) {
  const listers = {
    sources: listOf(
      context,
      sourceKind,
      async (sources, namespace) => {
        const factsOf = await factsOfAll(namespace, sources, context);
        return sources.map((source) => sourceResponse(source, factsOf(source)));
      },
      { selectionOf: ({ parameters }) => ({ sources: parseSourceFilters(parameters) }) },
    ),
    webhooks: listOf(
      context,
      webhookKind,
      eachOf(async (webhook) => webhookResponse(webhook, await context.access.ownerOf(webhook))),
    ),
    subscriptions: listOf(context, subscriptionKind, eachOf(subscriptionResponse), { whole: true }),
    autoSubscriptions: listOf(context, autoSubscriptionKind, eachOf(autoSubscriptionResponse), { whole: true }),
    workflows: listOf(
      context,
      workflowKind,
      eachOf(async (workflow) => workflowResponse(workflow, await context.access.ownerOf(workflow))),
    ),
    accounts: listOf(context, accountKind, eachOf(accountResponse), {
      selectionOf: ({ parameters }) => {
        const { app } = parse(listFields, parameters);
        return app === undefined || app === "" ? {} : { labels: { [labels.app]: appLabelOf(app) } };
      },
    }),
  };
  const each = (handle: <Shown extends object>(list: Lister<Shown>) => Handle<Call, readonly Shown[]>) => ({
    sources: handle(listers.sources),
    webhooks: handle(listers.webhooks),
    subscriptions: handle(listers.subscriptions),
    autoSubscriptions: handle(listers.autoSubscriptions),
    workflows: handle(listers.workflows),
    accounts: handle(listers.accounts),
  });
  return {
    /** Lists of the caller, or of the organization in `org_id`. */
    mine: each((list) => async (call) => list(await context.access.owner(call), call)),
    organizations: each((list) => async (call) => {
      const id = pathOf(call, "org_id");
      await context.access.checkOrganization(call.user, id);
      return list(id, call);
    }),
  };
}

/** Converts the resources of a page, which are in one namespace. */
type Respond<Listed, Shown> = (page: readonly Listed[], namespace: string) => Promise<readonly Shown[]>;

const eachOf =
  <Listed, Shown>(respond: (resource: Listed) => Shown | Promise<Shown>): Respond<Listed, Shown> =>
  (page) =>
    Promise.all(page.map(async (resource) => respond(resource)));

interface ListOptions {
  readonly whole?: boolean;
  /** Filters of the call. */
  readonly selectionOf?: (call: Call) => Pick<ResourceSelection, "labels" | "sources">;
}

function listOf<S, T extends { readonly id?: string | undefined }, Shown extends object>(
  { ports }: ApiContext,
  kind: Kind<S, T>,
  respond: Respond<Resource<S, T>, Shown>,
  { whole = false, selectionOf = () => ({}) }: ListOptions = {},
): Lister<Shown> {
  return async (owner, call) => {
    const { parameters } = call;
    const request = whole && !requestsPage(parameters) ? unpaged : parsePage(parameters);
    const selection = selectionOf(call);
    const namespace = await ports.owners.find(owner);
    const { items, total } = namespace === undefined ? nothing : await ports.pages.listPage(kind, { namespace, ...selection }, request);
    const shown = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const data = namespace === undefined ? [] : await respond(shown, namespace);
    // Cursors include excluded items: a page that has only these must not look like the end.
    const { start_cursor, end_cursor } = pageInfo(items.map(publicIdOf), total);
    return {
      status: 200,
      body: {
        page_info: {
          total_count: total,
          count: data.length,
          start_cursor,
          end_cursor,
          excluded_count: items.length - shown.length,
        },
        data,
      },
    };
  };
}
