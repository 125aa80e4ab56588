import type { Item, Kind } from "../kinds/kind.ts";
import type { Manifest, Spec } from "./manifest.ts";
import type { Session } from "./session.ts";

/** A kind of custom resource, over the REST API. */
export interface ResourceKind {
  /** `Source`, `Webhook`, … */
  readonly name: string;
  /** The same things in lists. */
  readonly listed: Kind;
  /** Its spec, without defaults and secret values. */
  readonly specOf: (session: Session, item: Item) => Promise<Spec>;
  /** What the API would be sent for a spec, in the form of `specOf`: references to names as ids, files read. */
  readonly normalize: (session: Session, spec: Spec) => Promise<Spec>;
  readonly create: (session: Session, manifest: Manifest) => Promise<{ readonly data: { readonly id: string } }>;
  /** Absent: it never changes. */
  readonly update?: (session: Session, id: string, manifest: Manifest) => Promise<unknown>;
  /** Finds it by its content, for kinds without names. */
  readonly finds?: (session: Session, items: readonly Item[], manifest: Manifest) => Promise<Item | undefined>;
  /** Whether `hw export` prints it; by default all are. */
  readonly isExported?: (item: Item) => boolean;
  /** Name of the resource; by default from the item's names. */
  readonly nameOf?: (item: Item) => string;
}
