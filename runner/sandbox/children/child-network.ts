import { Connector, type EgressPolicy } from "../network/connector.ts";
import type { SharedNetwork } from "../operations/network/network.ts";

/** The network of a child that connects itself, where descriptors cannot be passed. It obeys the egress policy as long as it is honest. */
export function childNetwork(egress: EgressPolicy, threads: number): Pick<SharedNetwork, "connect" | "resolve"> {
  const connector = new Connector(egress, threads);
  const ifInProgress = ({ owner, execution }: { readonly owner: string; readonly execution: number | undefined }): string => {
    if (execution === undefined) throw new Error("the run has ended");
    return owner;
  };
  return {
    // It is paused, and nothing is read before its user listens.
    connect: async (user, host, port, signal) => (await connector.connect(ifInProgress(user), host, port, signal)).resume(),
    resolve: async (user, query, name, signal) => await connector.resolve(ifInProgress(user), query, name, signal),
  };
}
