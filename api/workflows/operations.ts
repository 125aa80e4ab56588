import { z } from "zod";
import { workflowKind } from "../../crds/workflow.ts";
import { eventSummary } from "../../domain/event/event-summary.ts";
import { InvalidInput } from "../../domain/errors.ts";
import type { PageRequest } from "../../domain/page.ts";
import { ok, okPage, type Call } from "../http/request/call.ts";
import { pathOf } from "../http/routing/handle.ts";
import { parse, parseEventPage, text } from "../http/request/parameters.ts";
import type { Listed, StoredEvent } from "../ports.ts";
import { publicIdOf } from "../resources/identity.ts";
import { workflowResponse, type WorkflowResource } from "./response.ts";
import type { ApiContext } from "../context.ts";

export const summaries = z.object({ expand: text.optional() });

/**
 * Events and errors of workflows, read from the same history as those of sources. Workflows do not run yet, so nothing of
 * theirs is recorded: an existing workflow has an empty page.
 */
export function workflowRoutes(context: ApiContext) {
  const { history } = context.ports;
  return {
    get: async (call: Call) => {
      const workflow = await workflowOf(call, context);
      return ok(workflowResponse(workflow, await context.access.ownerOf(workflow)));
    },
    summaries: (call: Call) => summariesOf(call, context, (workflow, page) => history.pageEvents(workflow, page)),
    errors: (call: Call) => summariesOf(call, context, (workflow, page) => history.pageDerived(workflow, "$errors", page)),
  };
}

type Read = (workflow: string, page: PageRequest) => Promise<Listed<StoredEvent>>;

/** @throws NotFound */
const workflowOf = (call: Call, { access }: ApiContext): Promise<WorkflowResource> =>
  access.getListed(workflowKind, "workflow", pathOf(call, "workflow_id"), call.user);

async function summariesOf(call: Call, context: ApiContext, read: Read) {
  const { expand = "" } = parse(summaries, call.parameters);
  if (expand !== "" && expand !== "event") throw new InvalidInput(`expand '${expand}' is invalid: it must be 'event'`);
  const page = parseEventPage(call.parameters);
  const emitter = publicIdOf(await workflowOf(call, context));
  const options = { emitter, expand: expand === "event" };
  const show = (event: StoredEvent) => eventSummary(event, { ...options, indexedAtMs: event.indexedAtMs });
  return okPage(await read(emitter, page), show, "event");
}
