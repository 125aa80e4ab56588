import { on, onRunEnd, post, type Sendable } from "../../runtime/bridge.ts";
import { beginWork, endWork, type OpenWork } from "../../runtime/open-work.ts";
import { noteRefusal, refusal, type Refusal } from "../../runtime/refusals.ts";

/** Receives the host's events of a connection: `connect`, `secure`, `data`, `written`, `end`, `error`, `close`. */
export interface SocketOwner {
  handleHostEvent(event: string, value: unknown): void;
}

/** Limit of one isolate; the host enforces the same. */
const maxSockets = 20;

const owners = new Map<number, SocketOwner>();
/** Ids of the host's open connections. */
const open = new Set<number>();
/** Ids of connections not yet established. */
const works = new Map<number, OpenWork>();
let lastId = 0;

on("socket", (id, event, value) => {
  if (event === "error") noteRefusal((value as { readonly code?: unknown }).code);
  if (event === "connect") releaseSocket(id as number);
  if (event === "close") open.delete(id as number);
  owners.get(id as number)?.handleHostEvent(event as string, value);
});
onRunEnd(() => {
  owners.clear();
  open.clear();
  works.clear();
});

export interface SocketTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: Sendable;
}

/**
 * Opens a host connection and returns its id. A connection that the host would refuse is not requested: its listener gets the same
 * events, asynchronously.
 *
 * It counts as open work of the run until established. Not afterwards: clients of databases and mail servers keep closing
 * connections after they have reported them closed.
 */
export function openSocket(owner: SocketOwner, { host, port, tls }: SocketTarget): number {
  lastId += 1;
  const id = lastId;
  const error = refusal() ?? fullness();
  owners.set(id, owner);
  if (error === undefined) {
    open.add(id);
    works.set(id, beginWork(`connecting to ${host}:${port}`));
    post("socket_open", id, { host, port, tls });
  } else
    void Promise.resolve().then(() => {
      owner.handleHostEvent("error", error);
      owner.handleHostEvent("close", undefined);
    });
  return id;
}

/** Replaces the listener of an open connection. */
export function ownSocket(id: number, owner: SocketOwner): void {
  owners.set(id, owner);
}

/** Stops counting as open work: established or unreferenced. */
export function releaseSocket(id: number): void {
  endWork(works.get(id));
  works.delete(id);
}

export function disownSocket(id: number): void {
  owners.delete(id);
  open.delete(id);
  releaseSocket(id);
}

function fullness(): Refusal | undefined {
  return open.size < maxSockets ? undefined : { message: `more than ${maxSockets} sockets are open`, code: "EMFILE" };
}
