import { on, onRunEnd } from "../bridge.ts";

/** Who hears what the host tells of a connection: `connect`, `secure`, `data`, `written`, `end`, `error`, `close`. */
export interface SocketOwner {
  handleHostEvent(event: string, value: unknown): void;
}

const owners = new Map<number, SocketOwner>();
let lastId = 0;

on("socket", (id, event, value) => owners.get(id as number)?.handleHostEvent(event as string, value));
onRunEnd(() => owners.clear());

/** A number for a new connection. */
export function ownNewSocket(owner: SocketOwner): number {
  lastId += 1;
  owners.set(lastId, owner);
  return lastId;
}

/** Another owner for a connection that there is. */
export function ownSocket(id: number, owner: SocketOwner): void {
  owners.set(id, owner);
}

export function disownSocket(id: number): void {
  owners.delete(id);
}
