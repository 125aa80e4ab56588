import { nodeError, unsupported } from "../errors.ts";
import { guest } from "../globals.ts";
import type { Agent } from "./http-agent.ts";
import type { HeaderValue } from "./http-outgoing.ts";
import { pickTls } from "../net/tls-options.ts";
import type { TlsSettings } from "../net/tls-options.ts";
import { urlToHttpOptions } from "../url/url-file.ts";

/** The supported options of `http.request`. Values are untrusted. */
export interface RequestOptions {
  readonly protocol?: string | null;
  readonly hostname?: string | null;
  readonly host?: string | null;
  readonly port?: number | string | null;
  readonly defaultPort?: number | string;
  readonly path?: string | null;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, HeaderValue | undefined>> | readonly string[];
  readonly auth?: string | null;
  readonly agent?: Agent | boolean | null;
  readonly timeout?: number;
  readonly signal?: unknown;
  readonly socketPath?: string | null;
  readonly createConnection?: unknown;
  readonly setHost?: boolean;
  readonly [option: string]: unknown;
}

export type ResponseListener = (response: unknown) => void;

export interface Target {
  readonly protocol: string;
  readonly host: string;
  readonly port: string;
  readonly path: string;
  readonly method: string;
  readonly url: string;
  readonly tls: TlsSettings | undefined;
  /** The request goes to a proxy, or opens a tunnel through one. */
  readonly isForProxy: boolean;
}

/** `(url, options?, listener?)` or `(options, listener?)`. */
export function parseArguments(args: readonly unknown[]): {
  readonly options: RequestOptions;
  readonly listener: ResponseListener | undefined;
} {
  const [first, second] = args;
  const listener = args.find((one) => typeof one === "function") as ResponseListener | undefined;
  const more = typeof second === "object" && second !== null ? (second as RequestOptions) : {};
  if (typeof first === "string") return { options: { ...(urlToHttpOptions(new guest.URL(first)) as RequestOptions), ...more }, listener };
  if (first instanceof guest.URL) return { options: { ...(urlToHttpOptions(first) as RequestOptions), ...more }, listener };
  return { options: { ...(first as RequestOptions | undefined) }, listener };
}

export function resolveTarget(options: RequestOptions, defaultProtocol: string, agent: Agent | undefined): Target {
  if (options.socketPath !== undefined && options.socketPath !== null)
    throw unsupported("http.request with socketPath", "there are no local sockets; use a host and a port");
  const protocol = options.protocol ?? agent?.protocol ?? defaultProtocol;
  if (protocol !== (agent?.protocol ?? defaultProtocol)) {
    throw nodeError(
      "ERR_INVALID_PROTOCOL",
      `Protocol "${protocol}" not supported. Expected "${agent?.protocol ?? defaultProtocol}"`,
      TypeError,
    );
  }
  const { host, port: ownPort } = splitHost(options);
  const path = options.path ?? "/";
  if (/[^\u0021-\u00ff]/.test(path)) throw nodeError("ERR_UNESCAPED_CHARACTERS", "Request path contains unescaped characters", TypeError);
  const port = String(options.port ?? ownPort ?? options.defaultPort ?? agent?.defaultPort ?? "");
  const method = parseMethod(options.method);
  // A proxy expects an absolute URL or an authority (RFC 9112, 3.2).
  const isForProxy = method === "CONNECT" || /^https?:\/\//i.test(path);
  const absolute = path.startsWith("/") || isForProxy ? path : `/${path}`;
  return {
    protocol,
    host,
    port,
    path: absolute,
    method,
    isForProxy,
    url: `${protocol}//${host.includes(":") ? `[${host}]` : host}${port === "" ? "" : `:${port}`}${absolute}`,
    tls: protocol === "https:" ? pickTls({ ...agent?.options, ...options }) : undefined,
  };
}

function splitHost({ hostname, host }: RequestOptions): { readonly host: string; readonly port: string | undefined } {
  const given = String(hostname ?? host ?? "localhost").replace(/^\[|\]$/g, "");
  const withPort = hostname === undefined || hostname === null ? /^([^:]+):(\d+)$/.exec(given) : null;
  return withPort === null
    ? { host: given === "" ? "localhost" : given, port: undefined }
    : { host: withPort[1] ?? given, port: withPort[2] };
}

function parseMethod(given: unknown): string {
  if (given === undefined || given === null) return "GET";
  if (typeof given !== "string")
    throw nodeError("ERR_INVALID_ARG_TYPE", `The "options.method" property must be of type string. Received ${typeof given}`, TypeError);
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(given))
    throw nodeError("ERR_INVALID_HTTP_TOKEN", `Method must be a valid HTTP token ["${given}"]`, TypeError);
  return given.toUpperCase();
}
