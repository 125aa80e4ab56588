import type { AxiosRequestConfig } from "axios";

/** What an OAuth 1 signature covers: method, address and parameters of a request, all as strings. */
export interface SignableRequest {
  readonly method: string;
  readonly url: string;
  readonly data: Record<string, string>;
}

/** Query parameters are signed with the address; of bodies only forms are, as RFC 5849 section 3.4.1.3 says. */
export function transformConfigForOauth(config: AxiosRequestConfig): SignableRequest {
  const url = new URL(config.url ?? "", typeof config["baseURL"] === "string" ? config["baseURL"] : undefined);
  for (const [name, value] of Object.entries(config.params ?? {})) {
    if (value !== undefined && value !== null) url.searchParams.append(name, String(value));
  }
  const contentType = Object.entries(config.headers ?? {}).find(([name]) => name.toLowerCase() === "content-type")?.[1];
  const isForm = config.data instanceof URLSearchParams || String(contentType ?? "").startsWith("application/x-www-form-urlencoded");
  return { method: (config.method ?? "get").toUpperCase(), url: url.href, data: isForm ? formFields(config.data) : {} };
}

function formFields(data: unknown): Record<string, string> {
  if (data instanceof URLSearchParams || typeof data === "string") return Object.fromEntries(new URLSearchParams(data));
  return Object.fromEntries(Object.entries(data ?? {}).map(([name, value]) => [name, String(value)]));
}
