/** The body of a request for a prop's value. Sets the content type of what is not text unless the headers have one. */
export function bodyOf(value: unknown, headers: Headers): string | undefined {
  if (value === undefined || value === null || typeof value === "string") return value ?? undefined;
  if (/^application\/x-www-form-urlencoded\b/i.test(headers.get("content-type") ?? "") && typeof value === "object")
    return new URLSearchParams(Object.entries(value).map(([name, each]): [string, string] => [name, asText(each)])).toString();
  if (!headers.has("content-type")) headers.set("content-type", "application/json");
  return JSON.stringify(value);
}

const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** JSON parsed if it is valid; text as a string; other bytes in base64. Null without a body. */
export function dataOf(bytes: Uint8Array, type: string): unknown {
  if (bytes.byteLength === 0) return null;
  const text = textOf(bytes, type);
  if (text === undefined) return Buffer.from(bytes).toString("base64");
  return /[/+]json\b/i.test(type) ? parseJson(text) : text;
}

/** Undefined if the bytes are no text in the character set of their type. */
function textOf(bytes: Uint8Array, type: string): string | undefined {
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
