import { readBytes } from "./read-bytes.ts";

/** What a server said of a resource, by which it can answer that nothing has changed. */
export interface Validators {
  readonly url: string;
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

export type Fetched =
  | { readonly changed: false }
  | { readonly changed: true; readonly bytes: Uint8Array; readonly type: string; readonly validators: Validators };

export interface FetchOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Of the answer; more is an error. */
  readonly maxBytes?: number;
  /** Of a former answer; those of another address count for nothing. */
  readonly validators?: Validators | undefined;
}

/** Asks with If-None-Match and If-Modified-Since. @throws Error for a status of 400 and more, with the beginning of the answer */
export async function fetchIfChanged(url: string, options: FetchOptions = {}): Promise<Fetched> {
  const { method = "GET", body, maxBytes = 8 * 2 ** 20 } = options;
  const known = options.validators?.url === url ? options.validators : undefined;
  const headers = new Headers({ "user-agent": "headwater", ...options.headers });
  if (known?.etag !== undefined) headers.set("if-none-match", known.etag);
  if (known?.lastModified !== undefined) headers.set("if-modified-since", known.lastModified);
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }), signal: AbortSignal.timeout(60_000) });
  if (response.status === 304) return { changed: false };
  const bytes = await readBytes(response, maxBytes, url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${new TextDecoder().decode(bytes).slice(0, 200)}`);
  return {
    changed: true,
    bytes,
    type: response.headers.get("content-type") ?? "",
    validators: { url, etag: response.headers.get("etag") ?? undefined, lastModified: response.headers.get("last-modified") ?? undefined },
  };
}

/** Text in the character set that its type or its XML declaration names; UTF-8 where that is unknown. */
export function decodeText(bytes: Uint8Array, type: string): string {
  const declared = /^\s*<\?xml[^>]*encoding=["']([\w-]+)["']/.exec(String.fromCharCode(...bytes.subarray(0, 200)))?.[1];
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? declared ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
