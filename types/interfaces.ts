/** `this.<name>` of a `$.service.db` prop: loaded before the run and written with it, so nothing is awaited. 60 KiB of keys and JSON in all. */
export interface Database {
  /** Undefined when there is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- Only the component knows what it stored.
  get(key: string): any;
  /** Any JSON value; `undefined` removes the key. */
  set(key: string, value: unknown): void;
}

/** What a request is answered with when the prop says `customResponse: true`. */
export interface HttpResponse {
  /** 200 to 599: a status below announces a response and is none. */
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  /** Text, bytes, or any other JSON value, which is sent as JSON; or a stream of texts and bytes, each of which is sent when it is there. */
  readonly body?: unknown;
}

/** A stream of the web or of Node, an async generator, a Blob, or the response to a `fetch`. */
export type StreamedBody = AsyncIterable<string | Uint8Array> | { arrayBuffer(): Promise<ArrayBuffer> };

/** `this.<name>` of a `$.interface.http` prop. */
export interface HttpInterface {
  /** The source's address. */
  readonly endpoint: string;
  /** Once per run, while a caller waits for it. @returns when all of the stream is sent: the run waits for that in any case */
  respond(response: HttpResponse & { readonly body: StreamedBody }): Promise<void>;
  respond(response: HttpResponse): void;
}

/** The value of a `$.interface.timer` prop. */
export type Timer =
  | { readonly intervalSeconds: number; readonly cron?: undefined }
  | { readonly cron: string; readonly timezone?: string; readonly intervalSeconds?: undefined };

/** `this.<name>` of a `data_store` prop. */
export interface DataStore {
  get(key: string, fallback?: unknown): Promise<unknown>;
  /** With the version for `if_version`; undefined when there is none. */
  entry(key: string): Promise<{ readonly value: unknown; readonly version: number; readonly expires_at: Date | null } | undefined>;
  /**
   * Any JSON value; `undefined` removes the key. `ttl`: seconds after which the key is gone. `if_version`: the version that the entry must
   * have, 0 if there must be none. Both need a configured store. Returns the new version.
   */
  set(key: string, value: unknown, options?: { readonly ttl?: number; readonly if_version?: number }): Promise<number | undefined>;
  has(key: string): Promise<boolean>;
  delete(key: string, options?: { readonly if_version?: number }): Promise<void>;
  /** Adds to a number, by default 1, and returns the sum. A missing key counts as 0. */
  increment(key: string, by?: number, options?: { readonly ttl?: number }): Promise<number>;
  update(entries: Readonly<Record<string, unknown>> | Iterable<readonly [string, unknown]>): Promise<void>;
  clear(): Promise<void>;
  keys(): Promise<string[]>;
  entries(): Promise<[key: string, value: unknown][]>;
  size(): Promise<number>;
}

/** `this.<name>` of an `http_request` prop. */
export interface HttpRequest {
  readonly url: string;
  execute(): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly data: unknown }>;
}
