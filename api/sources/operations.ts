import { sourceKind } from "../../crds/source.ts";
import { dropBody, noContent, ok, type Call } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse } from "../http/request/parameters.ts";
import { publicIdOf } from "../resources/identity.ts";
import { sourceResponse } from "./response.ts";
import { createSource } from "./create.ts";
import type { Deployment } from "./deploy.ts";
import { deleteSource } from "./delete.ts";
import { factsOf } from "./facts.ts";
import { sourceIdFor } from "./find-source.ts";
import { deletionFields, sourceFields, updateFields } from "./request.ts";
import type { SourceResource } from "../resources/source.ts";
import { updateSource } from "./update.ts";
import { untilAutoSubscribed } from "../subscriptions/until-auto-subscribed.ts";
import type { ApiContext } from "../context.ts";

export function sourceRoutes(context: ApiContext) {
  /** Makes the caller's next list show the source like this response. */
  const respondTo = async (user: string, source: SourceResource) => {
    await context.ports.pages.show(sourceKind, source);
    const facts = await factsOf(source, context);
    return ok(sourceResponse(source, facts, user), facts.component?.warnings);
  };
  return {
    create: async (call: Call) => {
      const deployment = await created(call, context);
      dropBody(call);
      const source = await deployment.deployed();
      await untilAutoSubscribed(source, context);
      return respondTo(call.user.id, source);
    },
    get: async (call: Call) => {
      const source = await sourceOf(call, context);
      return ok(sourceResponse(source, await factsOf(source, context)));
    },
    update: async (call: Call) => {
      const deployment = await updated(call, context);
      dropBody(call);
      return respondTo(call.user.id, await deployment.deployed());
    },
    delete: async (call: Call) => {
      const { ignore_hook_errors } = parse(deletionFields, call.parameters);
      await deleteSource(await sourceOf(call, context), ignore_hook_errors === true, context);
      return noContent;
    },
  };
}

/** Like {@link updated}, only this function holds the code, see `dropBody`. */
async function created(call: Call, context: ApiContext): Promise<Deployment> {
  const fields = parse(sourceFields, call.body);
  return createSource(fields, await context.access.owner(call), call.user, context);
}

async function updated(call: Call, context: ApiContext): Promise<Deployment> {
  const { ignore_hook_errors } = call.parameters;
  const fields = parse(updateFields, { ...call.body, ...(ignore_hook_errors === undefined ? {} : { ignore_hook_errors }) });
  return updateSource(await sourceOf(call, context), fields, call.user, context);
}

/** Finds the source in the path, by id or slug, if the caller may see it. @throws NotFound */
export async function sourceOf(call: Call, context: ApiContext): Promise<SourceResource> {
  return context.access.get(sourceKind, "source", await sourceIdFor(pathOf(call, "id"), call, context), call.user);
}

/** The public id of that source, for its history. @throws NotFound */
export async function sourceIdOf(call: Call, context: ApiContext): Promise<string> {
  const id = await sourceIdFor(pathOf(call, "id"), call, context);
  return publicIdOf(await context.access.getListed(sourceKind, "source", id, call.user));
}
