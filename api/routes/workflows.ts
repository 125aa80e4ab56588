import { z } from "zod";
import { workflowKind } from "../../crds/workflow.ts";
import { eventSummary } from "../../domain/event-summary.ts";
import { InvalidInput } from "../../domain/errors.ts";
import type { PageRequest } from "../../domain/page.ts";
import { okPage, type Call } from "../http/call.ts";
import { pathOf } from "../http/handle.ts";
import { parse, parsePage, text } from "../http/parameters.ts";
import type { Listed, StoredEvent } from "../ports.ts";
import { publicIdOf } from "../resources/identity.ts";
import type { ApiContext } from "./context.ts";

export const summaries = z.object({ expand: text.optional() });

/**
 * What workflows emitted and what went wrong in their runs, read where that of sources is. Nothing runs workflows yet, so nothing of
 * theirs is recorded: a workflow that exists has an empty page.
 */
export function workflowRoutes(context: ApiContext) {
  const { history } = context.ports;
  return {
    summaries: (call: Call) => summariesOf(call, context, (workflow, page) => history.pageEvents(workflow, page)),
    errors: (call: Call) => summariesOf(call, context, (workflow, page) => history.pageDerived(workflow, "$errors", page)),
  };
}

type Read = (workflow: string, page: PageRequest) => Promise<Listed<StoredEvent>>;

async function summariesOf(call: Call, { access }: ApiContext, read: Read) {
  const { expand = "" } = parse(summaries, call.parameters);
  if (expand !== "" && expand !== "event") throw new InvalidInput(`expand '${expand}' is invalid: it must be 'event'`);
  const page = parsePage(call.parameters, "event");
  const emitter = publicIdOf(await access.getListed(workflowKind, "workflow", pathOf(call, "workflow_id"), call.user));
  const options = { emitter, expand: expand === "event" };
  const show = (event: StoredEvent) => eventSummary(event, { ...options, indexedAtMs: event.indexedAtMs });
  return okPage(await read(emitter, page), show, "event");
}
