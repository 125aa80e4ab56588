import { InvalidInput } from "../../domain/errors.ts";
import { suggestion } from "../../domain/nearest-name.ts";

/**
 * Nothing is emitted on channels that begin with `$`: they are the system's.
 * @throws InvalidInput for such a name that is none of these
 */
export function checkChannel(channel: string | undefined, system: readonly string[]): void {
  if (channel === undefined || !channel.startsWith("$") || system.includes(channel)) return;
  const hint = suggestion(channel, system, `: names that begin with $ are the system's, here ${system.join(", ")}`);
  throw new InvalidInput(`event_name '${channel.slice(0, 80)}' is no channel${hint}`, { code: "unknown_channel" });
}
