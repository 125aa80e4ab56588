import type { LRUCache } from "lru-cache";
import { isAnswered } from "../domain/answered.ts";
import { Asides, type AsidesPorts } from "./asides.ts";
import type { History } from "./history.ts";
import type { Intake, RunnerPorts } from "./ports.ts";
import type { Waiting } from "./waiting.ts";

export function asidesOf({ asides: store, log }: RunnerPorts, ports: Omit<AsidesPorts, "store" | "log">): Asides | undefined {
  return store === undefined ? undefined : new Asides({ ...ports, store, log });
}

/** Nothing of a partition is handed out before it is known what lies aside. */
export function besideAsides(intake: Pick<Intake, "read">, asides: Asides | undefined): Pick<Intake, "read"> {
  if (asides === undefined) return intake;
  return {
    read: async (partition, onMessage) => {
      await asides.open(partition);
      const reading = await intake.read(partition, onMessage);
      return {
        stop: () => {
          asides.close(partition);
          return reading.stop();
        },
      };
    },
  };
}

/** What came again though it was answered need not lie anywhere. */
export function hasAnswered(
  { received: { invocation, number } }: Pick<Waiting, "received">,
  histories: LRUCache<string, History>,
): boolean {
  const history = histories.peek(invocation.source);
  return history !== undefined && isAnswered(history.state.answered, number);
}
