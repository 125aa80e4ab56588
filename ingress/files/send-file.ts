import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { create as contentDisposition } from "content-disposition";
import { contentType } from "mime-types";
import { HeadwaterError, NotFound } from "../../domain/errors.ts";
import { bytesOfPart } from "../../domain/files/file-url.ts";
import { fileLimits, fileRetries } from "../../domain/files/run-files.ts";
import { fileManifest } from "../../domain/files/schemas.ts";
import { parseJsonOrNull } from "../../domain/json.ts";
import type { Budget } from "../../domain/limits/budget.ts";
import { networkOf, type Client } from "../../domain/client-address.ts";
import { retry } from "../../domain/retry.ts";
import { overloaded, PublicError } from "../errors.ts";
import { Pace } from "../pace.ts";
import type { IngressConfig, IngressPorts } from "../ports.ts";
import { corsHeaders } from "../reply.ts";
import { written } from "../written.ts";
import { invalidUrl, type RequestedFile } from "./file-urls.ts";

export interface Sending {
  readonly config: Pick<IngressConfig, "requestTimeoutMs" | "minTransferRate">;
  readonly ports: { readonly files: Pick<IngressPorts["files"], "read"> };
  readonly clientOf: (request: IncomingMessage) => Client;
  /** Manifests that are being looked up, by the client's network. */
  readonly lookups: Budget;
  /** Files that are being sent, by owner. */
  readonly downloads: Budget;
}

/**
 * Sends a file part by part, as fast as the client reads: at most two parts are in memory.
 *
 * @throws PublicError 400 if the request has a body, 403 if the manifest is none, 404 if the file was deleted, 405, 503 while too many files are sent; Unavailable
 */
export async function sendFile(request: IncomingMessage, response: ServerResponse, file: RequestedFile, sending: Sending): Promise<void> {
  request.resume();
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    throw new PublicError(405, "method_not_allowed", `a file can be read with GET and HEAD, not ${request.method}`);
  }
  // Otherwise the limits of a body that does not arrive would end the file.
  if (hasBody(request)) throw new PublicError(400, "malformed", "a request for a file must have no body: send it without one");
  // First, because anyone may ask for manifests that do not exist, and waits for each as long as a replica of the store may need.
  const parts = await lookUpManifest(file, networkOf(sending.clientOf(request).address), sending);
  const permit = sending.downloads.open(file.of.owner);
  if (!permit.take(1)) throw overloaded("too many files of this owner are being read");
  try {
    // Before the headers, so that a deleted file is 404.
    const [first] = request.method === "HEAD" ? [] : parts;
    const begin = first === undefined ? undefined : await readPart(file, first, sending);
    response.writeHead(200, headersOf(file, parts));
    if (begin === undefined) return void response.end();
    await sendParts(response, begin, file, parts, sending);
  } catch (error) {
    // The client sees that bytes are missing: the length was sent.
    if (response.headersSent) response.destroy();
    throw error;
  } finally {
    permit.release();
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** Reads the next part while the client takes the current one. */
async function sendParts(
  response: ServerResponse,
  begin: Uint8Array,
  file: RequestedFile,
  parts: readonly string[],
  sending: Sending,
): Promise<void> {
  const { requestTimeoutMs: graceMs, minTransferRate: bytesPerSecond } = sending.config;
  const pace = new Pace({ graceMs, bytesPerSecond }, () => response.destroy());
  try {
    let bytes: Uint8Array | undefined = begin;
    for (let index = 1; bytes !== undefined; index++) {
      const part = parts[index];
      const next: Promise<Uint8Array | undefined> = part === undefined ? Promise.resolve(undefined) : readPart(file, part, sending);
      next.catch(() => undefined); // If the client leaves first, nothing awaits it.
      // Until the next part is read, it takes memory.
      if (!(await written(response, bytes))) return void (await next.catch(() => undefined));
      pace.moved(bytes.length);
      bytes = await pace.pauseFor(next);
    }
    response.end();
  } finally {
    pace.end();
  }
}

async function lookUpManifest(file: RequestedFile, network: string, sending: Sending): Promise<readonly string[]> {
  const permit = sending.lookups.open(network);
  if (!permit.take(1)) throw overloaded("too many files are being looked up");
  try {
    return await readManifest(file, sending);
  } finally {
    permit.release();
  }
}

async function readManifest(file: RequestedFile, sending: Sending): Promise<readonly string[]> {
  const text = Buffer.from(await readPart(file, file.manifest, sending)).toString("utf8");
  const manifest = fileManifest.safeParse(parseJsonOrNull(text));
  if (!manifest.success) throw invalidUrl();
  return manifest.data;
}

async function readPart({ of }: RequestedFile, part: string, { ports: { files } }: Sending): Promise<Uint8Array> {
  const bytes = await retry(() => files.read(of, part), fileRetries).catch((error: unknown) => {
    if (error instanceof NotFound) throw gone(error);
    throw error;
  });
  // Its size is in the length that was announced.
  const expected = bytesOfPart(part);
  if (bytes.length !== expected) throw new HeadwaterError(500, "internal", `a stored part has ${bytes.length} bytes, not ${expected}`);
  return bytes;
}

const gone = (cause: unknown): PublicError =>
  new PublicError(404, "files_gone", "this file was deleted: files are deleted within a day after the end of their run", { cause });

function headersOf({ name }: RequestedFile, parts: readonly string[]): OutgoingHttpHeaders {
  const bytes = parts.reduce((sum, part) => sum + bytesOfPart(part), 0);
  const shown = shownName(name);
  return {
    ...corsHeaders,
    "content-type": contentType(shown) || "application/octet-stream",
    "content-length": bytes,
    // User code has made the file: no browser may show or run it under this address.
    "content-disposition": contentDisposition(shown),
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "private",
    "accept-ranges": "none",
  };
}

/** The last name of a path, without what a header or a file system would misread. */
function shownName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? "";
  // oxlint-disable-next-line no-control-regex -- These are what must not be in a header.
  const cut = last.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "_").slice(-fileLimits.shownCharacters);
  return cut.toWellFormed() || "file"; // The cut may be within a surrogate pair.
}
