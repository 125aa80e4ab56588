import type { Request, RequestHandler, Response } from "express";
import type { z } from "zod";
import type { BudgetEntry } from "../../../domain/limits/budget.ts";
import { InvalidInput, Malformed } from "../../../domain/errors.ts";
import type { RequestBodies } from "../../ports.ts";
import { readBytes } from "./body-bytes.ts";
import type { Parsing } from "./parsing.ts";
import { isMultipart, parseUpload, type UploadLimits } from "./upload.ts";

export interface BodyRules {
  readonly bodies: RequestBodies;
  /** Shared by all requests of the API. */
  readonly parsing: Parsing;
  /** Who is charged for a body's memory: the user who sent it, or the client network before sign-in. */
  readonly holderOf: (request: Request, response: Response) => string;
  readonly limitBytes: (request: Request) => number;
  /** Absent: no request may contain a component's files. */
  readonly uploads?: {
    /** The schema of the body of an operation that takes files; undefined for other operations. */
    readonly bodyOf: (request: Request) => z.ZodObject | undefined;
    readonly limits: UploadLimits;
  };
}

type Form = "json" | "form" | "upload";

/**
 * Reads a JSON object, a form, or a component sent as multipart/form-data. A body without a content type is JSON, because known clients
 * omit it. A body of another type is refused, because ignoring it would mislead the client.
 */
export function readBodies(rules: BodyRules): RequestHandler {
  return async (request, response, next) => {
    const form = formOf(request, rules);
    if (form !== undefined) {
      request.body = await readOne(request, response, form, rules);
      checkObject(request.body);
    }
    next();
  };
}

async function readOne(
  request: Request,
  response: Response,
  form: Form,
  { bodies, parsing, holderOf, limitBytes, uploads }: BodyRules,
): Promise<unknown> {
  const holder = holderOf(request, response);
  const bytes = await readBytes(request, response, { limitBytes: limitBytes(request), holder }, bodies);
  const isJson = form === "json" || (form === "form" && looksLikeJson(bytes));
  const memory = await (isJson
    ? parsing.admitJson(bytes, holder)
    : form === "form"
      ? parsing.admitForm(bytes, holder)
      : parsing.admitUpload(bytes, holder));
  response.locals["bodyMemory"] = memory;
  response.once("close", () => memory.release());
  if (isJson) return bytes.length === 0 ? {} : parseJson(textOf(bytes));
  if (form === "form") return fieldsOf(textOf(bytes));
  const schema = uploads?.bodyOf(request);
  return uploads === undefined || schema === undefined
    ? {}
    : parseUpload(request.headers["content-type"] ?? "", bytes, schema, uploads.limits);
}

/** Memory of the parsed body; released when the response is sent, or earlier. */
export function bodyMemoryOf(response: Response): BudgetEntry | undefined {
  return response.locals["bodyMemory"] as BudgetEntry | undefined; // Only set above.
}

/** Undefined: there is no body, or it is ignored because the method is GET. @throws Malformed for an unsupported type */
function formOf(request: Request, { uploads }: BodyRules): Form | undefined {
  const { "content-length": length, "transfer-encoding": encoding, "content-type": type } = request.headers;
  if (encoding === undefined && (length === undefined || length === "0")) return undefined;
  if (isJson(request)) return "json";
  if (isForm(request)) return "form";
  if (uploads !== undefined && isMultipart(request) && uploads.bodyOf(request) !== undefined) return "upload";
  if (request.method === "GET" || request.method === "HEAD") return undefined;
  throw new Malformed(
    `the body's content type is '${type?.slice(0, 100)}': it must be application/json or application/x-www-form-urlencoded`,
    { code: "wrong_content_type" },
  );
}

interface Typed {
  readonly method?: string | undefined;
  readonly headers: { readonly "content-type"?: string | undefined };
}

/** The body of a GET without a content type is ignored: some clients send one by accident. */
function isJson({ method, headers }: Typed): boolean {
  const type = headers["content-type"]?.trim() ?? "";
  if (type === "") return method !== "GET" && method !== "HEAD";
  return /^application\/([\w.-]+\+)?json *(;|$)/i.test(type);
}

const isForm = ({ headers }: Typed): boolean => /^application\/x-www-form-urlencoded *(;|$)/i.test(headers["content-type"] ?? "");

/** curl sends every body as a form unless a content type is given. */
const looksLikeJson = (bytes: Buffer): boolean => /^\s*[{[]/.test(bytes.toString("latin1", 0, 100));

/** Maps each field of a form to an own property, also for names such as `__proto__`. */
function fieldsOf(form: string): object {
  // URLSearchParams would replace encoded bytes that are not UTF-8 by U+FFFD.
  for (const [encoded] of form.matchAll(/(?:%[\da-f]{2})+/gi)) if (!isDecodable(encoded)) throw invalidUtf8();
  return Object.fromEntries(new URLSearchParams(form));
}

function isDecodable(encoded: string): boolean {
  try {
    return decodeURIComponent(encoded) !== "";
  } catch {
    return false;
  }
}

/** Removes a byte order mark. @throws Malformed for bytes that are not UTF-8: reading them as U+FFFD would change what the client has sent */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalidUtf8(cause);
  }
}

const invalidUtf8 = (cause?: unknown): Malformed =>
  new Malformed("the body is not valid UTF-8: encode it as UTF-8, and binary values in it as base64", { code: "invalid_utf8", cause });

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidJson(cause);
  }
}

/** Keeps only the reason of V8's message, which quotes the surrounding text and so may contain a secret. */
function invalidJson(cause: unknown): Malformed {
  const reason = cause instanceof Error ? `: ${cause.message.replace(/,? (\.\.\.)?".*$/s, "")}` : "";
  return new Malformed(`the body is not valid JSON${reason}`, { code: "invalid_json", cause });
}

function checkObject(body: unknown): void {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new InvalidInput("the body is invalid: it must be a JSON object");
}
