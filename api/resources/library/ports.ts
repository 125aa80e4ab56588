import type { ComponentSpec, ComponentStatus } from "../../../crds/component.ts";
import type { Resource } from "../../../crds/resource.ts";
import type { ComponentCode } from "../../../domain/component/component-code.ts";
import type { ComponentDefinition } from "../../../domain/component/definition.ts";
import type { PageRequest } from "../../../domain/page.ts";

/** A component without its code. */
export interface ListedComponent {
  /** Public id. */
  readonly id: string;
  readonly definition: ComponentDefinition;
  /** SHA-256, lower-case hex. */
  readonly codeHash: string;
  /** Epoch ms. */
  readonly createdAtMs: number;
  /** Epoch ms. */
  readonly updatedAtMs: number;
  /** Whether it is part of the registry. */
  readonly isPublished: boolean;
}

/** A component of the registry, available to all owners. */
export interface PublishedCode extends ComponentCode {
  readonly key: string;
  /** The definition in its code. */
  readonly definition: ComponentDefinition;
  /** `YYYY-MM-DD` of its version. */
  readonly released: string;
}

export interface PublishedComponent extends ListedComponent, PublishedCode {}

/** A version of a component that an admin of the installation published. */
export interface Publication extends PublishedComponent {
  readonly version: string;
  /** Why it is deprecated, and what to use instead; null: it is not. */
  readonly deprecated: string | null;
}

/** A version without its code. */
export interface ListedPublication extends ListedComponent {
  readonly version: string;
  readonly deprecated: string | null;
}

/** A version to publish. */
export interface NewPublication extends ComponentCode {
  /** Public id, derived from the key and the version. */
  readonly id: string;
  readonly key: string;
  readonly version: string;
  readonly definition: ComponentDefinition;
  /** Epoch ms. */
  readonly publishedAtMs: number;
}

/**
 * - `published`: it is new; `existing`: it was published before with the same code
 * - `other-code`, `deleted`: the version was published with other code, or was deleted, and cannot be used again
 * - `key-full`, `full`: the bounds of the key, or of all versions together, are reached
 */
export type PublishOutcome = "published" | "existing" | "other-code" | "deleted" | "key-full" | "full";

/** The versions that admins have published. A version is never changed: it can be deprecated, and then deleted. */
export interface Publications {
  publish(version: NewPublication): Promise<PublishOutcome>;
  /** The version; by default, the current one of the key, see `currentVersion`. */
  find(key: string, version?: string): Promise<Publication | undefined>;
  /** Current versions that are not deprecated, by key. */
  listCurrent(limit: number): Promise<{ readonly items: readonly ListedPublication[]; readonly total: number }>;
  /** Newest first. */
  listVersions(key: string): Promise<readonly ListedPublication[]>;
  /** Why the version is deprecated; null: it is not, or there is none. */
  deprecationOf(key: string, version: string): Promise<string | null>;
  /** Some keys with the beginning. */
  keysLike(beginning: string): Promise<readonly string[]>;
  /** Null: no longer deprecated. @returns false if there is no such version */
  deprecate(key: string, version: string, deprecated: string | null): Promise<boolean>;
  /** Deletes a deprecated version. Its number is never used again. */
  delete(key: string, version: string): Promise<"deleted" | "absent" | "not-deprecated">;
}

export interface ComponentQuery {
  /** Owners' namespaces in order of preference: of two components with one key, the one of the first namespace counts. */
  readonly namespaces: readonly string[];
  /** Lower-case words to look for in the name, the key, the description and the apps. None: everything. */
  readonly words: readonly string[];
  /** Share of the words that must occur: 1 is all, 0 none. */
  readonly similarity: number;
  /** Slug of an app among the props. */
  readonly app?: string | undefined;
  readonly type?: ComponentDefinition["type"] | undefined;
  /** Only components that have a key. */
  readonly keyed?: boolean;
  readonly limit: number;
  /** Components that come with Headwater, to search as well. Of a key, the owner's component counts; published versions are searched too. */
  readonly published: readonly ListedComponent[];
}

export interface ListedComponents {
  readonly items: readonly ListedComponent[];
  /** Size of the whole list. */
  readonly total: number;
}

export interface NamedComponent {
  /** Public id. */
  readonly id: string;
  readonly definition: ComponentDefinition | undefined;
}

/** Lists and searches of built components, without code. In a cluster it lags slightly. */
export interface ComponentLibrary {
  /** Newest first; cursors are public ids. @param selection `keyLabel`: only components with this key @throws InvalidInput for a cursor that is not in the list */
  listPage(selection: { readonly namespace: string; readonly keyLabel?: string }, page: PageRequest): Promise<ListedComponents>;
  /** Best first: more of the words, then equal names and keys, then beginnings of words, names before descriptions, newer before older. Returns the newest component per key, among a bounded number per owner. */
  search(query: ComponentQuery): Promise<ListedComponents>;
  /** Finds components by resource name. Unbuilt ones have no definition; absent ones are omitted. */
  findNamed(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, NamedComponent>>;
  /** The newest component with this key and version. */
  findVersion(namespace: string, keyLabel: string, version: string): Promise<Resource<ComponentSpec, ComponentStatus> | undefined>;
}
