import { isFunction, type Fields, type Self } from "./contract.ts";
import { aboutMember, ownNames, propsOf, type Described } from "./props.ts";
import { callMember, emitAll, enable, isTest, tickDone, tickOf } from "./trigger.ts";

/** Seconds between polls, unless the owner of the source chooses others. */
const intervalSeconds = 300;

/** A polling trigger as a source with a timer: `run` of the trigger finds what is new, and equal events are emitted once. */
export function pollingSourceOf(described: Described, name: string, key: string): Fields {
  const names = ownNames(described);
  return {
    ...aboutMember(described, name, key),
    type: "source",
    dedupe: "unique",
    props: {
      ...propsOf(described),
      [names.db]: "$.service.db",
      [names.timer]: { type: "$.interface.timer", label: "Polling interval", default: { intervalSeconds } },
    },
    hooks: {
      async activate(this: Self): Promise<void> {
        await enable({ ...described, self: this }, true);
      },
    },
    async run(this: Self, event?: unknown): Promise<void> {
      const call = { ...described, self: this };
      if (isTest(event) && isFunction(described.member["test"])) return emitAll(this, await callMember(call, "test"), true);
      const tick = tickOf(call, event);
      if (tick === "waits") return;
      emitAll(this, await callMember(call, "run"), tick === "repeats");
      tickDone(call);
    },
  };
}
