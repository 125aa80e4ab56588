import { setImmediate } from "node:timers/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DkimVerifier, type Headers, type HeaderField } from "mailauth/lib/dkim/dkim-verifier.js";
import { InvalidInput } from "../../domain/errors.ts";
import type { MailDns } from "./mail-dns.ts";

/** Signatures of a message that are verified: each hashes the message and looks up a key. */
const maxSignatures = 5;
/** Of the header: the cost of a signature is that of its fields times those that it names. */
const [maxHeaderBytes, maxHeaderLines] = [128 * 1024, 2_000];
/** Of any line: the cost of one is more than linear. Mail has lines of at most 1,000 bytes (RFC 5321), but not all senders care. */
const maxLineBytes = 256 * 1024;
/** Of a field that is parsed. */
const maxFieldBytes = 8 * 1024;
const parsedFields: ReadonlySet<string | null> = new Set(["from", "dkim-signature", "content-type"]);

/** Verifies the first signatures of a message, and finds its authors. @throws InvalidInput beyond a bound */
export async function verifySignatures(raw: Buffer, dns: MailDns): Promise<DkimVerifier> {
  checkLines(raw);
  // With a sender, none is looked for in the header.
  const verifier = new FirstSignatures({ resolver: dns.resolve, strict: true, sender: "<>" });
  await pipeline(Readable.from(chunksOf(raw, dns)), verifier);
  return verifier;
}

class FirstSignatures extends DkimVerifier {
  protected override async messageHeaders(headers: Headers): Promise<void> {
    for (const { key, line } of headers.parsed)
      if (parsedFields.has(key) && line.length > maxFieldBytes)
        throw new InvalidInput(`a field ${key} has ${line.length} bytes: it may have ${maxFieldBytes}`);
    let signatures = 0;
    const isUsed = ({ key }: HeaderField): boolean =>
      key === "dkim-signature" ? signatures++ < maxSignatures : key?.startsWith("arc-") !== true;
    await super.messageHeaders({ ...headers, parsed: headers.parsed.filter(isUsed) });
    // Signatures may cover the fields that were left out.
    this.headers = headers;
  }
}

/** Lets other messages continue between the chunks. @throws InvalidInput at the end of the time */
async function* chunksOf(raw: Buffer, dns: MailDns): AsyncGenerator<Buffer> {
  for (let at = 0; at < raw.length; at += chunkBytes) {
    if (dns.hasEnded) throw new InvalidInput("there is no time left");
    yield raw.subarray(at, at + chunkBytes);
    await setImmediate();
  }
}

const chunkBytes = 64 * 1024;

/** @throws InvalidInput */
function checkLines(raw: Buffer): void {
  let isHeader = true;
  for (let at = 0, lines = 1; at < raw.length; lines++) {
    const next = raw.indexOf(newline, at) + 1 || raw.length;
    const length = next - at;
    if (length > maxLineBytes) throw new InvalidInput(`a line has ${length} bytes: it may have ${maxLineBytes}`);
    // A line with a space continues the field before it.
    if (raw[at] === newline || (length === 2 && raw[at] === carriageReturn)) isHeader = false;
    if (isHeader && (lines > maxHeaderLines || next > maxHeaderBytes))
      throw new InvalidInput(`the header has more than ${maxHeaderLines} lines or ${maxHeaderBytes} bytes`);
    at = next;
  }
}

const [newline, carriageReturn] = [10, 13];
