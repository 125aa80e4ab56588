import { InvalidInput } from "../../../domain/errors.ts";
import { scheduledChannel } from "../../../domain/schedule/scheduled-event.ts";
import { suggestion } from "../../../domain/nearest-name.ts";

/** The system channels that can be read. */
export const readableChannels = ["$errors", "$logs", scheduledChannel];

/**
 * Checks the name of a channel: names that begin with `$` are reserved for the system.
 * @throws InvalidInput for such a name that is not in `system`
 */
export function checkChannel(channel: string | undefined, system: readonly string[]): void {
  if (channel === undefined || !channel.startsWith("$") || system.includes(channel)) return;
  const hint = suggestion(channel, system, `: names that begin with $ are reserved, here ${system.join(", ")}`);
  throw new InvalidInput(`event_name '${channel.slice(0, 80)}' is not a channel${hint}`, { code: "unknown_channel" });
}
