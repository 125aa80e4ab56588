import type { Socket } from "node:net";
import koffi, { type KoffiFunc } from "koffi";
import { descriptorOf } from "../network/passed-descriptors.ts";

/** Calls for Unix sockets that Node does not have; the numbers are those of Linux. */
const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_CLOEXEC = 0x80000;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;

interface Calls {
  readonly socketpair: KoffiFunc<(domain: number, type: number, protocol: number, pair: Buffer) => number>;
  readonly getsockopt: KoffiFunc<(descriptor: number, level: number, name: number, value: Buffer, length: Buffer) => number>;
}
let loaded: Calls | undefined;

function calls(): Calls {
  if (loaded !== undefined) return loaded;
  const libc = koffi.load(null); // The C library of this process, glibc or musl.
  return (loaded = {
    socketpair: libc.func("int socketpair(int domain, int type, int protocol, void *pair)"),
    getsockopt: libc.func("int getsockopt(int descriptor, int level, int name, void *value, void *length)"),
  });
}

/** Descriptors of two connected sockets, which no started program inherits. @throws if too many files are open */
export function socketPair(): readonly [number, number] {
  const pair = Buffer.alloc(8);
  if (calls().socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) !== 0)
    throw new Error(`socketpair failed with error ${koffi.errno()}: too many files may be open`);
  return [pair.readInt32LE(0), pair.readInt32LE(4)];
}

/** Number of the user whose process connected the other end of a Unix socket. @throws if the socket is closed */
export function userOfPeer(socket: Socket): number {
  const [credentials, length] = [Buffer.alloc(12), Buffer.alloc(4)];
  length.writeUInt32LE(credentials.byteLength);
  if (calls().getsockopt(descriptorOf(socket), SOL_SOCKET, SO_PEERCRED, credentials, length) !== 0)
    throw new Error(`getsockopt(SO_PEERCRED) failed with error ${koffi.errno()}`);
  return credentials.readUInt32LE(4); // struct ucred: process, user, group.
}

/** `@name` is an address in the network namespace, which the containers of a pod share; else a path. */
export const addressOf = (name: string): string => (name.startsWith("@") ? `\0${name.slice(1)}` : name);
