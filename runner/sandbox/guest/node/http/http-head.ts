import type { HeaderPair } from "../../web/fetch/raw-fetch.ts";
import { Buffer } from "../buffer/buffer.ts";
import { nodeError } from "../errors.ts";

export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly httpVersion: string;
  readonly headers: readonly HeaderPair[];
}

/** The head of a response as text, its empty line included (RFC 9112, 4). */
export function parseHead(text: string): ResponseHead {
  const [first = "", ...lines] = text.split(/\r?\n/);
  const [, httpVersion, status, statusText = ""] = /^HTTP\/(1\.[01]) (\d{3})(?: (.*))?$/.exec(first) ?? [];
  if (httpVersion === undefined) throw nodeError("HPE_INVALID_CONSTANT", "Parse Error: Expected HTTP/, RTSP/ or ICE/");
  return { httpVersion, status: Number(status), statusText, headers: lines.filter((line) => line !== "").map(parseHeader) };
}

export function parseHeader(line: string): HeaderPair {
  const colon = line.indexOf(":");
  if (colon < 1) throw nodeError("HPE_INVALID_HEADER_TOKEN", "Parse Error: Invalid header token");
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

/** Bytes of a request. Names and values were checked when they were set; the path is checked here, where it may have been changed. */
export function writeRequest(
  { method, path, headers }: { readonly method: string; readonly path: string; readonly headers: readonly HeaderPair[] },
  body: Uint8Array | undefined,
): Buffer {
  if (/[^\u0021-\u00ff]/.test(path)) throw nodeError("ERR_UNESCAPED_CHARACTERS", "Request path contains unescaped characters", TypeError);
  const lines = [`${method} ${path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  const has = (name: string): boolean => headers.some(([each]) => each.toLowerCase() === name);
  const isChunked = headers.some(([name, value]) => name.toLowerCase() === "transfer-encoding" && /chunked/i.test(value));
  if (!has("content-length") && !isChunked && (body !== undefined || /^(POST|PUT|PATCH)$/.test(method)))
    lines.push(`Content-Length: ${body?.byteLength ?? 0}`);
  if (!has("connection")) lines.push("Connection: close");
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  const bytes = body ?? new Uint8Array(0);
  if (!isChunked) return Buffer.concat([head, bytes]);
  const size = bytes.byteLength === 0 ? "" : `${bytes.byteLength.toString(16)}\r\n`;
  const last = Buffer.from(bytes.byteLength === 0 ? "0\r\n\r\n" : "\r\n0\r\n\r\n", "latin1");
  return Buffer.concat([head, Buffer.from(size, "latin1"), bytes, last]);
}
