import type { Socket } from "node:net";
import type { BodyPiece } from "../../../../domain/run-products.ts";
import type { FileCall, FileResult } from "../file-call.ts";
import type { StoreCall } from "../store-call.ts";

/** What a guest may ask about a name: its addresses as `dns.lookup` returns them, or records of a type as `dns.resolve` does. */
export const nameQueries = ["lookup", "A", "AAAA", "CAA", "CNAME", "MX", "NAPTR", "NS", "PTR", "SOA", "SRV", "TXT"] as const;
export type NameQuery = (typeof nameQueries)[number];

export const maxNameLength = 1024;

/**
 * How operations reach other machines. Behind it, each name is resolved once, the egress policy judges all of its addresses, and a
 * connection goes to one of these: operations have no other way out.
 *
 * Rejects with a `code`: `egress_denied`, that of the resolver or the kernel (`ENOTFOUND`, `ECONNREFUSED`, `ETIMEDOUT`), or the signal's reason.
 */
export interface Network {
  /** A connected socket of which nothing has been read. @param host name or address, in any spelling that the resolver accepts */
  connect(host: string, port: number, signal: AbortSignal): Promise<Socket>;
  /** Plain values. */
  resolve(query: NameQuery, name: string, signal: AbortSignal): Promise<unknown>;
  /** Has the parent perform an operation on the data store of a prop. Rejects with the `code` of its error. */
  askStore(call: StoreCall, signal: AbortSignal): Promise<unknown>;
  /** Has the parent read or store files of the workflow run. Rejects with the `code` of its error. */
  askFiles(call: FileCall, signal: AbortSignal): Promise<FileResult>;
  /** Sends the next bytes of a streamed response, and waits for room. False when the caller reads no more. */
  sendPiece(piece: BodyPiece, signal: AbortSignal): Promise<boolean>;
}

/** The network of a process, which all of its contexts share. */
export interface SharedNetwork {
  connect(user: NetworkUser, ...request: Parameters<Network["connect"]>): ReturnType<Network["connect"]>;
  resolve(user: NetworkUser, ...request: Parameters<Network["resolve"]>): ReturnType<Network["resolve"]>;
  askStore(user: NetworkUser, ...request: Parameters<Network["askStore"]>): ReturnType<Network["askStore"]>;
  askFiles(user: NetworkUser, ...request: Parameters<Network["askFiles"]>): ReturnType<Network["askFiles"]>;
  sendPiece(user: NetworkUser, ...request: Parameters<Network["sendPiece"]>): ReturnType<Network["sendPiece"]>;
}

/** On whose behalf the network is used. */
export interface NetworkUser {
  readonly owner: string;
  /** The parent's number of the execution in progress; undefined between two. */
  readonly execution: number | undefined;
}
