import type { Request, Response } from "express";
import type { z } from "zod";
import type { Read } from "../response/answered.ts";
import type { AnonymousCall, Input } from "../request/call.ts";
import type { Reply } from "../response/replies.ts";

export const methods = ["GET", "POST", "PUT", "DELETE"] as const;
export type Method = (typeof methods)[number];

/** A method and a path in express syntax: `GET /sources/:id`. */
export type RouteName = `${Method} /${string}`;

export interface Route {
  readonly method: Method;
  readonly path: string;
}

export function parseRoute(name: RouteName): Route {
  const [method = "", path = ""] = name.split(" ");
  return { method: method as Method, path }; // As the type of the name says.
}

/** A response body by its zod schema, by its media type, or none. */
export type ResponseBody = z.ZodType | { readonly contentType: string; readonly description: string } | null;

/** What an operation does to what, for the audit log. */
export interface Change {
  /** `create`, `update`, `delete`, or another verb. */
  readonly action: string;
  /** The kind of resource, or `ApiKey`, `Member` and so on. */
  readonly kind: string;
  /** With `dry_run` nothing is changed, and nothing recorded. */
  readonly unlessDryRun?: true;
}

/** The interface of one operation. Its schemas parse requests, check responses in tests, and describe both in the OpenAPI document. */
export interface OperationDocument {
  readonly route: RouteName;
  /** Unique. Generated clients use it as the name of the function. */
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodObject;
  /** Header parameters with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: z.ZodObject;
  /** The fields of the body may also be query parameters, which take precedence. */
  readonly bodyOrQuery?: true;
  /** Parameters without which the operation does more: an empty one is refused, because most likely a variable was not set. */
  readonly neverEmpty?: readonly string[];
  /** The operation changes no resource, although it is a POST: a body without known fields is accepted. */
  readonly changesNoResource?: true;
  /** Each request that succeeds leaves one entry in the audit log. Required unless it changes no resource. */
  readonly change?: Change;
  /** The body may be a multipart form with the files of a component. */
  readonly takesFiles?: true;
  /** The body may contain the code of components, and be as large as one with files. */
  readonly takesCode?: true;
  /** Its body may contain the event of a failed run, which has a request's body twice: parsed, and as text. */
  readonly takesEvent?: true;
  /** The caller authenticates as an OAuth client instead of with an API key. `responses` includes all errors. */
  readonly authentication?: "client";
  /** Successful responses by status. */
  readonly responses: Readonly<Record<number, ResponseBody>>;
  /** Statuses of errors in addition to those that follow from the declaration, see `openapi/error-responses.ts`. */
  readonly errors?: readonly number[];
}

/** An operation with its implementation: `handle` returns a reply, `respond` writes to the response itself. */
export interface Operation<Caller extends AnonymousCall, Context> extends OperationDocument {
  handle?(this: void, call: Caller & Input, context: Context): Promise<Reply>;
  respond?(this: void, request: Request, response: Response, context: Context): Promise<void>;
}

interface Declaration<Query extends z.ZodObject, Body extends z.ZodObject, Responses, Caller, Context> extends OperationDocument {
  readonly query?: Query;
  readonly body?: Body;
  readonly responses: Responses & OperationDocument["responses"];
  readonly handle: (call: Caller & Input<z.output<Query>, z.output<Body>>, context: Context) => Promise<Reply<DataOf<Responses>>>;
}

/**
 * Returns the function that declares operations of an API. It checks that `handle` returns what `responses` declares, and types the
 * call's `query()` and `body()` by their schemas.
 */
export const operationsOf =
  <Caller extends AnonymousCall, Context>() =>
  <Responses extends OperationDocument["responses"], Query extends z.ZodObject = z.ZodObject, Body extends z.ZodObject = z.ZodObject>(
    declaration: Declaration<Query, Body, Responses, Caller, Context>,
  ): Operation<Caller, Context> =>
    declaration;

/** The type of `data`. Never: the response has no `data`. */
type DataOf<Responses> = DataOfBody<Responses[keyof Responses]>;
type DataOfBody<Body> = Body extends z.ZodType<{ data: infer Data extends object }> ? Read<Data> : never;
