import { InvalidInput } from "../../../domain/errors.ts";
import { compareEventIds } from "../../../domain/event/event-id.ts";
import type { Call } from "./call.ts";

/**
 * Protects against unset variables of scripts, which must not select all events: of these parameters, one must have a value if one is
 * empty. @param all how to select all events
 * @throws InvalidInput
 */
export function refuseEmptyRange(
  { emptyParameters: empty, parameters }: Pick<Call, "emptyParameters" | "parameters">,
  names: readonly string[],
  { nothing, all }: { readonly nothing: string; readonly all: string },
): void {
  const first = names.find((name) => empty.includes(name));
  if (first === undefined || names.some((name) => parameters[name] !== undefined && !empty.includes(name))) return;
  throw new InvalidInput(`${nothing}: ${first} is empty; give it a value, or ${all}`, { code: "empty_range" });
}

/** @throws InvalidInput when `start_id` is after `end_id`: such a range is empty */
export function checkEventIds(start: string | undefined, end: string | undefined): void {
  if (start !== undefined && end !== undefined && compareEventIds(start, end) > 0) throw swapped("start_id", start, "end_id", end);
}

/**
 * @param names of the parameters
 * @throws InvalidInput when `since` is after `until`, or when either is in seconds, which as milliseconds is in early 1970
 */
export function checkTimes(
  since: number | undefined,
  until: number | undefined,
  [start, end]: readonly [string, string] = ["since", "until"],
): void {
  for (const [name, time] of [
    [start, since],
    [end, until],
  ] as const)
    if (time !== undefined && time >= 1e9 && time < 1e10)
      throw new InvalidInput(`${name} ${time} looks like seconds: it must be epoch milliseconds, ${time * 1_000}`, {
        code: "time_in_seconds",
      });
  if (since !== undefined && until !== undefined && since > until) throw swapped(start, since, end, until);
}

function swapped(startName: string, start: string | number, endName: string, end: string | number): InvalidInput {
  return new InvalidInput(`${startName} ${start} is after ${endName} ${end}: swap them`, { code: "swapped_bounds" });
}
