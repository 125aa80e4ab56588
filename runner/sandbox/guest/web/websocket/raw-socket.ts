import { on, onRunEnd, post, type Sendable } from "../../runtime/bridge.ts";
import { beginWork, endWork, type OpenWork } from "../../runtime/open-work.ts";
import { noteRefusal, refusal, type Refusal } from "../../runtime/refusals.ts";

/** Who hears what the host tells of a connection: `connect`, `secure`, `data`, `written`, `end`, `error`, `close`. */
export interface SocketOwner {
  handleHostEvent(event: string, value: unknown): void;
}

/** Of one isolate; the host has the same limit. */
const maxSockets = 20;

const owners = new Map<number, SocketOwner>();
/** Numbers of the connections that the host has. */
const open = new Set<number>();
/** Connections that are not established yet. */
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
 * Opens a connection of the host and returns its number. One that would be refused anyway never reaches the host: its owner gets the same
 * events, a moment later.
 *
 * Until it is established it counts as open work of the run. Afterwards it does not: clients of databases and mail servers go on closing
 * theirs after they have reported that they are closed.
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

/** Another owner for a connection that there is. */
export function ownSocket(id: number, owner: SocketOwner): void {
  owners.set(id, owner);
}

/** It is established, or was unreferenced. */
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
