import type { BuildRequests } from "../../builder/ports.ts";
import type { Traces } from "../../domain/traces.ts";

/** Makes each build a trace of its own. */
export function tracedBuilds(requests: BuildRequests, traces: Traces | undefined): BuildRequests {
  if (traces === undefined) return requests;
  return {
    serve: (calls) =>
      requests.serve({
        ...calls,
        build: async (request) => {
          const span = traces.start("component.build", {});
          let error: string | undefined = "failed";
          try {
            const build = await calls.build(request);
            error = undefined;
            return build;
          } finally {
            span.end({ error });
          }
        },
      }),
  };
}
