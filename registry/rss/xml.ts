/** An element of a document: names in lower case, with their prefix. */
export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** All text in it and below it, and CDATA, in order; of markup that was not escaped, as it is written. */
  readonly text: string;
}

interface Open {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

const maxDepth = 200;

/**
 * Reads what feeds are made of. Feeds are often broken, so this is lenient: what is not closed is closed by its parent's end, what was
 * not opened is passed over. Reads each character once.
 */
export function parseXml(text: string): Element {
  const root: Open = { name: "", attributes: {}, children: [], text: "" };
  const open: Open[] = [root];
  let at = 0;
  while (at < text.length) {
    const tag = text.indexOf("<", at);
    append(open, decodeEntities(text.slice(at, tag < 0 ? text.length : tag)));
    if (tag < 0) break;
    at = readMarkup(text, tag, open);
  }
  while (open.length > 1) close(open);
  return root;
}

/** @returns where the markup ends */
function readMarkup(text: string, tag: number, open: Open[]): number {
  if (text.startsWith("<!--", tag)) return after(text, "-->", tag);
  if (text.startsWith("<![CDATA[", tag)) {
    const end = text.indexOf("]]>", tag);
    append(open, text.slice(tag + 9, end < 0 ? text.length : end));
    return end < 0 ? text.length : end + 3;
  }
  const end = endOfTag(text, tag);
  const inner = text.slice(tag + 1, end - 1);
  if (inner.startsWith("/")) closeNamed(open, inner.slice(1).trim().toLowerCase());
  else if (!/^[?!]/.test(inner)) openElement(open, inner);
  return end;
}

const after = (text: string, what: string, from: number): number => {
  const found = text.indexOf(what, from);
  return found < 0 ? text.length : found + what.length;
};

/** A `>` within quotes ends nothing. */
function endOfTag(text: string, from: number): number {
  let quote = "";
  for (let at = from; at < text.length; at++) {
    const character = text[at] ?? "";
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (character === ">") return at + 1;
  }
  return text.length;
}

function openElement(open: Open[], inner: string): void {
  const name = /^[^\s/]+/.exec(inner)?.[0].toLowerCase() ?? "";
  const attributes: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [, key = "", double, single] of inner.slice(name.length).matchAll(/([^\s=/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g))
    attributes[key.toLowerCase()] = decodeEntities(double ?? single ?? "");
  open.push({ name, attributes, children: [], text: "" });
  if (inner.endsWith("/") || open.length > maxDepth) close(open);
}

function closeNamed(open: Open[], name: string): void {
  const depth = open.findLastIndex((element) => element.name === name);
  while (depth > 0 && open.length > depth) close(open);
}

function close(open: Open[]): void {
  const element = open.pop();
  if (element === undefined) return;
  open.at(-1)?.children.push(element);
  append(open, element.text);
}

function append(open: readonly Open[], text: string): void {
  const element = open.at(-1);
  if (element !== undefined && open.length > 1) element.text += text;
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00A0" };

export function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,5}));/gi, (all, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return named[name.toLowerCase()] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : all;
  });
}
