import { ownFieldManager, type Writer } from "../../../crds/resource.ts";
import type { ManagedFieldsEntry } from "../object.ts";

/** The writers of the spec and metadata. Only the operator writes statuses. */
export function writersFrom(entries: readonly ManagedFieldsEntry[] = []): readonly Writer[] {
  const writers = entries.flatMap(({ manager, operation, time, subresource }) => {
    const at = Date.parse(time ?? "");
    return subresource === "status" || Number.isNaN(at) ? [] : [{ manager, operation, at }];
  });
  const own = writers.filter(({ manager }) => manager === ownFieldManager);
  const [newest] = own.toSorted((a, b) => b.at - a.at);
  return [...writers.filter((writer) => !own.includes(writer)), ...(newest === undefined ? [] : [newest])];
}
