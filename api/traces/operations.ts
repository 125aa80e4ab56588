import { z } from "zod";
import { operation } from "../context.ts";
import { flag } from "../http/request/parameters.ts";
import { ok } from "../http/response/replies.ts";
import { one } from "../http/response/schemas.ts";
import { pathOf } from "../http/routing/handle.ts";
import { readTrace } from "./read-trace.ts";
import { traceResponse } from "./response.ts";
import { traceSchema } from "./schemas.ts";
import { VisibleObjects } from "./visible-objects.ts";

export const traceOperations = [
  operation({
    route: "GET /traces/:id",
    id: "getTrace",
    summary: "Get the trace of a run, an event or a delivery",
    description: "What led to it, up to the first request, tick or event, and all that this one has caused.",
    query: z.object({ below: flag.optional().describe("True: without what led to it.") }),
    responses: one(traceSchema),
    handle: async (call, { access, ports }) => {
      const { below = false } = call.query();
      const objects = new VisibleObjects(access, call.user);
      return ok(traceResponse(await readTrace(pathOf(call, "id"), ports.traceRecords, objects, below)));
    },
  }),
];
