/** The parts of mailauth that have no types of their own. */
declare module "mailauth/lib/dkim/dkim-verifier.js" {
  import type { Writable } from "node:stream";
  import type { DNSResolver } from "mailauth";

  export interface HeaderField {
    /** Lower case; null if the line has no name. */
    readonly key: string | null;
    readonly line: Buffer;
  }

  export interface Headers {
    readonly parsed: readonly HeaderField[];
  }

  export interface SignatureResult {
    readonly signingDomain?: string;
    readonly selector?: string;
    readonly status: {
      readonly result: string;
      /** The domain, if it and that of `From` belong together by the list of public suffixes. */
      readonly aligned?: string | false;
      /** Bytes of the body that the signature does not cover. */
      readonly underSized?: number;
    };
  }

  export class DkimVerifier extends Writable {
    constructor(options: { readonly resolver: DNSResolver; readonly strict: boolean; readonly sender?: string });
    headers: Headers;
    readonly headerFrom: readonly string[];
    readonly fromFields: number;
    readonly results: readonly SignatureResult[];
    protected messageHeaders(headers: Headers): Promise<void>;
  }
}

declare module "mailauth/lib/tools.js" {
  /** @returns the domain of the list that belongs to the same organization; false: none does */
  export function getAlignment(fromDomain: string, domains: readonly string[]): { readonly domain: string } | false;
}
