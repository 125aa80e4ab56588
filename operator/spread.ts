import type { OperatorPorts } from "./ports.ts";

/** A wait of three quarters of the time or more: what was made together is not looked at together for ever. */
export function spread(ms: number, { random }: Pick<OperatorPorts, "random">): number {
  return ms * (0.75 + random() / 4);
}
