import type { FormFile } from "headwater/types";

export interface Address {
  readonly address: string;
  readonly name: string | null;
}

export interface Attachment {
  readonly filename: string;
  readonly content_type: string;
  /** Bytes. */
  readonly size: number;
  /** Base64; null where it was left out. */
  readonly content: string | null;
}

/** A mail, whichever gateway brought it. */
export interface Message {
  readonly id: string | null;
  readonly from: Address | null;
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly subject: string;
  readonly text: string | null;
  readonly html: string | null;
  /** As the gateway sends them: names as in the mail. */
  readonly headers: Readonly<Record<string, string>>;
  readonly attachments: readonly Attachment[];
}

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** The first of these fields that is a text with something in it, whatever the case of its name. Dots lead into objects. */
function pick(fields: Fields, ...paths: readonly string[]): string | null {
  for (const path of paths) {
    const value = path.split(".").reduce<unknown>((at, name) => (isFields(at) ? fieldOf(at, name) : undefined), fields);
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

function fieldOf(fields: Fields, name: string): unknown {
  const found = Object.keys(fields).find((key) => key.toLowerCase() === name);
  return found === undefined ? undefined : fields[found];
}

/**
 * Reads what mail gateways post: Postmark, Mailgun, SendGrid's Inbound Parse, CloudMailin, Mandrill's message and those like them, as
 * JSON, as a form or as multipart. Undefined for what names neither a sender nor a receiver.
 */
export function readMessage(body: unknown): Message | undefined {
  if (!isFields(body)) return undefined;
  const headers = headersOf(fieldOf(body, "headers") ?? fieldOf(body, "message-headers"));
  const header = (name: string): string | null => pick(headers, name);
  const from = pick(body, "from", "from.email", "from.value", "sender", "envelope.from") ?? header("from");
  const to = listOf(fieldOf(body, "tofull")) ?? pick(body, "to", "recipient", "envelope.to") ?? header("to");
  if (from === null && to === null) return undefined;
  return {
    id:
      (pick(body, "message-id", "messageid", "message_id", "headers.message_id") ?? header("message-id"))?.replace(/^<(.*)>$/, "$1") ??
      null,
    from: addressesOf(from)[0] ?? null,
    to: addressesOf(to),
    cc: addressesOf(listOf(fieldOf(body, "ccfull")) ?? pick(body, "cc") ?? header("cc")),
    subject: pick(body, "subject", "headers.subject") ?? header("subject") ?? "",
    text: pick(body, "text", "textbody", "body-plain", "plain"),
    html: pick(body, "html", "htmlbody", "body-html"),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    attachments: attachmentsOf(body),
  };
}

/** `"Ann" <ann@example.com>, bob@example.com`; a comma within quotes or brackets divides nothing. */
export function addressesOf(text: string | null): readonly Address[] {
  if (text === null) return [];
  const parts = text.match(/(?:"(?:\\.|[^"\\])*"|<[^>]*>|[^,;"<])+/g) ?? [];
  return parts.flatMap((part) => {
    const [, name = "", address] = /^\s*(.*?)\s*<([^>]*)>\s*$/.exec(part) ?? [undefined, "", part];
    const plain = (address ?? "").trim();
    const shown = name.replace(/^"(.*)"$/, "$1").replaceAll(/\\(.)/g, "$1");
    return plain === "" ? [] : [{ address: plain, name: shown === "" ? null : shown }];
  });
}

/** `[{Email, Name}]` as the text that others write. */
function listOf(value: unknown): string | null {
  if (!Array.isArray(value)) return null;
  return value
    .filter(isFields)
    .map((each) => `"${(pick(each, "name") ?? "").replaceAll(/["\\]/g, "")}" <${pick(each, "email") ?? ""}>`)
    .join(", ");
}

/** An object, `[[name, value]]`, `[{Name, Value}]`, one of these as JSON, or the lines of the mail. */
function headersOf(value: unknown): Fields {
  if (isFields(value)) return value;
  if (typeof value === "string") return headersOf(parseJson(value) ?? linesOf(value));
  if (!Array.isArray(value)) return {};
  const pairs = value.map((each): readonly unknown[] =>
    isFields(each) ? [fieldOf(each, "name"), fieldOf(each, "value")] : Array.isArray(each) ? each : [],
  );
  return Object.fromEntries(pairs.flatMap(([name, text]) => (typeof name === "string" ? [[name, text]] : [])));
}

function linesOf(text: string): readonly (readonly string[])[] {
  const unfolded = text.replaceAll(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  return unfolded.flatMap((line) => {
    const [, name, value] = /^([!-9;-~]+):\s*(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
}

/** Files of a multipart body, wherever they are, or `attachments` with base64 in it. */
function attachmentsOf(body: Fields): readonly Attachment[] {
  const listed = fieldOf(body, "attachments");
  const declared = (Array.isArray(listed) ? listed : isFields(listed) ? Object.values(listed) : []).filter(
    (each) => isFields(each) && !isFile(each),
  );
  const files = Object.values(body).flat().filter(isFile);
  return [...files.map(ofFile), ...declared.map(ofJson)];
}

const isFile = (value: unknown): value is FormFile =>
  isFields(value) &&
  typeof value["filename"] === "string" &&
  typeof value["content"] === "string" &&
  typeof value["contentType"] === "string";

const ofFile = ({ filename, contentType, size, content }: FormFile): Attachment => ({ filename, content_type: contentType, size, content });

function ofJson(fields: Fields): Attachment {
  const content = pick(fields, "content", "data");
  return {
    filename: pick(fields, "name", "file_name", "filename") ?? "",
    content_type: pick(fields, "contenttype", "content_type", "type") ?? "application/octet-stream",
    size: content === null ? 0 : Buffer.from(content, "base64").length,
    content,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
