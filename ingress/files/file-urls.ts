import { createHmac, timingSafeEqual } from "node:crypto";
import {
  filePathEnd,
  filePathPrefix,
  filesAddress,
  fileUrlMs,
  parseFilePath,
  signedFileText,
  type FileGrant,
} from "../../domain/files/file-url.ts";
import type { RunOfFiles } from "../../domain/files/run-files.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import { ownerOf } from "../await-answer.ts";
import { PublicError } from "../errors.ts";
import type { Target } from "../http-event.ts";

/** A file that the request may read. */
export interface RequestedFile {
  readonly of: RunOfFiles;
  /** Name of the part that lists its parts. */
  readonly manifest: string;
  readonly name: string;
}

/**
 * The file that a request asks for; undefined for any other request.
 *
 * @param now epoch ms
 * @throws PublicError 403 if the URL is forged or has expired
 */
export function requestedFile({ key, path }: Target, endpoint: Endpoint, now: number): RequestedFile | undefined {
  const url = parseFilePath(path);
  if (url === undefined) return undefined;
  const { run, expires, signature, manifest, name } = url;
  const grant = { owner: ownerOf(endpoint), source: endpoint.source, run, expires };
  if (!isEqual(signature, signatureOf(grant, endpoint, key))) throw invalidUrl();
  if (expires <= now) {
    const at = new Date(expires).toISOString();
    throw new PublicError(403, "file_url_expired", `this URL expired at ${at}: ask for a new one where you have it from`);
  }
  return { of: { owner: grant.owner, workflow: endpoint.source, run }, manifest, name };
}

export const invalidUrl = (): PublicError =>
  new PublicError(403, "file_url_invalid", "this URL names no file: use it exactly as it was given");

/**
 * URL of a file that this process has stored: at the address for files of a workflow, or at the address of a source, which has no other.
 *
 * @param publicUrl base of all endpoints, without trailing slash
 */
export function urlOfUpload(publicUrl: string, key: string, endpoint: Endpoint, { run, manifest, name }: Upload, now: number): string {
  const grant = { owner: ownerOf(endpoint), source: endpoint.source, run, expires: now + fileUrlMs };
  const path = filePathPrefix(grant, signatureOf(grant, endpoint, key).toString("base64url")) + filePathEnd(manifest, name);
  return `${publicUrl}/${endpoint.workflow === undefined ? key : filesAddress(endpoint.source)}${path}`;
}

interface Upload {
  readonly run: string;
  readonly manifest: string;
  readonly name: string;
}

/**
 * A source has no key of its own, so the secret part of its address signs. Who knows that can make URLs, but not the name of a manifest,
 * without which a URL reads nothing.
 */
const signatureOf = (grant: FileGrant, { workflow }: Endpoint, key: string): Buffer =>
  createHmac("sha256", workflow?.resumeKey ?? key)
    .update(signedFileText(grant))
    .digest();

function isEqual(signature: string, expected: Buffer): boolean {
  const given = Buffer.from(signature, "base64url");
  return given.length === expected.length && timingSafeEqual(given, expected);
}
