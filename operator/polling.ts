import type { OperatorPorts } from "./ports.ts";

/** How often Secrets, ConfigMaps and memberships are read, because changes of them are not watched. */
export const defaultExternalPollMs = 120_000;
/** How often to check for an owner where changes of the namespace's label are not watched. */
export const ownerRetryMs = 30_000;

/** Randomizes a delay to 75–100 %, so that resources created together are not polled together forever. */
export function spread(ms: number, { random }: Pick<OperatorPorts, "random">): number {
  return ms * (0.75 + random() / 4);
}
