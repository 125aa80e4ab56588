import { createHash } from "node:crypto";

/** `sha256:…`, as registries write it. */
export type Digest = `sha256:${string}`;

export const digestOf = (content: string | Uint8Array): Digest => `sha256:${createHash("sha256").update(content).digest("hex")}`;

export const isDigest = (text: string | undefined): text is Digest => /^sha256:[0-9a-f]{64}$/.test(text ?? "");

/** The digest without its algorithm, as in-toto and checksum files write it. */
export const hexOf = (digest: Digest): string => digest.slice("sha256:".length);
