import type { DataStoreResource } from "../../crds/data-store.ts";
import {
  bytesOf,
  dataStoreLimits,
  type OperationOf,
  type ResultOf,
  type StoreEntry,
  type StoreOperation,
} from "../../domain/data-store/data-stores.ts";
import { InvalidInput, Invariant, NotFound } from "../../domain/errors.ts";
import type { ApiContext } from "../context.ts";
import type { Answered } from "../http/response/answered.ts";
import type { ListPart } from "../http/response/list-parts.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { entrySchema } from "./schemas.ts";

/** Performs an operation in the name of the store's owner. */
export async function performOn<Kind extends StoreOperation["kind"]>(
  store: DataStoreResource,
  operation: OperationOf<Kind>,
  { access, ports }: ApiContext,
): Promise<ResultOf<Kind>> {
  const owner = await access.ownerOf(store);
  if (owner === undefined) throw new NotFound(`the data store ${publicIdOf(store)} has no owner`, { code: "data_store_not_found" });
  const result = await ports.dataStores.perform({ owner, store: publicIdOf(store), operation: operation as StoreOperation });
  if (result.kind !== operation.kind) throw new Invariant(`operation '${operation.kind}' returned a result of '${result.kind}'`);
  return result as ResultOf<Kind>; // Of the kind that was asked for.
}

interface EntryPage {
  readonly limit: number;
  readonly after: string | undefined;
  readonly withValues: boolean;
}

/** A page in parts, so that not all of its values are in memory at once. */
export async function* entryParts(
  store: DataStoreResource,
  { limit, after, withValues }: EntryPage,
  context: ApiContext,
): AsyncGenerator<ListPart<readonly Answered<typeof entrySchema>[]>> {
  const { entries: total } = await performOn(store, { kind: "size" }, context);
  let left = limit;
  let from = after;
  for (;;) {
    const position = from === undefined ? {} : { after: from };
    const { entries, next } = await performOn<"list">(store, { kind: "list", limit: left, withValues, ...position }, context);
    left -= entries.length;
    const isLast = next === null || left === 0;
    yield { data: entries.map(entryResponse), ids: entries.map(({ key }) => key), total, isLast };
    if (isLast) return;
    from = next;
  }
}

export function entryResponse({ key, value, version, bytes, updatedAt, expiresAt }: StoreEntry): Answered<typeof entrySchema> {
  return {
    key,
    ...(value === undefined ? {} : { value: JSON.parse(value) as unknown }),
    version,
    bytes,
    updated_at: new Date(updatedAt).toISOString(),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}

/** @throws InvalidInput for a value that is too large */
export function storedText(value: unknown): string {
  const text = JSON.stringify(value);
  const bytes = bytesOf(text);
  if (bytes <= dataStoreLimits.valueBytes) return text;
  throw new InvalidInput(
    `the value has ${bytes} bytes of JSON, the limit is ${dataStoreLimits.valueBytes}: store less, or store it in parts`,
  );
}

export const noEntry = (key: string): NotFound => new NotFound(`the key '${key.slice(0, 80)}' does not exist in the data store`);
