import { z } from "zod";
import { healthStates } from "../../domain/source/source-health.ts";
import { optionalChoice, searchedText, text } from "../http/request/parameters.ts";
import type { SourceSelection } from "../resources/ports.ts";

/** Parameters of lists of sources; an empty one counts as absent. */
export const sourceFilters = z.object({
  state: optionalChoice(healthStates).describe("Only sources in this state."),
  q: searchedText.describe("Text in the name, the name_slug, the id or the component's key, ignoring case."),
  component_key: text.optional().describe("Only sources that run a component with this key."),
  trigger: optionalChoice(["http", "timer", "none"]).describe(
    "Only sources whose component has an HTTP endpoint or a timer; `none`: neither of them.",
  ),
});

export function selectionOf({ state, q, component_key, trigger }: z.output<typeof sourceFilters>): SourceSelection {
  return { state, text: q === "" ? undefined : q, componentKey: component_key === "" ? undefined : component_key, trigger };
}
