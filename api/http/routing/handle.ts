import type { Request, RequestHandler, Response } from "express";
import { maxDetails, NotFound } from "../../../domain/errors.ts";
import { selectFields, type FieldQuery } from "../../../domain/fields.ts";
import type { Warning } from "../../../domain/component/warning.ts";
import { addressOf } from "../access/failure-limit.ts";
import { bodyMemoryOf } from "../request/body.ts";
import type { AnonymousCall, Input } from "../request/call.ts";
import type { Reply } from "../response/replies.ts";
import { checkSelectedFields, readGiven, type KnownNames } from "../request/recognized-names.ts";
import { fieldParameters } from "../request/parameters.ts";
import { parse } from "../request/parse.ts";
import { unencodedUrlWarnings } from "../request/unencoded-url.ts";
import { traceOf } from "../telemetry/traces.ts";
import { boundedList } from "../response/bounds.ts";
import { writeList, type ListWriting } from "../response/write-list.ts";
import type { Operation, OperationDocument } from "./operation.ts";

/** Adds the caller to a request. */
export type CallOf<Caller extends AnonymousCall> = (call: AnonymousCall & Input, response: Response) => Caller & Input;

/** The memory of lists, and the user who asks. */
export type ListWriter = (response: Response) => Pick<ListWriting, "memory" | "holder">;

/** Adapts an operation to express: reads the request, calls the operation, and writes its reply. */
export function handle<Caller extends AnonymousCall, Context>(
  operation: Operation<Caller, Context>,
  route: string,
  context: Context,
  callOf: CallOf<Caller>,
  known: KnownNames,
  lists: ListWriter,
): RequestHandler {
  return async (request, response) => {
    response.locals["route"] = route;
    const { call, fields, warnings } = prepare(request, response, operation, callOf, known);
    const reply = await operation.handle?.(call, context);
    if (reply === undefined) return;
    if ("list" in reply)
      await writeList(response, reply.list, { ...lists(response), select: (item) => selectFields(item, fields), warnings });
    else write(response, reply, fields, warnings);
  };
}

/** A separate function, so that only the call holds the body while the operation runs, see `dropBody`. */
function prepare<Caller extends AnonymousCall>(
  request: Request,
  response: Response,
  { query, body, bodyOrQuery }: OperationDocument,
  callOf: CallOf<Caller>,
  known: KnownNames,
) {
  const sent = (request.body ?? {}) as Readonly<Record<string, unknown>>; // Checked by body.ts.
  request.body = undefined;
  const { warnings: ofNames, ...given } = readGiven(request.query, sent, request.method, known);
  const warnings = [...ofNames, ...unencodedUrlWarnings(request.url, known.body)];
  const fields = parse(fieldParameters, given.parameters);
  checkSelectedFields(fields, known.fields);
  const call: AnonymousCall & Input = {
    ...given,
    path: pathParameters(request.params),
    trace: traceOf(response),
    address: addressOf(response),
    memory: bodyMemoryOf(response),
    query() {
      return query === undefined ? {} : parse(query, this.parameters);
    },
    body() {
      return body === undefined ? {} : parse(body, bodyOrQuery === true ? this.parameters : this.fields);
    },
  };
  return { call: callOf(call, response), fields, warnings };
}

function pathParameters(params: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, typeof value === "string" ? value : ""]));
}

/** A parameter of the operation's path. */
export function pathOf(call: AnonymousCall, name: string): string {
  const value = call.path[name];
  if (value === undefined || value.includes("\0")) throw new NotFound("record not found: no id contains U+0000");
  return value;
}

function write(
  response: Response,
  reply: Exclude<Reply, { readonly list: unknown }>,
  fields: FieldQuery,
  ofRequest: readonly Warning[],
): void {
  response.status(reply.status);
  if ("text" in reply) return void (reply.status === 204 ? response.end() : response.type("text/plain").send(reply.text));
  if ("json" in reply) return void response.json(reply.json);
  const { data, warnings = [], ...rest } = reply.body;
  const selected = Array.isArray(data) ? data.map((item: object) => selectFields(item, fields)) : selectFields(data, fields);
  const all = boundedList([...warnings.slice(0, Math.max(0, maxDetails - ofRequest.length)), ...ofRequest]);
  response.json({ ...rest, data: selected, ...(all.length === 0 ? {} : { warnings: all }) });
}
