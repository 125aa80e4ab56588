import { NotFound } from "../../domain/errors.ts";
import { idPrefixes, kindNouns, kindOfId, type IdKind } from "../../domain/ids.ts";

/** Answers what does not exist and what belongs to others alike: the message follows from the id alone. */
export function notFound(kind: IdKind, id: string): NotFound {
  return new NotFound(`record not found: ${whyNotFound(kind, id)}`);
}

/** `sc_x is the id of a saved component; the id of a source begins with dc_`. */
export function whyNotFound(kind: IdKind, id: string): string {
  const shown = id.slice(0, 80);
  const given = kindOfId(id);
  if (given === kind) return `there is no ${nounOf(kind)} ${shown} of yours or of your organizations`;
  const wanted = `the id of ${kindNouns[kind]} begins with ${idPrefixes[kind]}_`;
  if (given !== undefined) return `${shown} is the id of ${kindNouns[given]}; ${wanted}${wayOn(given, kind, shown)}`;
  return kind === "source" ? `no source of yours has the id or the name_slug '${shown}'` : `'${shown}' is no id; ${wanted}`;
}

/** `a saved component` → `saved component`. */
const nounOf = (kind: IdKind): string => kindNouns[kind].replace(/^an? /, "");

/** From the one to the other. */
function wayOn(given: IdKind, wanted: IdKind, id: string): string {
  if (given === "component" && wanted === "source") return `; POST /v1/sources with {"component_id": "${id}"} deploys it`;
  if (given === "source" && wanted === "component") return `; GET /v1/sources/${id} names its component_id`;
  return "";
}
