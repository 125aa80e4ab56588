import type { IncomingMessage, ServerResponse } from "node:http";
import { extension } from "mime-types";
import type { Budget, BudgetEntry } from "../../domain/limits/budget.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import { ownerOf } from "../await-answer.ts";
import { overloaded, PublicError } from "../errors.ts";
import type { Target } from "../http-event.ts";
import type { Pace } from "../pace.ts";
import type { IngressConfig, IngressPorts } from "../ports.ts";
import { urlOfUpload } from "./file-urls.ts";
import { FormWriter, isForm, type StoredForm } from "./form-writer.ts";
import { PartWriter } from "./part-writer.ts";
import { endedEarly, UploadWrites } from "./upload-writes.ts";

export interface Storing {
  readonly config: Pick<IngressConfig, "bodyLimitBytes" | "uploadLimitBytes" | "publicUrl">;
  readonly ports: { readonly files: Pick<IngressPorts["files"], "write" | "newUploadId"> };
  /** Bodies that are being stored, by owner. */
  readonly uploads: Budget;
}

/** `body` of the event of a request whose body was stored. */
export interface StoredBody {
  readonly raw_body_url: string;
  /** Bytes. */
  readonly size: number;
  /** Absent: the caller has given none. */
  readonly content_type?: string;
}

const header = "x-pd-upload-body";
const parameter = "pipedream_upload_body";
/** How callers ask for it: the names are those of the known service. */
export const uploadHint = `the query parameter ${parameter}=1 or the header ${header}: 1`;

export const asksForUpload = (headers: IncomingMessage["headers"], { search }: Target): boolean =>
  headers[header] === "1" || (search.includes(parameter) && new URLSearchParams(search).get(parameter) === "1");

/**
 * Stores the body of a request as a file while it arrives, or each file of a form: at most two parts are in memory. No run has the files, so
 * the operator deletes them as those of runs that were never committed.
 *
 * @param pace ends the request if it is too slow
 * @throws PublicError 400 when the client disconnects or its form is none, 413, 503, 507 when there is no room; Unavailable
 */
export async function storeBody(
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  endpoint: Endpoint,
  pace: Pace,
  storing: Storing,
): Promise<StoredBody | StoredForm> {
  const { config, ports, uploads } = storing;
  if (Number(request.headers["content-length"] ?? 0) > config.uploadLimitBytes) throw tooLarge(config.uploadLimitBytes);
  const permit = uploads.open(ownerOf(endpoint));
  const run = ports.files.newUploadId();
  const writes = new UploadWrites(ports.files, { owner: ownerOf(endpoint), workflow: endpoint.source, run }, request, response);
  const store = (bytes: Uint8Array): Promise<string> => writes.store(bytes);
  /** Stores the manifest of a file. @returns the URL of the file */
  const urlOf = async (name: string, parts: readonly string[]): Promise<string> => {
    const manifest = await store(Buffer.from(JSON.stringify(parts)));
    return urlOfUpload(config.publicUrl, target.key, endpoint, { run, manifest, name }, Date.now());
  };
  try {
    if (request.headers.expect !== undefined) response.writeContinue();
    const reading = { request, pace, permit, limitBytes: config.uploadLimitBytes };
    const contentType = request.headers["content-type"];
    if (contentType !== undefined && isForm(contentType)) {
      const form = new FormWriter(contentType, config.bodyLimitBytes, store, urlOf);
      await readInto(form, reading);
      return await form.end();
    }
    const parts = new PartWriter(store);
    const size = await readInto(parts, reading);
    const url = await urlOf(`body.${(contentType !== undefined && extension(contentType)) || "bin"}`, await parts.end());
    return { raw_body_url: url, size, ...(contentType === undefined ? {} : { content_type: contentType }) };
  } catch (error) {
    request.on("error", () => undefined).resume(); // The server bounds the rest.
    throw error;
  } finally {
    void writes.end().then(() => permit.release()); // It never rejects.
  }
}

interface Reading {
  readonly request: IncomingMessage;
  readonly pace: Pace;
  /** Taken when the first bytes arrive: a connection that sends none holds none. */
  readonly permit: BudgetEntry;
  readonly limitBytes: number;
}

/** A chunk costs time however small it is. */
const freeChunks = 1_000;
const minMeanChunkBytes = 16;

/** @returns bytes of the body */
async function readInto(writer: Pick<PartWriter, "add">, { request, pace, permit, limitBytes }: Reading): Promise<number> {
  let [bytes, chunks] = [0, 0];
  try {
    // Otherwise the loop would close the connection when it ends early, and no answer could be sent.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (chunks === 0 && !permit.take(1)) throw overloaded("too many large bodies for this owner are being received");
      bytes += chunk.length;
      pace.moved(chunk.length);
      if (bytes > limitBytes) throw tooLarge(limitBytes);
      if (++chunks > freeChunks + bytes / minMeanChunkBytes) throw tooManyChunks();
      // A slow store is no fault of the client.
      await pace.pauseFor(writer.add(chunk));
    }
  } catch (error) {
    if (request.errored === null && !request.destroyed) throw error;
    throw endedEarly(error);
  }
  if (!request.complete) throw endedEarly();
  return bytes;
}

const mebibytes = (bytes: number): string => `${Math.floor((bytes / 2 ** 20) * 10) / 10} MiB`;

const tooLarge = (limitBytes: number): PublicError =>
  new PublicError(413, "body_too_large", `the request body is larger than ${limitBytes} bytes (${mebibytes(limitBytes)})`);

const tooManyChunks = (): PublicError =>
  new PublicError(
    413,
    "too_many_chunks",
    `the request body arrives in too many small chunks: send ${minMeanChunkBytes} bytes or more in each`,
  );
