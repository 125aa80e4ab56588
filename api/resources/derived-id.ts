import { hash } from "node:crypto";
import { idPrefixes, type IdKind } from "../../domain/ids.ts";

/** Derives an id from a text, so that concurrent equal requests create one resource. It is as long as a random id. */
export function derivedId(kind: IdKind, text: string): string {
  const digest = hash("sha256", text);
  return `${idPrefixes[kind]}_${BigInt(`0x${digest}`).toString(36).padStart(50, "0").slice(-12)}`;
}
