import { componentKind } from "../../crds/component.ts";
import { labels } from "../../crds/resource.ts";
import { NotFound } from "../../domain/errors.ts";
import { isId, kindOfId } from "../../domain/ids.ts";
import type { ApiContext } from "../context.ts";
import type { Call } from "../http/request/call.ts";
import { parse } from "../http/request/parse.ts";
import { pathOf } from "../http/routing/handle.ts";
import { labelOfKey, type ComponentResource } from "../resources/components.ts";
import { whyNotFound } from "../resources/not-found.ts";
import { selection } from "./request.ts";

/** A key can be any string, so ids of other kinds are recognized first. */
function componentNotFound(key: string, version: string | undefined): string {
  const kind = kindOfId(key);
  if (kind !== undefined && kind !== "component") return `record not found: ${whyNotFound("component", key)}`;
  const which = version === undefined || version === "" ? "" : ` and the version '${version.slice(0, 80)}'`;
  return `record not found: no component of yours has the key '${key.slice(0, 80)}'${which}; GET /v1/components lists yours, GET /v1/components/registry those of the registry`;
}

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
