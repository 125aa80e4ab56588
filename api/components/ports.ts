import type { ComponentSpec, ComponentStatus } from "../../crds/component.ts";
import type { Resource } from "../../crds/resource.ts";
import type { ComponentCode } from "../../domain/component-code.ts";
import type { ComponentDefinition } from "../../domain/definition.ts";
import type { PageRequest } from "../../domain/page.ts";

/** What lists say of a component: all but its code. */
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
  /** Is it one of the registry, rather than somebody's own? */
  readonly isPublished: boolean;
}

/** What comes with the installation, for everybody. */
export interface PublishedCode extends ComponentCode {
  readonly key: string;
  /** What the builder will read from its code. */
  readonly definition: ComponentDefinition;
  /** `YYYY-MM-DD` of its version. */
  readonly released: string;
}

export interface PublishedComponent extends ListedComponent, PublishedCode {}

/** Components of the registry by their keys. */
export type Registry = ReadonlyMap<string, PublishedComponent>;

export interface ComponentQuery {
  /** Owners' namespaces in order of preference: of two components with one key, the one of the first namespace counts. */
  readonly namespaces: readonly string[];
  /** Lower-case words to look for in the name, the key, the description and the apps. None: everything. */
  readonly words: readonly string[];
  /** Share of the words that must occur: 1 is all, 0 none. */
  readonly similarity: number;
  /** Slug of an app that is among the props. */
  readonly app?: string | undefined;
  readonly type?: ComponentDefinition["type"] | undefined;
  /** Only components that have a key. */
  readonly keyed?: boolean;
  readonly limit: number;
  /** Searched as well; whoever owns a component of the same key does not find these. */
  readonly published: readonly ListedComponent[];
}

export interface ListedComponents {
  readonly items: readonly ListedComponent[];
  /** Of the whole list. */
  readonly total: number;
}

export interface NamedComponent {
  /** Public id. */
  readonly id: string;
  readonly definition: ComponentDefinition | undefined;
}

/** Components as lists and searches see them: built, without their code. In a cluster it lags a moment. */
export interface ComponentLibrary {
  /** Newest first; cursors are public ids. @param selection `keyLabel`: only those with this key @throws InvalidInput for a cursor that is not in the list */
  listPage(selection: { readonly namespace: string; readonly keyLabel?: string }, page: PageRequest): Promise<ListedComponents>;
  /** Best first: more of the words, then equal names and keys, then beginnings of words, names before descriptions, newer before older. One for each key, the newest, and of each owner among a bounded number. */
  search(query: ComponentQuery): Promise<ListedComponents>;
  /** By the names of their resources; a component that is not built has no definition, and an absent one is left out. */
  findNamed(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, NamedComponent>>;
  /** The newest of its versions that has this one. */
  findVersion(namespace: string, keyLabel: string, version: string): Promise<Resource<ComponentSpec, ComponentStatus> | undefined>;
}
