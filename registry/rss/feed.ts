import { parseXml, type Element } from "./xml.ts";

export interface Entry {
  /** The guid or id, else the link, else the title and date: what stays the same while the entry does. */
  readonly id: string;
  readonly title: string;
  readonly link: string | null;
  /** ISO 8601. */
  readonly published: string | null;
  readonly summary: string | null;
  readonly content: string | null;
  readonly author: string | null;
  readonly categories: readonly string[];
}

export interface Feed {
  readonly title: string;
  /** As the feed orders them: newest first, nearly always. */
  readonly entries: readonly Entry[];
}

/** RSS 0.9 to 2.0, RDF, Atom, or JSON Feed. @throws Error for anything else */
export function parseFeed(text: string, url: string): Feed {
  const json = /^\s*\{/.test(text) ? parseJsonFeed(text) : undefined;
  if (json !== undefined) return json;
  const document = parseXml(text);
  const channel = find(document, ["channel"]) ?? find(document, ["feed", "atom:feed"]);
  if (channel === undefined) throw new Error(`${url} is no feed: it begins with ${JSON.stringify(text.trimStart().slice(0, 60))}`);
  const items = findAll(document, ["item", "entry", "atom:entry"]);
  return { title: textOf(channel, ["title", "atom:title"]) ?? url, entries: items.map(readEntry).filter((entry) => entry !== undefined) };
}

function readEntry(item: Element): Entry | undefined {
  const title = textOf(item, ["title", "atom:title"]);
  const guid = textOf(item, ["guid", "id", "atom:id"]) ?? item.attributes["rdf:about"];
  const link = linkOf(item);
  const date = isoDate(textOf(item, ["pubdate", "published", "atom:published", "dc:date", "updated", "atom:updated"]));
  const id = guid ?? link ?? (title === null ? undefined : `${title} ${date ?? ""}`);
  if (id === undefined) return undefined;
  return {
    id,
    title: title ?? link ?? id,
    link: link ?? (guid !== null && /^https?:/.test(guid ?? "") ? (guid ?? null) : null),
    published: date,
    summary: textOf(item, ["description", "summary", "atom:summary"]),
    content: textOf(item, ["content:encoded", "content", "atom:content"]),
    author: authorOf(item),
    categories: item.children
      .filter(({ name }) => ["category", "dc:subject", "atom:category"].includes(name))
      .map(({ attributes, text }) => (attributes["term"] ?? text).trim())
      .filter((category) => category !== ""),
  };
}

/** Atom has several, of which the alternate one is the page; RSS has one, as text. */
function linkOf(item: Element): string | null {
  const links = item.children.filter(({ name }) => name === "link" || name === "atom:link");
  const alternate = links.find(({ attributes }) => attributes["href"] !== undefined && (attributes["rel"] ?? "alternate") === "alternate");
  return alternate?.attributes["href"] ?? links.map(({ text }) => text.trim()).find((text) => text !== "") ?? null;
}

function authorOf(item: Element): string | null {
  const author = item.children.find(({ name }) => name === "author" || name === "atom:author");
  const name = author === undefined ? null : (textOf(author, ["name", "atom:name"]) ?? author.text.trim());
  return name ?? textOf(item, ["dc:creator"]);
}

/** Text of the first of these children that has some, the names in order of preference. */
function textOf(element: Element, names: readonly string[]): string | null {
  const texts = names.flatMap((name) => element.children.filter((child) => child.name === name).map(({ text }) => text.trim()));
  return texts.find((text) => text !== "") ?? null;
}

function find(element: Element, names: readonly string[]): Element | undefined {
  return findAll(element, names)[0];
}

/** Not within what was found: an entry's source may hold elements of the same name. */
function findAll(element: Element, names: readonly string[]): readonly Element[] {
  return element.children.flatMap((child) => (names.includes(child.name) ? [child] : findAll(child, names)));
}

function isoDate(text: string | null): string | null {
  if (text === null) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const asText = (value: unknown): string | null => (typeof value === "string" || typeof value === "number" ? String(value) : null);

function parseJsonFeed(text: string): Feed | undefined {
  const feed: unknown = parseJson(text);
  if (!isFields(feed) || !Array.isArray(feed["items"])) return undefined;
  const entries = feed["items"].filter(isFields).flatMap((item): Entry[] => {
    const link = asText(item["url"]) ?? asText(item["external_url"]);
    const id = asText(item["id"]) ?? link;
    const authors: unknown = Array.isArray(item["authors"]) ? item["authors"][0] : item["author"];
    const tags: unknown = item["tags"];
    if (id === null) return [];
    return [
      {
        id,
        title: asText(item["title"]) ?? link ?? id,
        link,
        published: isoDate(asText(item["date_published"])),
        summary: asText(item["summary"]),
        content: asText(item["content_html"]) ?? asText(item["content_text"]),
        author: isFields(authors) ? asText(authors["name"]) : null,
        categories: Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [],
      },
    ];
  });
  return { title: asText(feed["title"]) ?? "", entries };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
