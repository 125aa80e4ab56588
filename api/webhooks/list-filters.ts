import { z } from "zod";
import { webhookStates } from "../../domain/delivery/webhook-health.ts";
import { optionalChoice, searchedText } from "../http/request/parameters.ts";
import type { ListedSelection } from "../resources/ports.ts";

/** Parameters of lists of webhooks; an empty one counts as absent. */
export const webhookFilters = z.object({
  state: optionalChoice(webhookStates).describe("Only webhooks in this state. Other states than `paused` are up to a minute old."),
  q: searchedText.describe("Text in the name, the URL or the id, ignoring case."),
});

export function selectionOf({ state, q }: z.output<typeof webhookFilters>): ListedSelection {
  return { state, text: q === "" ? undefined : q };
}
