import { promises } from "node:fs";
import { basename, extname } from "node:path";

/** A file as an action gets it. */
export interface PieceFile {
  readonly filename: string;
  readonly extension: string | undefined;
  readonly data: Buffer;
  readonly base64: string;
}

/** Extensions of media types whose subtype is not their extension. Actions decide by it, and services show it. */
const extensions: ReadonlyMap<string, string> = new Map([
  ["text/plain", "txt"],
  ["text/markdown", "md"],
  ["text/javascript", "js"],
  ["text/calendar", "ics"],
  ["image/jpeg", "jpg"],
  ["image/svg+xml", "svg"],
  ["image/x-icon", "ico"],
  ["audio/mpeg", "mp3"],
  ["audio/mp4", "m4a"],
  ["video/quicktime", "mov"],
  ["application/gzip", "gz"],
  ["application/msword", "doc"],
  ["application/vnd.ms-excel", "xls"],
  ["application/vnd.ms-powerpoint", "ppt"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"],
  ["application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"],
]);

function extensionOf(mediaType: string): string | undefined {
  const type = mediaType.split(";")[0]?.trim().toLowerCase() ?? "";
  const subtype = type.split("/")[1] ?? "";
  return extensions.get(type) ?? (type !== "application/octet-stream" && /^[a-z\d]{1,5}$/.test(subtype) ? subtype : undefined);
}

/** @param mediaType gives a name without an extension one */
function fileOf(name: string, data: Buffer, mediaType = ""): PieceFile {
  const given = extname(name).slice(1);
  const found = given === "" ? extensionOf(mediaType) : given;
  return {
    filename: given === "" && found !== undefined ? `${name}.${found}` : name,
    extension: found,
    data,
    get base64() {
      return data.toString("base64");
    },
  };
}

/** Reads a value of a file prop: an address, a path in /tmp, a `data:` address, or base64. */
export async function readFileProp(value: unknown): Promise<unknown> {
  if (typeof value !== "string" || value === "") return value;
  if (/^https?:\/\//i.test(value)) return fetchFile(value);
  if (value.startsWith("/tmp/")) return fileOf(basename(value), await promises.readFile(value));
  if (/^data:/i.test(value)) return fileInAddress(value);
  if (!/^[A-Za-z\d+/_-]+={0,2}$/.test(value.replaceAll(/\s/g, "")))
    throw new Error(
      `a file is an http(s) or data: address, a path in /tmp, or base64, and ${JSON.stringify(value.slice(0, 40))} is none of them`,
    );
  return fileOf("file.bin", Buffer.from(value, "base64"));
}

async function fetchFile(address: string): Promise<PieceFile> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`cannot fetch the file at ${address}: ${response.status} ${response.statusText}`);
  const name = nameIn(response.headers.get("content-disposition") ?? "") ?? decoded(basename(new URL(response.url || address).pathname));
  return fileOf(plainName(name), Buffer.from(await response.arrayBuffer()), response.headers.get("content-type") ?? "");
}

/** The file name of `Content-Disposition` (RFC 6266); `filename*` goes before `filename`. */
function nameIn(disposition: string): string | undefined {
  const [, encoded] = /filename\*=utf-8''([^;]+)/i.exec(disposition) ?? [];
  if (encoded !== undefined) return decoded(encoded.trim());
  const [, quoted, token] = /filename="([^"]*)"|filename=([^;\s]+)/i.exec(disposition) ?? [];
  return quoted ?? token;
}

/** `data:image/png;name=cup.png;base64,…` (RFC 2397); text that is not base64 is percent-encoded. */
function fileInAddress(address: string): PieceFile {
  const comma = address.indexOf(",");
  if (comma < 0) throw new Error("the data: address of a file has no comma, which separates its media type from its content");
  const [type = "", ...parameters] = address.slice("data:".length, comma).split(";");
  const isBase64 = parameters.some((each) => /^\s*base64\s*$/i.test(each));
  const name = parameters.map((each) => /^\s*(?:file)?name=(.*)$/i.exec(each)?.[1]).find((each) => each !== undefined);
  const content = address.slice(comma + 1);
  return fileOf(
    plainName(decoded(name ?? "")),
    isBase64 ? Buffer.from(content, "base64") : Buffer.from(decoded(content)),
    type || "text/plain",
  );
}

/** A name of the last part alone, as services show it. */
const plainName = (name: string): string => basename(name.replaceAll("\\", "/")) || "file";

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Writes a file of a piece; its name cannot leave /tmp. @returns its path */
export async function writeFile({ fileName, data }: { readonly fileName: unknown; readonly data: unknown }): Promise<string> {
  const name =
    basename(String(fileName ?? "file"))
      .replaceAll(/[^\w.-]/g, "_")
      .replace(/^\.+/, "") || "file";
  const path = `/tmp/${globalThis.crypto.randomUUID()}-${name}`;
  await promises.writeFile(path, typeof data === "string" ? data : Buffer.from(data as Uint8Array)); // As the contract of files says.
  return path;
}
