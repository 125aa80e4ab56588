import { setTimeout as pause } from "node:timers/promises";
import { defaultEvent } from "../../domain/manual-event.ts";
import type { Warning } from "../../domain/warning.ts";
import type { ApiContext } from "../routes/context.ts";
import { findComponent } from "./facts.ts";
import { asItRuns } from "./running.ts";
import type { SourceResource } from "./source.ts";

/** The event of a run that is asked for without one. @throws InvalidInput when the source's run needs an event that nothing describes */
export async function defaultEventOf(source: SourceResource, context: ApiContext): Promise<unknown> {
  const component = await findComponent(source, context);
  if (component?.definition === undefined) return undefined;
  const { spec, status } = asItRuns(source);
  const { definition } = component;
  const run = { definition, configurableProps: status.configurableProps, props: spec.props, endpoint: status.endpoint ?? null };
  return defaultEvent(run, context.ports.clock.now());
}

const firstPauseMs = 10;
const maxPauseMs = 100;

/**
 * Waits until the history shows the run and its events, so that the caller's next request finds what this answer names.
 * @returns a warning when that takes too long: the run has ended all the same, and is shown later
 */
export async function untilRecorded(source: string, run: string, { config, ports }: ApiContext): Promise<readonly Warning[]> {
  const deadline = performance.now() + config.recordTimeoutMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
    // A history that cannot be read now may be readable a moment later, and the run is answered in any case.
    if ((await ports.history.findRun(source, run).catch(() => undefined)) !== undefined) return [];
    if (performance.now() + pauseMs > deadline) return [notRecorded(run)];
    await pause(pauseMs);
  }
}

const notRecorded = (run: string): Warning => ({
  code: "not_recorded_yet",
  message: `run ${run} has ended and is not recorded yet: until it is, GET does not show it, its events and its logs`,
  path: "id",
});
