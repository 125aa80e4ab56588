import { NotFound } from "../../domain/errors.ts";
import { idPrefixes, kindNouns, kindOfId, type IdKind } from "../../domain/ids.ts";

/** The same error for missing resources and for those of others: the message depends only on the id. */
export function notFound(kind: IdKind, id: string): NotFound {
  return new NotFound(`record not found: ${whyNotFound(kind, id)}`);
}

/** For a resource that the caller may see, but that the organization in `org_id` does not own. */
export function notOfOrganization(kind: IdKind, id: string, organization: string): NotFound {
  return new NotFound(
    `record not found: ${nounOf(kind)} ${id} does not belong to organization ${organization}: leave out org_id, or name its owner`,
  );
}

/** `sc_x is the id of a saved component; the id of a source begins with dc_`. */
export function whyNotFound(kind: IdKind, id: string): string {
  const shown = id.slice(0, 80);
  const given = kindOfId(id);
  if (given === kind) return `there is no ${nounOf(kind)} ${shown} of yours or of your organizations`;
  const expected = `the id of ${kindNouns[kind]} begins with ${idPrefixes[kind]}_`;
  if (given !== undefined) return `${shown} is the id of ${kindNouns[given]}; ${expected}${hintFor(given, kind, shown)}`;
  return kind === "source" ? `no source of yours has the id or the name_slug '${shown}'` : `'${shown}' is not an id; ${expected}`;
}

/** `a saved component` → `saved component`. */
const nounOf = (kind: IdKind): string => kindNouns[kind].replace(/^an? /, "");

/** How to get from the one to the other. */
function hintFor(given: IdKind, expected: IdKind, id: string): string {
  if (given === "component" && expected === "source") return `; POST /v1/sources with {"component_id": "${id}"} deploys it`;
  if (given === "source" && expected === "component") return `; GET /v1/sources/${id} names its component_id`;
  return "";
}
