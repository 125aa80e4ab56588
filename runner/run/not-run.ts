import type { Answer, Invocation, NotRunReason } from "../../domain/invocation/invocation.ts";
import type { HttpResponse } from "../../domain/run-products.ts";

/** The answer to a caller whose invocation does not run. The caller of an endpoint knows its address, but nothing behind it. */
export function notRun({ trigger }: Pick<Invocation, "trigger">, reason: NotRunReason): Answer {
  return trigger === "http" ? { kind: "response", response: responses[reason] } : { kind: "not-run", reason };
}

const responses: Readonly<Record<NotRunReason, HttpResponse>> = {
  paused: response(
    503,
    "endpoint_paused",
    "this endpoint was paused before it handled the request: send it again once the endpoint is active",
  ),
  deleted: response(404, "endpoint_not_found", "this endpoint was deleted before it handled the request"),
};

function response(status: number, code: string, error: string): HttpResponse {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify({ error, code }) };
}
