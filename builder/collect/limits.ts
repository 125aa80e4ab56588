import { codeLimits } from "../../domain/component/component-code.ts";

/** Limits for fetching one component. */
export interface CollectLimits {
  /** Modules and package.json files beside the entry. */
  readonly files: number;
  /** UTF-8 bytes of all texts of the component. */
  readonly bytes: number;
  /** Bytes of all responses, which stops at servers that return a page for every address. */
  readonly readBytes: number;
  /** Requests, including those for addresses without a file. */
  readonly requests: number;
  /** Imports between the entry and a module. */
  readonly depth: number;
  /** Concurrent requests. */
  readonly parallel: number;
  readonly totalMs: number;
}

export const collectLimits: CollectLimits = {
  files: codeLimits.files,
  bytes: codeLimits.bytes,
  readBytes: 4 * codeLimits.bytes,
  requests: 2_000,
  depth: 32,
  parallel: 8,
  totalMs: 20_000,
};
