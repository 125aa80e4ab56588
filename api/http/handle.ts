import type { RequestHandler, Response } from "express";
import { NotFound } from "../../domain/errors.ts";
import { selectFields, type FieldQuery } from "../../domain/fields.ts";
import type { Asked, Handle, Reply } from "./call.ts";
import { fieldParameters, parse } from "./parameters.ts";
import { traceOf } from "./traces.ts";

/** Adds who is asking to what is asked. */
export type CallOf<Call extends Asked> = (asked: Asked, response: Response) => Call;

/** Joins a route to express: request in, call; reply, response out. */
export function handle<Call extends Asked>(route: string, act: Handle<Call>, callOf: CallOf<Call>): RequestHandler {
  return async (request, response) => {
    response.locals["route"] = route;
    const body = (request.body ?? {}) as Readonly<Record<string, unknown>>; // checked by body.ts
    const asked = {
      path: pathParameters(request.params),
      body,
      parameters: { ...body, ...request.query },
      trace: traceOf(response),
    };
    const fields = parse(fieldParameters, asked.parameters);
    write(response, await act(callOf(asked, response)), fields);
  };
}

function pathParameters(params: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, typeof value === "string" ? value : ""]));
}

/** A parameter that the route's pattern names. */
export function pathOf(call: Asked, name: string): string {
  const value = call.path[name];
  if (value === undefined || value.includes("\0")) throw new NotFound();
  return value;
}

function write(response: Response, reply: Reply, fields: FieldQuery): void {
  response.status(reply.status);
  if ("text" in reply) return void (reply.status === 204 ? response.end() : response.type("text/plain").send(reply.text));
  const { data, ...rest } = reply.body;
  const selected = Array.isArray(data) ? data.map((item: object) => selectFields(item, fields)) : selectFields(data, fields);
  response.json({ ...rest, data: selected });
}
