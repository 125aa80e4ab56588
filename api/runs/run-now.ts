import { defaultEvent } from "../../domain/invocation/manual-event.ts";
import type { Warning } from "../../domain/component/warning.ts";
import { waitUntil } from "../../domain/retry.ts";
import type { ApiContext } from "../context.ts";
import { findComponent } from "../sources/facts.ts";
import { asItRuns } from "../resources/source.ts";
import type { SourceResource } from "../resources/source.ts";

/** The event of a manual run without one. @throws InvalidInput when `run` needs an event and the source has no trigger that defines it */
export async function defaultEventOf(source: SourceResource, context: ApiContext): Promise<unknown> {
  const component = await findComponent(source, context);
  if (component?.definition === undefined) return undefined;
  const { spec, status } = asItRuns(source);
  const { definition } = component;
  const run = { definition, configurableProps: status.configurableProps, props: spec.props, endpoint: status.endpoint ?? null };
  return defaultEvent(run, context.ports.clock.now());
}

const pollMs = 40;

/**
 * Waits until the history has the run and its events, so that the caller's next request finds them.
 * @returns a warning if that takes too long; the run has ended, and appears later
 */
export async function untilRecorded(source: string, run: string, { config, ports }: ApiContext): Promise<readonly Warning[]> {
  // Ignore errors: the history may be readable a moment later, and the run's result is returned in any case.
  const isRecorded = async (): Promise<boolean> => (await ports.history.findRun(source, run).catch(() => undefined)) !== undefined;
  return (await waitUntil(isRecorded, config.recordTimeoutMs, pollMs)) ? [] : [notRecorded(run)];
}

const notRecorded = (run: string): Warning => ({
  code: "not_recorded_yet",
  message: `run ${run} has ended, but is not recorded yet: until then, GET does not show it, its events and its logs`,
  path: "id",
});
