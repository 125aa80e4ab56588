import type { Network, NetworkUser, SharedNetwork } from "../operations/network/network.ts";

/** The network of one context, on behalf of the execution in progress when it is used. */
export function contextNetwork(shared: SharedNetwork, user: NetworkUser): Network {
  return {
    connect: (host, port, signal) => shared.connect(user, host, port, signal),
    askStore: (call, signal) => shared.askStore(user, call, signal),
    askFiles: (call, signal) => shared.askFiles(user, call, signal),
    sendPiece: (piece, signal) => shared.sendPiece(user, piece, signal),
    resolve: (query, name, signal) => shared.resolve(user, query, name, signal),
  };
}
