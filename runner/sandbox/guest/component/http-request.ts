import { type Fields, functionsOf, isObject } from "./component.ts";
import { btoa } from "../web/encoding/base64.ts";
import { fetch } from "../web/fetch/fetch.ts";
import { FormData } from "../web/fetch/form-data.ts";
import type { RequestInit } from "../web/fetch/request.ts";
import { URL, URLSearchParams } from "../web/url/url.ts";

/** Response of an `http_request` prop's request; JSON is parsed. */
interface HttpAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Fields;
  readonly data: unknown;
}

const bodyless: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** An `http_request` prop: the configured request, and `execute()`, which sends it and throws for status 400 and above. */
export function httpRequestProp(given: unknown): Fields {
  const config: Fields = isObject(given) ? { ...given } : { url: given };
  return Object.defineProperty(config, "execute", { value: () => execute(config) });
}

async function execute(config: Fields): Promise<HttpAnswer> {
  const method = String(config["method"] ?? "GET").toUpperCase();
  const url = new URL(String(config["url"]));
  for (const [name, value] of pairs(config["params"])) url.searchParams.append(name, value);
  const headers = Object.fromEntries([...authorization(config["auth"]), ...pairs(config["headers"])]);
  const body = bodyless.has(method) ? {} : bodyOf(config, headers);
  const response = await fetch(url.href, { method, headers, ...body });
  const text = await response.text();
  const { status, statusText } = response;
  const answer = { status, statusText, headers: Object.fromEntries([...response.headers]), data: parsed(text) };
  if (response.ok) return answer;
  throw Object.assign(new Error(`Request failed with status code ${status}`), { response: answer });
}

/** `[{name, value, disabled}]`, as rows of a form, or an object. */
function pairs(given: unknown): [name: string, value: string][] {
  if (!Array.isArray(given)) return functionsOf(given).map(([name, value]) => [name, String(value)]);
  return given
    .filter((row): row is Fields => isObject(row) && row["disabled"] !== true && row["name"] !== undefined && row["name"] !== "")
    .map((row) => [String(row["name"]), String(row["value"] ?? "")]);
}

function authorization(auth: unknown): [string, string][] {
  if (!isObject(auth)) return [];
  const { type, token, username, password } = auth;
  if (type === "bearer") return [["authorization", `Bearer ${String(token)}`]];
  if (type === "basic") return [["authorization", `Basic ${btoa(`${String(username)}:${String(password)}`)}`]];
  return [];
}

/** `body` is a text, or `{contentType, mode: "raw", raw}`, or `{contentType, fields}`; `data` is what axios calls it. */
function bodyOf(config: Fields, headers: Record<string, string>): Pick<RequestInit, "body"> {
  const given = config["body"] ?? config["data"];
  if (given === undefined || given === null) return {};
  if (typeof given === "string") return { body: given };
  const { mode, raw, contentType, fields } = isObject(given) ? given : ({} as Fields);
  const type = typeof contentType === "string" ? contentType : "application/json";
  const rows = Array.isArray(fields) ? pairs(fields) : undefined;
  if (rows !== undefined && type.includes("multipart")) return { body: filled(new FormData(), rows) };
  if (rows !== undefined && type.includes("urlencoded")) return { body: filled(new URLSearchParams(), rows) };
  if (!Object.keys(headers).some((name) => name.toLowerCase() === "content-type")) headers["content-type"] = type;
  if (mode === "raw" || (typeof raw === "string" && fields === undefined))
    return { body: typeof raw === "string" ? raw : JSON.stringify(raw ?? "") };
  return { body: JSON.stringify(rows === undefined ? given : Object.fromEntries(rows)) };
}

function filled<Form extends { append(name: string, value: string): void }>(form: Form, fields: readonly [string, string][]): Form {
  for (const [name, value] of fields) form.append(name, value);
  return form;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
