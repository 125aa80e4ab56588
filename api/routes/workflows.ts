import { z } from "zod";
import { workflowKind } from "../../crds/workflow.ts";
import { eventSummary } from "../../domain/event-summary.ts";
import { InvalidInput } from "../../domain/errors.ts";
import { okPage, type Call, type Handle, type Reply } from "../http/call.ts";
import { pathOf } from "../http/handle.ts";
import { parse, parsePage, text } from "../http/parameters.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "./context.ts";

export const summaries = z.object({ expand: text.optional() });

/**
 * What workflows emitted and what went wrong in them, read where the events of sources are. Nothing runs workflows yet, so nothing
 * of theirs is recorded: a workflow that exists has an empty page.
 */
export function workflowRoutes(context: ApiContext): Record<"summaries" | "errors", Handle> {
  return {
    summaries: (call) => summariesOf(call, context),
    errors: (call) => summariesOf(call, context, "$errors"),
  };
}

async function summariesOf(call: Call, { access, ports }: ApiContext, channel?: string): Promise<Reply> {
  const { expand = "" } = parse(summaries, call.parameters);
  if (expand !== "" && expand !== "event") throw new InvalidInput(`expand '${expand}' is invalid: it must be 'event'`);
  const page = parsePage(call.parameters, "event");
  const emitter = publicIdOf(await access.getListed(workflowKind, "workflow", pathOf(call, "workflow_id"), call.user));
  const found = await ports.history.pageEvents(emitter, { ...page, ...(channel === undefined ? {} : { channel }) });
  return okPage(found, (event) => eventSummary(event, { emitter, indexedAtMs: event.indexedAtMs, expand: expand === "event" }), "event");
}
