import { promises } from "node:fs";
import { basename, extname } from "node:path";

/** A file as an action gets it. */
export interface PieceFile {
  readonly filename: string;
  readonly extension: string | undefined;
  readonly data: Buffer;
  readonly base64: string;
}

const fileOf = (filename: string, data: Buffer): PieceFile => ({
  filename,
  extension: extname(filename).slice(1) || undefined,
  data,
  get base64() {
    return data.toString("base64");
  },
});

/** Reads a value of a file prop: an address, a path in /tmp, a `data:` address, or base64. */
export async function readFileProp(value: unknown): Promise<unknown> {
  if (typeof value !== "string" || value === "") return value;
  if (/^https?:\/\//i.test(value)) {
    const response = await fetch(value);
    if (!response.ok) throw new Error(`cannot fetch the file at ${value}: ${response.status} ${response.statusText}`);
    return fileOf(basename(new URL(value).pathname) || "file", Buffer.from(await response.arrayBuffer()));
  }
  if (value.startsWith("/tmp/")) return fileOf(basename(value), await promises.readFile(value));
  const [, type = "", text] = /^data:([^;,]*)[^,]*;base64,(.*)$/s.exec(value) ?? [];
  return fileOf(`file.${type.split("/")[1] ?? "bin"}`, Buffer.from(text ?? value, "base64"));
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
