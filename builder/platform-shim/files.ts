import { createReadStream, promises } from "node:fs";
import { basename } from "node:path";
import { Readable } from "node:stream";

export interface FileMetadata {
  size?: number;
  contentType?: string;
  lastModified?: Date;
  name: string;
  etag?: string;
}

/** Content of a file: an http(s) address, or a path in the sandbox's own /tmp. */
export async function getFileStream(pathOrUrl: string): Promise<Readable> {
  return (await getFileStreamAndMetadata(pathOrUrl)).stream;
}

export async function getFileStreamAndMetadata(pathOrUrl: string): Promise<{ stream: Readable; metadata: FileMetadata }> {
  return /^https?:\/\//i.test(pathOrUrl) ? download(pathOrUrl) : open(pathOrUrl);
}

async function download(url: string): Promise<{ stream: Readable; metadata: FileMetadata }> {
  const response = await fetch(url);
  if (!response.ok || !response.body) throw new Error(`cannot fetch ${url}: ${response.status} ${response.statusText}`);
  const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
  const length = header("content-length");
  const modified = header("last-modified");
  const contentType = header("content-type");
  const etag = header("etag");
  return {
    // The isolate's web streams and Node's type of them are the same thing under two names.
    stream: Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]),
    metadata: {
      name: basename(new URL(url).pathname) || "file",
      ...(length === undefined ? {} : { size: Number(length) }),
      ...(contentType === undefined ? {} : { contentType }),
      ...(modified === undefined ? {} : { lastModified: new Date(modified) }),
      ...(etag === undefined ? {} : { etag }),
    },
  };
}

async function open(path: string): Promise<{ stream: Readable; metadata: FileMetadata }> {
  const { size, mtime } = await promises.stat(path);
  return { stream: createReadStream(path), metadata: { name: basename(path), size, lastModified: mtime } };
}
