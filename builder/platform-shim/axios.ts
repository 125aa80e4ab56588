import client, { type AxiosRequestConfig, type AxiosResponse } from "axios";
import { jsonStringifySafe } from "./json.ts";

/** What `axios` may be given as its first argument: `$` of an action, or a source's `this`. */
interface Step {
  export?(name: string, value: unknown): void;
}

interface PlatformConfig extends AxiosRequestConfig {
  /** Return the whole response instead of its data. */
  returnFullResponse?: boolean;
  /** Export request and response as `debug_config` and `debug_response`. */
  debug?: boolean;
}

/**
 * One HTTP request by the npm package axios: the answer's data, undefined settings left out. When the server answers with an error,
 * the message of what is thrown is the answer's data as JSON, so that the server's own message is in the log.
 */
export async function axios(step: Step | undefined, config: PlatformConfig): Promise<unknown> {
  const { returnFullResponse, debug, ...rest } = config;
  const request = withQueryApart(withoutUndefined(rest));
  if (debug) exportTo(step, "debug_config", request);
  try {
    const response = await client(request);
    if (debug) exportTo(step, "debug_response", response.data);
    return returnFullResponse ? response : response.data;
  } catch (error) {
    throw explain(error, step);
  }
}

/** `undefined` at the top level and in headers, params and a plain data object means "not set". */
function withoutUndefined(config: AxiosRequestConfig): AxiosRequestConfig {
  const kept = defined(config);
  for (const field of ["headers", "params", "data"]) {
    const value = kept[field];
    if (isPlainObject(value)) kept[field] = defined(value);
  }
  return kept;
}

/** A query written in `url` and one given as `params` become one, so that neither is encoded twice. */
function withQueryApart(config: AxiosRequestConfig): AxiosRequestConfig {
  const [address, query] = splitOnce(config.url ?? "", "?");
  if (query === undefined || !isPlainObject(config.params)) return config;
  const written = [...new URLSearchParams(query)];
  // A name written twice is a list, which `params` spells another way: such an address stays as it is.
  if (query.includes("#") || new Set(written.map(([name]) => name)).size < written.length) return config;
  return { ...config, url: address, params: { ...Object.fromEntries(written), ...config.params } };
}

function explain(error: unknown, step: Step | undefined): unknown {
  const response = responseOf(error);
  if (!response || !(error instanceof Error)) return error;
  const { data, status, statusText, headers } = response;
  exportTo(step, "debug", { data, status, statusText, headers });
  error.message = jsonStringifySafe(data) ?? `${status} ${statusText}`;
  return error;
}

// Each check is made before the field is used.
const responseOf = (error: unknown): AxiosResponse | undefined => (error as { response?: AxiosResponse } | null)?.response;

function exportTo(step: Step | undefined, name: string, value: unknown): void {
  if (typeof step?.export === "function") step.export(name, value);
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);

const defined = (value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined));

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
