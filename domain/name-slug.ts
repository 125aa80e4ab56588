// Letters that Unicode does not decompose into a base letter and marks.
const folded: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};
const maxLength = 60;

/**
 * The slug of a name: lower-case ASCII letters and digits with single dashes between them, at most 60 characters. A name that has no such
 * letter (日本) becomes `source`.
 */
export function nameSlug(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[ßæœøłđðþı]/g, (letter) => folded[letter] ?? "");
  const slug = plain
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "")
    .slice(0, maxLength)
    .replace(/-$/, "");
  return slug === "" ? "source" : slug;
}

/** The slug itself, else the first of `-2`, `-3`, … that is free. */
export function uniqueSlug(slug: string, taken: (slug: string) => boolean): string {
  if (!taken(slug)) return slug;
  let number = 2;
  while (taken(`${slug}-${number}`)) number++;
  return `${slug}-${number}`;
}
