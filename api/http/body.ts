import express, { type RequestHandler } from "express";
import { InvalidInput, Malformed } from "../../domain/errors.ts";

const maxDepth = 64;

/**
 * Reads a JSON object or a form, unless the body was read before. A body of another type is refused rather than ignored: its sender
 * believes it was read.
 */
export function readBodies(bodyBytes: number): RequestHandler[] {
  return [
    refuseOtherTypes,
    // Not strict: what is JSON and no object is refused below, in its own words.
    express.json({ limit: bodyBytes, type: isJson, strict: false }),
    express.text({ limit: bodyBytes, type: isForm, defaultCharset: "utf-8" }),
    readForm,
    checkBody,
  ];
}

interface Typed {
  readonly headers: { readonly "content-type"?: string | undefined };
}
const isJson = ({ headers }: Typed): boolean => /^application\/([\w.-]+\+)?json *(;|$)/i.test(headers["content-type"] ?? "");
const isForm = ({ headers }: Typed): boolean => /^application\/x-www-form-urlencoded *(;|$)/i.test(headers["content-type"] ?? "");

/** Fields are texts. What begins like JSON is that: curl calls every body a form that it is not told the type of. */
const readForm: RequestHandler = (request, _response, next) => {
  const body: unknown = request.body;
  if (typeof body === "string" && isForm(request)) request.body = /^\s*[{[]/.test(body) ? parseJson(body) : fieldsOf(body);
  next();
};

/** Each a property of its own, whatever its name. */
const fieldsOf = (form: string): object => Object.fromEntries(new URLSearchParams(form));

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Malformed("the body is not valid JSON", { code: "invalid_json", cause });
  }
}

const refuseOtherTypes: RequestHandler = (request, _response, next) => {
  const { "content-length": length, "transfer-encoding": encoding, "content-type": type } = request.headers;
  const hasBody = encoding !== undefined || (length !== undefined && length !== "0");
  if (
    hasBody &&
    request.body === undefined &&
    request.method !== "GET" &&
    request.method !== "HEAD" &&
    !isJson(request) &&
    !isForm(request)
  ) {
    throw new Malformed(
      `the body's content type is ${type === undefined ? "missing" : `'${type}'`}: it must be application/json or application/x-www-form-urlencoded`,
      {
        code: "wrong_content_type",
      },
    );
  }
  next();
};

const checkBody: RequestHandler = (request, _response, next) => {
  const body: unknown = request.body;
  if (body !== undefined && (typeof body !== "object" || body === null || Array.isArray(body)))
    throw new InvalidInput("the body is invalid: it must be a JSON object");
  if (depthExceeds(body, maxDepth)) throw new InvalidInput(`the body is nested more than ${maxDepth} levels deep`);
  next();
};

/** By a list in place of recursion: a body of a million brackets must not overflow the stack. */
function depthExceeds(value: unknown, limit: number): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit) return true;
    level = level
      .flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []))
      .filter((each) => typeof each === "object" && each !== null);
  }
  return false;
}
