import type { Encoding, Fields, ReceivedRequest } from "./contract.ts";

/** The body as its encoding says: a value of JSON, fields, or text. What is not of that encoding is shown as text. */
export async function parseBody({ bytes, headers }: ReceivedRequest, encoding: Encoding): Promise<unknown> {
  switch (encoding) {
    case "json":
      return parseJson(bytes.toString());
    case "form":
      return fieldsOf([...new URLSearchParams(bytes.toString())]);
    case "multipart":
      return parseMultipart(bytes, headers["content-type"] ?? "");
    case "text":
    case "none":
      return bytes.toString();
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** RFC 7578: a part without a file name or a type of its own is its text. */
function parseMultipart(bytes: Buffer, type: string): unknown {
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1];
  const text = bytes.toString();
  if (boundary === undefined || !text.trimEnd().endsWith(`--${boundary}--`)) return text;
  const parts = text.split(`--${boundary}`).slice(1, -1);
  return fieldsOf(parts.map(partOf));
}

function partOf(part: string): readonly [name: string, value: unknown] {
  const [head = "", ...rest] = part.replace(/^\r\n/, "").split("\r\n\r\n");
  const text = rest.join("\r\n\r\n").replace(/\r\n$/, "");
  const [, name = ""] = /[; ]name="([^"]*)"/i.exec(head) ?? [];
  const [, filename] = /filename="([^"]*)"/i.exec(head) ?? [];
  const [, type] = /content-type: *(\S+)/i.exec(head) ?? [];
  if (filename === undefined && type === undefined) return [name, text];
  return [name, { ...(filename === undefined ? {} : { filename }), ...(type === undefined ? {} : { type }), text }];
}

/** A field that is sent twice is a list. */
function fieldsOf(entries: readonly (readonly [string, unknown])[]): Fields {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of entries) {
    const known = fields[name];
    fields[name] = known === undefined ? value : [...(Array.isArray(known) ? (known as unknown[]) : [known]), value];
  }
  return fields;
}
