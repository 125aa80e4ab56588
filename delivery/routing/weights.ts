import type { DeliveryPorts } from "../ports.ts";

/** What was told is forgotten after an hour. */
const tellAgainMs = 20 * 60_000;

type Ports = Pick<DeliveryPorts, "history" | "ownerLimits" | "clock">;

/** What runners were told of owners' weights, by this process: the rest they forget. */
export type ToldWeights = Map<string, { readonly weight: number; readonly atMs: number }>;

/** Tells runners of weights that changed or are about to be forgotten. What cannot be told now is told the next time. */
export async function tellWeights(told: ToldWeights, { history, ownerLimits, clock }: Ports): Promise<void> {
  const weights = await history.listWeights();
  const now = clock.now();
  for (const [owner, weight] of weights) {
    const before = told.get(owner);
    if (before?.weight === weight && now - before.atMs < tellAgainMs) continue;
    await ownerLimits.setWeight(owner, weight);
    told.set(owner, { weight, atMs: now });
  }
  for (const owner of told.keys()) {
    if (weights.has(owner)) continue;
    await ownerLimits.removeWeight(owner);
    told.delete(owner);
  }
}
