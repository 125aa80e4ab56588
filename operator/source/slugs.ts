import { nameSlug, uniqueSlug } from "../../domain/name-slug.ts";
import { keyOf } from "../controller/informer.ts";
import type { SourceResource } from "./resources.ts";

interface Taken {
  /** Key of the source that has it, by slug. */
  readonly holders: Map<string, string>;
  /** More than one while a source is renamed. */
  readonly slugs: Map<string, Set<string>>;
}

/**
 * Who has which slug within an owner's namespace. Kept by the one operator that leads, from what it has seen and what it
 * has given out: two sources of one name, reconciled at once, get two slugs.
 */
export class Slugs {
  readonly #byNamespace = new Map<string, Taken>();

  /** The source's slug if it still fits its name, else a free one, taken from now on beside the one it has. */
  claim(source: SourceResource): string {
    const taken = this.#taken(source);
    const key = keyOf(source);
    const wanted = wantedSlug(source);
    const isFree = (slug: string): boolean => (taken.holders.get(slug) ?? key) === key;
    const mine = [source.status.nameSlug, ...(taken.slugs.get(key) ?? [])];
    const known = mine.find((slug) => slug !== undefined && fits(slug, wanted) && isFree(slug));
    const slug = known ?? uniqueSlug(wanted, (candidate) => !isFree(candidate));
    take(taken, slug, key);
    return slug;
  }

  release(source: SourceResource): void {
    const taken = this.#taken(source);
    const key = keyOf(source);
    for (const slug of taken.slugs.get(key) ?? []) taken.holders.delete(slug);
    taken.slugs.delete(key);
  }

  /** A source has what its status says, beside what it claims for another name; any former slug is free again. */
  remember(source: SourceResource): void {
    const slug = source.status.nameSlug;
    if (slug === undefined) return;
    const taken = this.#taken(source);
    const key = keyOf(source);
    for (const each of taken.slugs.get(key) ?? []) {
      if (each === slug || fits(each, wantedSlug(source))) continue;
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

const wantedSlug = ({ spec, metadata }: SourceResource): string => nameSlug(spec.name ?? metadata.name);

function take({ holders, slugs }: Taken, slug: string, key: string): void {
  const before = holders.get(slug);
  if (before !== undefined && before !== key) slugs.get(before)?.delete(slug);
  holders.set(slug, key);
  const own = slugs.get(key);
  if (own === undefined) slugs.set(key, new Set([slug]));
  else own.add(slug);
}

function fits(slug: string, wanted: string): boolean {
  return slug === wanted || (slug.startsWith(`${wanted}-`) && /^\d+$/.test(slug.slice(wanted.length + 1)));
}
