import { createHmac } from "node:crypto";
import { filePathEnd, filePathPrefix, signedFileText, type FileGrant } from "../../domain/files/file-url.ts";
import { fileLimits, type RunFiles, type RunOfFiles } from "../../domain/files/run-files.ts";

export interface StoredBytes {
  readonly manifest: string;
  readonly parts: readonly string[];
}

/** Stores bytes as a step or an upload does it. */
export async function storeBytes(files: Pick<RunFiles, "write">, of: RunOfFiles, bytes: Uint8Array): Promise<StoredBytes> {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += fileLimits.partBytes)
    parts.push(await files.write(of, bytes.subarray(at, at + fileLimits.partBytes)));
  return { manifest: await files.write(of, Buffer.from(JSON.stringify(parts))), parts };
}

/** Path of a file below its address. */
export function filePath(grant: FileGrant, key: string, manifest: string, name = "report.pdf"): string {
  const signature = createHmac("sha256", key).update(signedFileText(grant)).digest("base64url");
  return filePathPrefix(grant, signature) + filePathEnd(manifest, name);
}
