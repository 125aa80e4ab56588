import type { SourceResource } from "../../crds/source.ts";
import { nameSlug, uniqueSlug } from "../../domain/name-slug.ts";
import { keyOf } from "../controller/informer.ts";

interface Taken {
  /** Key of the holding source, by slug. */
  readonly holders: Map<string, string>;
  /** A source has several while it is renamed. */
  readonly slugs: Map<string, Set<string>>;
}

/**
 * Assigns unique slugs within a namespace. Only the leader does, from what it has observed and assigned: two sources of the same name that
 * are reconciled at once get different slugs.
 */
export class Slugs {
  readonly #byNamespace = new Map<string, Taken>();

  /** The source's slug if it still fits its name, else a free one, reserved in addition to the one it has. */
  claim(source: SourceResource): string {
    const taken = this.#taken(source);
    const key = keyOf(source);
    const desired = desiredSlug(source);
    const isFree = (slug: string): boolean => (taken.holders.get(slug) ?? key) === key;
    const own = [source.status.nameSlug, ...(taken.slugs.get(key) ?? [])];
    const known = own.find((slug) => slug !== undefined && fits(slug, desired) && isFree(slug));
    const slug = known ?? uniqueSlug(desired, (candidate) => !isFree(candidate));
    take(taken, slug, key);
    return slug;
  }

  release(source: SourceResource): void {
    const taken = this.#taken(source);
    const key = keyOf(source);
    for (const slug of taken.slugs.get(key) ?? []) taken.holders.delete(slug);
    taken.slugs.delete(key);
  }

  /** A source holds the slug in its status and the one reserved for a new name; other slugs become free. */
  remember(source: SourceResource): void {
    const slug = source.status.nameSlug;
    if (slug === undefined) return;
    const taken = this.#taken(source);
    const key = keyOf(source);
    for (const each of taken.slugs.get(key) ?? []) {
      if (each === slug || fits(each, desiredSlug(source))) continue;
      taken.slugs.get(key)?.delete(each);
      taken.holders.delete(each);
    }
    take(taken, slug, key);
  }

  #taken({ metadata: { namespace } }: SourceResource): Taken {
    const known = this.#byNamespace.get(namespace);
    if (known !== undefined) return known;
    const created: Taken = { holders: new Map(), slugs: new Map() };
    this.#byNamespace.set(namespace, created);
    return created;
  }
}

const desiredSlug = ({ spec, metadata }: SourceResource): string => nameSlug(spec.name ?? metadata.name);

function take({ holders, slugs }: Taken, slug: string, key: string): void {
  const before = holders.get(slug);
  if (before !== undefined && before !== key) slugs.get(before)?.delete(slug);
  holders.set(slug, key);
  const own = slugs.get(key);
  if (own === undefined) slugs.set(key, new Set([slug]));
  else own.add(slug);
}

function fits(slug: string, desired: string): boolean {
  return slug === desired || (slug.startsWith(`${desired}-`) && /^\d+$/.test(slug.slice(desired.length + 1)));
}
