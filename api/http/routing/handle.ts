import type { Request, RequestHandler, Response } from "express";
import { NotFound } from "../../../domain/errors.ts";
import { selectFields, type FieldQuery } from "../../../domain/fields.ts";
import type { Warning } from "../../../domain/component/warning.ts";
import { bodyMemoryOf } from "../request/body.ts";
import type { Asked, Handle, Reply } from "../request/call.ts";
import { checkSelectedFields, readGiven, type KnownNames } from "../request/recognized-names.ts";
import { fieldParameters, parse } from "../request/parameters.ts";
import { traceOf } from "../telemetry/traces.ts";

/** Adds the caller to a request. */
export type CallOf<Call extends Asked> = (asked: Asked, response: Response) => Call;

/** Adapts a route to express: parses the request, calls the route, and writes its reply. */
export function handle<Call extends Asked>(
  route: string,
  act: Handle<Call>,
  callOf: CallOf<Call>,
  known: KnownNames | undefined,
): RequestHandler {
  return async (request, response) => {
    response.locals["route"] = route;
    const { call, fields, warnings } = prepare(request, response, callOf, known);
    write(response, await act(call), fields, warnings);
  };
}

/** A separate function, so that only the call holds the body while the route runs, see `dropBody`. */
function prepare<Call extends Asked>(request: Request, response: Response, callOf: CallOf<Call>, known: KnownNames | undefined) {
  const sent = (request.body ?? {}) as Readonly<Record<string, unknown>>; // Checked by body.ts.
  request.body = undefined;
  const { warnings, ...given } = readGiven(request.query, sent, request.method, known);
  const fields = parse(fieldParameters, given.parameters);
  checkSelectedFields(fields, known?.fields);
  const asked = { ...given, path: pathParameters(request.params), trace: traceOf(response), memory: bodyMemoryOf(response) };
  return { call: callOf(asked, response), fields, warnings };
}

function pathParameters(params: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, typeof value === "string" ? value : ""]));
}

/** A parameter of the route's path. */
export function pathOf(call: Asked, name: string): string {
  const value = call.path[name];
  if (value === undefined || value.includes("\0")) throw new NotFound("record not found: no id contains U+0000");
  return value;
}

function write(response: Response, reply: Reply, fields: FieldQuery, ofRequest: readonly Warning[]): void {
  response.status(reply.status);
  if ("text" in reply) return void (reply.status === 204 ? response.end() : response.type("text/plain").send(reply.text));
  if ("json" in reply) return void response.json(reply.json);
  const { data, warnings = [], ...rest } = reply.body;
  const selected = Array.isArray(data) ? data.map((item: object) => selectFields(item, fields)) : selectFields(data, fields);
  const all = [...warnings, ...ofRequest];
  response.json({ ...rest, data: selected, ...(all.length === 0 ? {} : { warnings: all }) });
}
