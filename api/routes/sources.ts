import { sourceKind } from "../../crds/source.ts";
import { noContent, ok, type Call } from "../http/call.ts";
import { pathOf } from "../http/handle.ts";
import { parse } from "../http/parameters.ts";
import { publicIdOf } from "../resources/identity.ts";
import { sourceResponse } from "../responses/source.ts";
import { createSource } from "../sources/create.ts";
import { deleteSource } from "../sources/delete.ts";
import { factsOf } from "../sources/facts.ts";
import { deletionFields, sourceFields } from "../sources/request.ts";
import type { SourceResource } from "../sources/source.ts";
import { updateSource } from "../sources/update.ts";
import type { ApiContext } from "./context.ts";

export function sourceRoutes(context: ApiContext) {
  const respond = async (source: SourceResource, userId?: string) => ok(sourceResponse(source, await factsOf(source, context), userId));
  /** The next list shows the source as this answer does. */
  const respondTo = async (user: string, source: SourceResource) => {
    await context.ports.pages.show(sourceKind, source);
    return respond(source, user);
  };
  return {
    create: async (call: Call) => {
      const fields = parse(sourceFields, call.body);
      return respondTo(call.user.id, await createSource(fields, await context.access.owner(call), call.user, context));
    },
    get: async (call: Call) => respond(await sourceOf(call, context)),
    update: async (call: Call) => {
      const fields = parse(sourceFields, call.body);
      return respondTo(call.user.id, await updateSource(await sourceOf(call, context), fields, call.user, context));
    },
    delete: async (call: Call) => {
      const { ignore_hook_errors } = parse(deletionFields, call.parameters);
      await deleteSource(await sourceOf(call, context), ignore_hook_errors === true, context);
      return noContent;
    },
  };
}

/** The source that the path names, if the caller may see it. @throws NotFound */
export function sourceOf(call: Call, { access }: ApiContext): Promise<SourceResource> {
  return access.get(sourceKind, "source", pathOf(call, "id"), call.user);
}

/** The public id of that source, for its history. @throws NotFound */
export async function sourceIdOf(call: Call, { access }: ApiContext): Promise<string> {
  return publicIdOf(await access.getListed(sourceKind, "source", pathOf(call, "id"), call.user));
}
