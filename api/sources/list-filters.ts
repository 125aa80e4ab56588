import { z } from "zod";
import { healthStates } from "../../domain/source/source-health.ts";
import { parse, text } from "../http/request/parameters.ts";
import type { SourceSelection } from "../ports.ts";

const empty = z.literal("").transform(() => undefined);
const maxTextLength = 200;
const aboutState = `it must be ${healthStates.slice(0, -1).join(", ")} or ${healthStates.at(-1)}`;

/** Parameters of lists of sources; an empty one counts as absent. */
export const sourceFilters = z.object({
  state: z.union([empty, z.enum(healthStates, aboutState)], aboutState).optional(),
  q: text.max(maxTextLength, `it must have at most ${maxTextLength} characters`).optional(),
  component_key: text.optional(),
});

/** @throws InvalidInput */
export function parseSourceFilters(parameters: unknown): SourceSelection {
  const { state, q, component_key } = parse(sourceFilters, parameters);
  return { state, text: q === "" ? undefined : q, componentKey: component_key === "" ? undefined : component_key };
}
