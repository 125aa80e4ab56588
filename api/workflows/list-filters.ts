import { z } from "zod";
import { workflowStates } from "../../domain/workflow/workflow-health.ts";
import { optionalChoice, searchedText } from "../http/request/parameters.ts";
import type { ListedSelection } from "../resources/ports.ts";
import { triggerTypes } from "./schemas.ts";

/** Parameters of lists of workflows; an empty one counts as absent. */
export const workflowFilters = z.object({
  state: optionalChoice(workflowStates).describe("Only workflows in this state. Other states than `paused` are up to a minute old."),
  trigger: optionalChoice([...triggerTypes, "none"]).describe("Only workflows with a trigger of this type; `none`: without a trigger."),
  q: searchedText.describe("Text in the name or the id, ignoring case."),
});

export function selectionOf({ state, trigger, q }: z.output<typeof workflowFilters>): ListedSelection {
  return { state, trigger, text: q === "" ? undefined : q };
}
