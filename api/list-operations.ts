import { z } from "zod";
import type { Kind, Resource } from "../crds/resource.ts";
import { newestFirst, orderOf, sortValues } from "../domain/list-order.ts";
import type { PageRequest } from "../domain/page.ts";
import type { ApiContext, ApiOperation } from "./context.ts";
import type { Call, Input } from "./http/request/call.ts";
import type { Reply } from "./http/response/replies.ts";
import { optionalChoice, ownPages, pages, parsePage, requestsPage } from "./http/request/parameters.ts";
import { parse } from "./http/request/parse.ts";
import { page as pageOf } from "./http/response/schemas.ts";
import { pathOf } from "./http/routing/handle.ts";
import type { Listed, ResourceSelection } from "./ports.ts";
import { publicIdOf } from "./resources/identity.ts";
import type { Answered } from "./http/response/answered.ts";
import { readParts } from "./http/response/list-parts.ts";

/** A list of the resources of one kind. */
interface ResourceList<S, T, Schema extends z.ZodType, Filters extends z.ZodObject> {
  /** Last segment of the paths. */
  readonly path: string;
  /** Suffix of the operations' ids. */
  readonly id: string;
  /** For the summaries. */
  readonly noun: string;
  readonly kind: Kind<S, T>;
  readonly schema: Schema;
  /** Filters among the query parameters, and the selection that they make. */
  readonly filters?: Filters;
  readonly selectionOf?: (filters: z.output<Filters>) => Pick<ResourceSelection, "labels" | "sources" | "listed">;
  /** Whether the list takes `sort`. */
  readonly isSortable?: true;
  /** Returns the newest 1,000 items unless the request asks for a page: the specification has no pages here. */
  readonly isUnpaged?: true;
  /** Converts the resources of a page, which are in one namespace. */
  readonly respond: (page: readonly Resource<S, T>[], namespace: string, context: ApiContext) => Promise<readonly Answered<Schema>[]>;
}

const unpaged: PageRequest = { limit: 1_000, cursor: null };
const sorting = z.object({
  sort: optionalChoice(sortValues).describe(
    "Field that the list is sorted by; with `-`, from the last value to the first. Default: `-created_at`. Names are compared without case, by their first 200 characters.",
  ),
});
const nothing = { items: [], total: 0 } as const;

/** Declares `GET /users/me/…` and `GET /orgs/:org_id/…`. Lists are newest first if nothing else is asked for, without resources that are being deleted. */
export function listOperations<
  S,
  T extends { readonly id?: string | undefined },
  Schema extends z.ZodType<object>,
  Filters extends z.ZodObject,
>(list: ResourceList<S, T, Schema, Filters>): readonly ApiOperation[] {
  const { path, id, noun, schema, filters } = list;
  const responses = pageOf(schema);
  const parameters = { ...filters?.shape, ...(list.isSortable === true ? sorting.shape : {}) };
  return [
    {
      route: `GET /users/me/${path}`,
      id: `listMy${id}`,
      summary: `List the caller's ${noun}`,
      // The specification has `org_id` on every operation: with it, these are the organization's.
      query: ownPages.extend(parameters),
      responses,
      handle: async (call, context) => listResources(list, await context.access.owner(call), call, context),
    },
    {
      route: `GET /orgs/:org_id/${path}`,
      id: `list${id}`,
      summary: `List an organization's ${noun}`,
      query: pages.extend(parameters),
      responses,
      handle: async (call, context) => {
        const organization = pathOf(call, "org_id");
        await context.access.checkOrganization(call.user, organization);
        return listResources(list, organization, call, context);
      },
    },
  ];
}

/** Answers a list of an owner's resources. */
export async function listResources<
  S,
  T extends { readonly id?: string | undefined },
  Schema extends z.ZodType<object>,
  Filters extends z.ZodObject,
>(
  {
    kind,
    selectionOf,
    isSortable,
    isUnpaged,
    respond,
  }: Pick<ResourceList<S, T, Schema, Filters>, "schema" | "kind" | "selectionOf" | "isSortable" | "isUnpaged" | "respond">,
  owner: string,
  call: Call & Input,
  context: ApiContext,
): Promise<Reply<readonly Answered<Schema>[]>> {
  const { owners, pages: resources } = context.ports;
  const order = isSortable === true ? orderOf(parse(sorting, call.parameters).sort) : newestFirst;
  const form = order.by === "created_at" ? "resource" : "position";
  const request = isUnpaged === true && !requestsPage(call.parameters) ? unpaged : parsePage(call.parameters, form);
  const selection = selectionOf?.(call.query() as z.output<Filters>) ?? {}; // The query's schema contains the filters.
  const namespace = await owners.find(owner);
  const show = async (items: readonly Resource<S, T>[]): Promise<readonly Answered<Schema>[]> => {
    const shown = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    return namespace === undefined ? [] : respond(shown, namespace, context);
  };
  const read = async (page: PageRequest): Promise<Listed<Resource<S, T>>> =>
    namespace === undefined ? nothing : resources.listPage(kind, { namespace, ...selection }, { ...page, order });
  // Cursors include excluded items: a page that has only these must not look like the end.
  return { status: 200, list: { form, parts: () => readParts({ request, idOf: publicIdOf, read, show }) } };
}
