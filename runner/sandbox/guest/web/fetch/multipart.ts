import { bytesOf, File } from "./blob.ts";
import { concatBytes } from "../encoding/bytes.ts";
import type { Bytes } from "../encoding/bytes.ts";
import { FormData } from "./form-data.ts";
import { decodeUtf8, encodeUtf8 } from "../encoding/utf8.ts";

/** multipart/form-data as browsers write it (HTML, "multipart/form-data encoding algorithm"). */
export function encodeMultipart(form: FormData): { readonly bytes: Bytes; readonly contentType: string } {
  const boundary = `----formdata-headwater-0${String(Math.random()).slice(2, 13).padStart(11, "0")}`;
  const chunks: Bytes[] = [];
  for (const [name, value] of form) {
    const start = `--${boundary}\r\nContent-Disposition: form-data; name="${escape(withCrlf(name))}"`;
    if (value instanceof File) {
      const head = `${start}; filename="${escape(value.name)}"\r\nContent-Type: ${value.type === "" ? "application/octet-stream" : value.type}\r\n\r\n`;
      chunks.push(encodeUtf8(head), bytesOf(value), encodeUtf8("\r\n"));
    } else chunks.push(encodeUtf8(`${start}\r\n\r\n${withCrlf(value)}\r\n`));
  }
  chunks.push(encodeUtf8(`--${boundary}--\r\n`));
  return { bytes: concatBytes(chunks), contentType: `multipart/form-data; boundary=${boundary}` };
}

function withCrlf(text: string): string {
  return text.replace(/\r?\n|\r/g, "\r\n");
}

function escape(text: string): string {
  return text.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}

/** Reads a body of that content type; throws a TypeError when it is not one. */
export function parseMultipart(bytes: Bytes, contentType: string): FormData {
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  const delimiter = encodeUtf8(`--${boundary?.[1] ?? boundary?.[2] ?? ""}`);
  if (boundary === null) throw malformed("the content type names no boundary");
  const form = new FormData();
  let at = find(bytes, delimiter, 0);
  if (at < 0) throw malformed("the boundary does not occur");
  for (;;) {
    at += delimiter.length;
    if (bytes[at] === 0x2d && bytes[at + 1] === 0x2d) return form;
    const headEnd = find(bytes, blankLine, at);
    const next = headEnd < 0 ? -1 : find(bytes, lineAnd(delimiter), headEnd + 2);
    if (next < 0) throw malformed("a part does not end");
    const start = Math.min(headEnd + blankLine.length, next);
    appendPart(form, decodeUtf8(bytes.subarray(at, headEnd)), bytes.slice(start, next));
    at = next + 2;
  }
}

const blankLine = encodeUtf8("\r\n\r\n");

function lineAnd(delimiter: Bytes): Bytes {
  return concatBytes([encodeUtf8("\r\n"), delimiter]);
}

function appendPart(form: FormData, head: string, body: Bytes): void {
  const disposition = /^content-disposition:\s*form-data(.*)$/im.exec(head)?.[1];
  const name = disposition === undefined ? undefined : parameter(disposition, "name");
  if (disposition === undefined || name === undefined) throw malformed("a part has no name");
  const filename = parameter(disposition, "filename");
  if (filename === undefined) return form.append(name, decodeUtf8(body));
  const type = /^content-type:\s*(.*?)\s*$/im.exec(head)?.[1] ?? "text/plain";
  form.append(name, new File([body], filename, { type }));
}

function parameter(disposition: string, name: string): string | undefined {
  const found = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]+))`, "i").exec(disposition);
  const value = found?.[1] ?? found?.[2];
  return value?.replace(/%0A/gi, "\n").replace(/%0D/gi, "\r").replace(/%22/g, '"');
}

function find(bytes: Bytes, pattern: Bytes, from: number): number {
  const first = pattern[0] as number;
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    let length = 1;
    while (length < pattern.length && bytes[at + length] === pattern[length]) length += 1;
    if (length === pattern.length) return at;
  }
  return -1;
}

function malformed(why: string): TypeError {
  return new TypeError(`Failed to parse body as FormData: ${why}.`);
}
