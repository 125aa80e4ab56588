import { codeLimits } from "../../domain/component/component-code.ts";

/** What fetching one component may cost. */
export interface CollectLimits {
  /** Modules and package.json files beside the entry. */
  readonly files: number;
  /** Of all texts that are kept, UTF-8. */
  readonly bytes: number;
  /** Of all texts that are read: servers that answer every address are asked no further. */
  readonly readBytes: number;
  /** Requests, including those for addresses without a file. */
  readonly requests: number;
  /** How many imports lie between the entry and a module. */
  readonly depth: number;
  /** Requests under way at a time. */
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
