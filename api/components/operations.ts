import { z } from "zod";
import { componentKind } from "../../crds/component.ts";
import { labels } from "../../crds/resource.ts";
import { InvalidInput, NotFound } from "../../domain/errors.ts";
import { isId, kindOfId } from "../../domain/ids.ts";
import { deleteComponent } from "./delete.ts";
import { noContent, ok, type Call } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse, text } from "../http/request/parameters.ts";
import { componentResponse } from "./response.ts";
import { whyNotFound } from "../resources/not-found.ts";
import { labelOfKey, type ComponentResource } from "../resources/components.ts";
import { codeOf } from "./code.ts";
import { codeFields } from "../sources/request.ts";
import type { ApiContext } from "../context.ts";

export const creation = codeFields.pick({ component_code: true, component_files: true, component_entry: true, component_url: true });

export function componentRoutes(context: ApiContext) {
  const { access, components, ports } = context;
  return {
    create: async (call: Call) => {
      const fields = parse(creation, call.body);
      const owner = await access.owner(call);
      const code = await codeOf(fields, owner, ports);
      if (code === undefined)
        throw new InvalidInput("no code is given: send component_code, component_files or component_url", { code: "component_missing" });
      const saved = await components.save(owner, code, { url: fields.component_url });
      return ok(componentResponse(saved), saved.status.build?.warnings);
    },
    get: async (call: Call) => ok(componentResponse(await componentOf(call, context))),
    /** Takes only an id, because several components can share a key. */
    delete: async (call: Call) => {
      await deleteComponent(await access.get(componentKind, "component", pathOf(call, "key"), call.user), ports);
      return noContent;
    },
  };
}

/** A key can be any string, so ids of other kinds are recognized first. */
function componentNotFound(key: string, version: string | undefined): string {
  const kind = kindOfId(key);
  if (kind !== undefined && kind !== "component") return `record not found: ${whyNotFound("component", key)}`;
  const which = version === undefined || version === "" ? "" : ` and the version '${version.slice(0, 80)}'`;
  return `record not found: no component of yours has the key '${key.slice(0, 80)}'${which}; GET /v1/components lists yours, GET /v1/components/registry those of the registry`;
}

export const selection = z.object({ version: text.optional() });

/**
 * Finds the component in the path by id, or by key: the user's newest, then that of each of their organizations; with `version`,
 * the newest that has it. @throws NotFound
 */
export async function componentOf(call: Call, { access, ports }: ApiContext): Promise<ComponentResource> {
  const key = pathOf(call, "key");
  if (isId("component", key)) return access.get(componentKind, "component", key, call.user);
  const { version } = parse(selection, call.parameters);
  const keyLabel = labelOfKey(key);
  const named = await access.owner(call);
  const owners = named === call.user.id ? await access.ownersOf(call.user) : [named];
  for (const owner of owners) {
    const namespace = await ports.owners.find(owner);
    if (namespace === undefined) continue;
    const found =
      version === undefined || version === ""
        ? await ports.pages.findNewest(componentKind, { namespace, labels: { [labels.componentKey]: keyLabel } })
        : await ports.library.findVersion(namespace, keyLabel, version);
    if (found !== undefined && found.metadata.deletionTimestamp === undefined) return found;
  }
  throw new NotFound(componentNotFound(key, version));
}
