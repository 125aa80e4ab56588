import { choiceArgument, textArgument } from "../arguments.ts";
import type { AsyncOperation } from "../context.ts";
import { withSlot } from "../slots.ts";
import { maxNameLength, nameQueries } from "./network.ts";

const concurrent = 8;

/**
 * `dns("lookup", host)` → [{address, family}], judged by the egress policy.
 * `dns("A" | "MX" | …, name)` → the records as `dns.resolve` of Node returns them. The egress policy also judges the addresses in them.
 */
export const dnsAsync: Record<string, AsyncOperation> = {
  dns: (context, [what, given]) =>
    withSlot(context, "dns", concurrent, () => {
      const name = textArgument(given, "host name", maxNameLength);
      return context.network.resolve(choiceArgument(what, "record type", nameQueries), name, context.signal);
    }),
};
