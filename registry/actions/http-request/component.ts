import { defineAction } from "headwater/types";
import { bodyOf, dataOf } from "../shared/http-body.ts";
import { readBytes } from "../../shared/read-bytes.ts";

/** The result of a step has at most 4 MiB of JSON, and base64 makes bytes longer by a third. */
const maxResponseBytes = 2.5 * 2 ** 20;

export default defineAction({
  name: "HTTP Request",
  key: "headwater-http-request",
  version: "1.0.0",
  type: "action",
  description: "Sends an HTTP request and returns the status, headers and data of the response",
  annotations: { released: "2026-11-23" },
  props: {
    url: { type: "string", label: "URL", description: "Address of the request, with http:// or https://" },
    method: {
      type: "string",
      label: "Method",
      description: "Method of the request",
      options: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"],
      default: "GET",
    },
    query: { type: "object", label: "Query Parameters", description: "Added to the URL; a list adds one for each element", optional: true },
    headers: { type: "object", label: "Headers", description: "Headers of the request, such as `Accept`", optional: true },
    body: {
      type: "any",
      label: "Body",
      description:
        "A string is sent as it is; anything else is sent as JSON, or as a form if the header `Content-Type` is `application/x-www-form-urlencoded`",
      optional: true,
    },
    token: { type: "string", label: "Bearer Token", description: "Sent as `Authorization: Bearer …`", secret: true, optional: true },
    user: { type: "string", label: "User", description: "User name for basic authentication", optional: true },
    password: { type: "string", label: "Password", description: "Password for basic authentication", secret: true, optional: true },
    acceptErrors: {
      type: "boolean",
      label: "Accept Error Responses",
      description: "Return responses with a status of 400 and above, instead of failing the step",
      default: false,
    },
    timeoutSeconds: { type: "integer", label: "Timeout", description: "Seconds until the request fails", min: 1, max: 3_600, default: 60 },
  },
  methods: {
    address(): URL {
      const url = parseUrl(this.url);
      for (const [name, value] of Object.entries(this.query ?? {}))
        for (const each of Array.isArray(value) ? value : [value])
          if (each !== undefined && each !== null) url.searchParams.append(name, textOf(each));
      return url;
    },
    authorization(): string | undefined {
      if (this.token !== undefined) return `Bearer ${this.token}`;
      if (this.user === undefined && this.password === undefined) return undefined;
      return `Basic ${Buffer.from(`${this.user ?? ""}:${this.password ?? ""}`).toString("base64")}`;
    },
  },
  async run({ $ }) {
    const { method } = this;
    const url = this.address();
    const headers = new Headers(Object.entries(this.headers ?? {}).map(([name, value]) => [name, textOf(value)]));
    const authorization = this.authorization();
    if (authorization !== undefined) headers.set("authorization", authorization);
    const body = method === "GET" || method === "HEAD" ? undefined : bodyOf(this.body, headers);
    // The query may hold credentials, so messages name the address without it.
    const subject = `${method} ${url.origin}${url.pathname}`;
    const signal = AbortSignal.timeout(this.timeoutSeconds * 1_000);
    const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }), signal }).catch((cause: unknown) => {
      throw new Error(`${subject} failed: ${causeOf(cause)}`, { cause });
    });
    const data = dataOf(await readBytes(response, maxResponseBytes, subject), response.headers.get("content-type") ?? "");
    if (response.status >= 400 && !this.acceptErrors)
      throw new Error(`${subject} answered ${response.status}: ${textOf(data).slice(0, 300)}`);
    $.export("$summary", `${subject} answered ${response.status}`);
    return { status: response.status, headers: Object.fromEntries(response.headers), data };
  },
});

function parseUrl(text: string): URL {
  if (!URL.canParse(text) || !/^https?:/i.test(text))
    throw new Error(`url "${text.slice(0, 100)}" is invalid: it must begin with http:// or https:// and have a host`);
  return new URL(text);
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
