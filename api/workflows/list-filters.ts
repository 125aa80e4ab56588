import { z } from "zod";
import { flag, optionalChoice, optionalParameter, searchedText } from "../http/request/parameters.ts";
import type { ListedSelection } from "../ports.ts";
import { triggerTypes } from "./schemas.ts";

/** Parameters of lists of workflows; an empty one counts as absent. */
export const workflowFilters = z.object({
  active: optionalParameter(flag, "it must be true or false").describe("Only workflows that run, or only those that do not."),
  trigger: optionalChoice([...triggerTypes, "none"]).describe("Only workflows with a trigger of this type; `none`: without a trigger."),
  q: searchedText.describe("Text in the name or the id, ignoring case."),
});

export function selectionOf({ active, trigger, q }: z.output<typeof workflowFilters>): ListedSelection {
  return { active, trigger, text: q === "" ? undefined : q };
}
