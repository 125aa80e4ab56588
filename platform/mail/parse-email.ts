import PostalMime, { type Address, type Email } from "postal-mime";
import { InvalidInput } from "../../domain/errors.ts";
import type { EmailAddress, EmailContent } from "../../domain/invocation/email-event.ts";

/** Bounds of what the parser follows: deeper messages are refused, so that none costs seconds. */
const limits = { maxNestingDepth: 32, maxHeadersSize: 256 * 1024, maxRfc822NestingDepth: 0 } as const;

/** Reads a message (RFC 5322, MIME). Text is decoded by its charset; attached messages are attachments. @throws InvalidInput */
export async function parseEmail(raw: Buffer): Promise<EmailContent> {
  checkLines(raw);
  const email = await PostalMime.parse(raw, { ...limits, attachmentEncoding: "base64" }).catch((cause: unknown) => {
    throw new InvalidInput(cause instanceof Error ? cause.message : String(cause), { cause });
  });
  const { from, to, cc, replyTo, subject, text, html, date, messageId, attachments } = email;
  return {
    from: mailboxes(from === undefined ? [] : [from])[0] ?? null,
    to: mailboxes(to),
    cc: mailboxes(cc),
    reply_to: mailboxes(replyTo),
    subject: subject ?? "",
    text: text ?? "",
    html: html ?? "",
    date: date ?? null,
    message_id: messageId ?? null,
    headers: headersOf(email),
    attachments: attachments.map(({ filename, mimeType, content, contentId }) => {
      const base64 = typeof content === "string" ? content : Buffer.from(new Uint8Array(content)).toString("base64");
      return {
        filename,
        contentType: mimeType,
        size: Buffer.byteLength(base64, "base64"),
        content: base64,
        ...(contentId === undefined ? {} : { contentId: contentId.replace(/^<(.*)>$/, "$1") }),
      };
    }),
  };
}

/** The cost of reading is that of lines. Those of attachments have 76 characters. @throws InvalidInput */
function checkLines(raw: Buffer): void {
  const most = freeLines + raw.length / charactersOfLine;
  let lines = 0;
  for (let at = raw.indexOf(newline); at !== -1; at = raw.indexOf(newline, at + 1))
    if (++lines > most) throw new InvalidInput(`it has more than ${Math.floor(most)} lines, which is too many for ${raw.length} bytes`);
}

const newline = 10;
const [freeLines, charactersOfLine] = [20_000, 60];

const mailboxes = (addresses: readonly Address[] = []): readonly EmailAddress[] =>
  addresses.flatMap((each) => (each.group === undefined ? [{ name: each.name, address: each.address }] : each.group)).map(withoutMore);

const withoutMore = ({ name, address }: EmailAddress): EmailAddress => ({ name, address });

function headersOf({ headers }: Email): EmailContent["headers"] {
  const byName = new Map<string, string | string[]>();
  for (const { key, value } of headers) {
    const held = byName.get(key);
    // Append in place: copying for each of thousands of one name would take long.
    if (Array.isArray(held)) held.push(value);
    else byName.set(key, held === undefined ? value : [held, value]);
  }
  return Object.fromEntries(byName);
}
