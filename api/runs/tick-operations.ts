import { okPage, type Call } from "../http/request/call.ts";
import { parsePage } from "../http/request/parameters.ts";
import { tickResponse } from "./tick-response.ts";
import type { ApiContext } from "../context.ts";
import { sourceIdOf } from "../sources/operations.ts";

/** The results of the ticks of a source's timers. */
export function tickRoutes(context: ApiContext) {
  return {
    list: async (call: Call) => {
      const page = parsePage(call.parameters, "event");
      const source = await sourceIdOf(call, context);
      return okPage(await context.ports.history.pageTicks(source, page), tickResponse, "event");
    },
  };
}
