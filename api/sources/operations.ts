import { warningsAsSource } from "../../domain/component/kind-warnings.ts";
import type { z } from "zod";
import { sourceKind } from "../../crds/source.ts";
import { operation, type ApiContext } from "../context.ts";
import { dropBody, type Call, type Input } from "../http/request/call.ts";
import { ownerParameters } from "../http/request/parameters.ts";
import { noContent, ok } from "../http/response/replies.ts";
import { nothing, one } from "../http/response/schemas.ts";
import { listOperations } from "../list-operations.ts";
import type { SourceResource } from "../resources/source.ts";
import { untilAutoSubscribed } from "../subscriptions/until-auto-subscribed.ts";
import { createSource } from "./create.ts";
import { deleteSource } from "./delete.ts";
import type { Deployment } from "./deploy.ts";
import { factsOf, factsOfAll } from "./facts.ts";
import { sourceOf } from "./find-source.ts";
import { selectionOf, sourceFilters } from "./list-filters.ts";
import { deletionFields, sourceFields, updateFields } from "./request.ts";
import { sourceResponse } from "./response.ts";
import { sourceSchema } from "./schemas.ts";
import { updateSource } from "./update.ts";

export const sourceOperations = [
  ...listOperations({
    path: "sources",
    id: "Sources",
    noun: "sources",
    kind: sourceKind,
    schema: sourceSchema,
    filters: sourceFilters,
    selectionOf: (filters) => ({ sources: selectionOf(filters) }),
    isSortable: true,
    respond: async (sources, namespace, context) => {
      const facts = await factsOfAll(namespace, sources, context);
      return sources.map((source) => sourceResponse(source, facts(source)));
    },
  }),
  operation({
    route: "POST /sources",
    id: "createSource",
    change: { action: "create", kind: "Source" },
    summary: "Deploy a component",
    description: "Waits until the source is deployed and its hooks have run. A source that cannot be deployed is deleted.",
    query: ownerParameters,
    body: sourceFields,
    takesFiles: true,
    responses: one(sourceSchema),
    errors: [504],
    handle: async (call, context) => {
      const deployment = await startCreation(call, context);
      dropBody(call);
      const source = await deployment.deployed();
      await untilAutoSubscribed(source, context);
      return changedReply(source, call.user.id, context);
    },
  }),
  operation({
    route: "GET /sources/:id",
    id: "getSource",
    summary: "Get a source",
    responses: one(sourceSchema),
    handle: async (call, context) => {
      const source = await sourceOf(call, context);
      return ok(sourceResponse(source, await factsOf(source, context)));
    },
  }),
  operation({
    route: "PUT /sources/:id",
    id: "updateSource",
    change: { action: "update", kind: "Source" },
    summary: "Change a source",
    description:
      "Changes the given fields and deploys the source again. Together with code, absent `name` and `active` get the defaults of a new source. If the update fails, the previous version keeps running, and GET shows that version.",
    query: deletionFields,
    body: updateFields,
    takesFiles: true,
    responses: one(sourceSchema),
    errors: [409, 504],
    handle: async (call, context) => {
      const deployment = await startUpdate(call, context);
      dropBody(call);
      return changedReply(await deployment.deployed(), call.user.id, context);
    },
  }),
  operation({
    route: "DELETE /sources/:id",
    id: "deleteSource",
    change: { action: "delete", kind: "Source" },
    summary: "Delete a source with its timers, its endpoint and its history",
    query: deletionFields,
    responses: nothing,
    errors: [409],
    handle: async (call, context) => {
      const { ignore_hook_errors, force } = call.query();
      await deleteSource(await sourceOf(call, context), { ignoreHookErrors: ignore_hook_errors === true, force: force === true }, context);
      return noContent;
    },
  }),
];

/** Like {@link startUpdate}, only this function holds the code, see `dropBody`. */
async function startCreation(call: Call & Input<unknown, z.output<typeof sourceFields>>, context: ApiContext): Promise<Deployment> {
  const fields = call.body();
  return createSource(fields, await context.access.owner(call), call.user, context);
}

async function startUpdate(call: Call & Input<unknown, z.output<typeof updateFields>>, context: ApiContext): Promise<Deployment> {
  const fields = call.body();
  return updateSource(await sourceOf(call, context), fields, call.user, context);
}

/** Makes the caller's next list show the source like this response. */
async function changedReply(source: SourceResource, user: string, context: ApiContext) {
  await context.ports.pages.show(sourceKind, source);
  const facts = await factsOf(source, context);
  const { warnings = [], registryKey, definition } = facts.component ?? {};
  return ok(sourceResponse(source, facts, user), [
    ...warnings,
    ...(definition === undefined ? [] : warningsAsSource(definition)),
    ...(await context.registry.warningsOf(registryKey, definition?.version)),
  ]);
}
