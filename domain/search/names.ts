import { isId } from "../ids.ts";
import { nameSlug } from "../name-slug.ts";

/** What a query calls sources and workflows by, in the form in which each is compared. */
export interface EmitterPatterns {
  readonly ids: readonly string[];
  /** Globs of ids and names, in lower case. */
  readonly globs: readonly string[];
  /** Globs of slugs. */
  readonly slugs: readonly string[];
}

export interface EmitterNames {
  readonly id: string;
  readonly name: string;
  /** Absent: it has none. */
  readonly slug?: string | undefined;
}

/** @param names ids, names, or globs of names with `*` */
export function emitterPatterns(names: readonly string[]): EmitterPatterns {
  const others = names.filter((name) => !isEmitterId(name.toLowerCase()));
  return {
    ids: names.map((name) => name.toLowerCase()).filter(isEmitterId),
    globs: others.map((name) => name.toLowerCase()),
    slugs: others.map(slugGlob).filter((glob) => glob !== undefined),
  };
}

/** Whether one of the patterns is of this source or workflow. */
export function isNamedBy({ ids, globs, slugs }: EmitterPatterns, { id, name, slug }: EmitterNames): boolean {
  if (ids.includes(id)) return true;
  const [lowerId, lowerName] = [id.toLowerCase(), name.toLowerCase()];
  if (globs.some((glob) => isLike(lowerId, glob) || isLike(lowerName, glob))) return true;
  return slug !== undefined && slugs.some((glob) => isLike(slug, glob));
}

/** A text in the form of an id is compared only as an id, never as a name. */
const isEmitterId = (text: string): boolean => isId("source", text) || isId("workflow", text);

/** The slug of a glob. Undefined: a part has no letter or digit, so no slug is like it. */
function slugGlob(glob: string): string | undefined {
  const parts = glob.split("*");
  if (parts.some((part) => part !== "" && !/[a-z0-9]/i.test(part))) return undefined;
  return parts.map((part) => (part === "" ? "" : nameSlug(part))).join("*");
}

/** Takes the first place of each part, which takes no time that grows with the number of `*`. */
function isLike(text: string, glob: string): boolean {
  const [first = "", ...rest] = glob.split("*");
  const last = rest.pop();
  if (last === undefined) return text === glob;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}
