import type { OperatorPorts } from "./ports.ts";

/** Randomizes a delay to 75–100 %, so that resources created together are not polled together forever. */
export function spread(ms: number, { random }: Pick<OperatorPorts, "random">): number {
  return ms * (0.75 + random() / 4);
}
