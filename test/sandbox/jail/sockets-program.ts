import { writeSync } from "node:fs";
import { Socket } from "node:net";
import koffi from "koffi";
import { takeDescriptor } from "../../../runner/sandbox/network/passed-descriptors.ts";

/**
 * The program of a sandbox process that an attacker controls, with a connection that its parent has passed: it tries to reach other
 * addresses, and prints what each attempt returned. Its argument is JSON: the port of a server on the loopback that it must not reach.
 */
const { port, parent } = JSON.parse(process.argv[2] ?? "") as { readonly port: number; readonly parent: number }; // Our own test wrote it.
const libc = koffi.load("libc.so.6");
const syscall = libc.func("long syscall(long number, ...)");
const { descriptor: connection } = takeDescriptor(4);

type Argument = number | bigint | Buffer | null;
function attempt(number: number, ...args: readonly Argument[]): string {
  const typed = args.flatMap((arg) => [arg === null || Buffer.isBuffer(arg) ? "void *" : "long", arg]);
  const result = Number(syscall(number, ...typed));
  return result >= 0 ? `succeeded (${result})` : `refused (${koffi.errno()})`;
}

/** By architecture: x64, arm64. */
const nr = (x64: number, arm64: number): number => (process.arch === "arm64" ? arm64 : x64);
const calls = {
  socket: nr(41, 198),
  connect: nr(42, 203),
  accept: nr(43, 202),
  sendto: nr(44, 206),
  sendmsg: nr(46, 211),
  bind: nr(49, 200),
  listen: nr(50, 201),
  socketpair: nr(53, 199),
  setsockopt: nr(54, 208),
  fcntl: nr(72, 25),
  ioctl: nr(16, 29),
  sendmmsg: nr(307, 269),
};
const MSG_FASTOPEN = 0x20000000;
const AF_UNSPEC = Buffer.alloc(16);

function internet(address: readonly number[], to: number): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(2, 0);
  bytes.writeUInt16BE(to, 2);
  bytes.set(address, 4);
  return bytes;
}

/** `struct mmsghdr`, which begins with a `struct msghdr`. */
function message(to: Buffer): Buffer {
  const memory = Buffer.from(new ArrayBuffer(128));
  const address = BigInt(koffi.address(memory));
  to.copy(memory, 88);
  memory.writeBigUInt64LE(address + 88n, 0);
  memory.writeUInt32LE(to.byteLength, 8);
  memory.writeBigUInt64LE(address + 64n, 16);
  memory.writeBigUInt64LE(1n, 24);
  memory.writeBigUInt64LE(address + 104n, 64);
  memory.writeBigUInt64LE(1n, 72);
  return memory;
}

const forbidden = internet([127, 0, 0, 1], port);
const metadata = internet([169, 254, 169, 254], 80);
const abstract = Buffer.from("\u0001\u0000\u0000headwater", "latin1");
const data = Buffer.from("x");
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
};
/** Strict source route by way of 10.0.0.1. */
const route = Buffer.from([0x89, 7, 4, 10, 0, 0, 1, 0]);

/** A socket of the program's own, if it gets one, connected or sent to. */
function own(type: number, act: (socket: number) => string): string {
  const made = Number(syscall(calls.socket, "long", 2, "long", type, "long", 0));
  return made < 0 ? `refused (${koffi.errno()})` : act(made);
}

const attempts: Readonly<Record<string, () => string>> = {
  "connect to a server of the runner": () => own(1, (socket) => attempt(calls.connect, socket, forbidden, 16)),
  "connect to the cloud's metadata": () => own(1 | 0o4000, (socket) => attempt(calls.connect, socket, metadata, 16)),
  "send a datagram": () => own(2, (socket) => attempt(calls.sendto, socket, data, 1, 0, forbidden, 16)),
  "open an IPv6 socket": () => attempt(calls.socket, 10, 1, 0),
  "open an MPTCP socket": () => attempt(calls.socket, 2, 1, 262),
  "open a Unix socket": () => attempt(calls.socket, 1, 1, 0),
  "open a VSOCK socket": () => attempt(calls.socket, 40, 1, 0),
  "make a pair of sockets": () => attempt(calls.socketpair, 1, 1, 0, Buffer.alloc(8)),
  "connect the connection again": () => attempt(calls.connect, connection, forbidden, 16),
  "connect the channel to an abstract socket": () => attempt(calls.connect, 4, abstract, abstract.byteLength),
  "lead the connection through another host": () => attempt(calls.setsockopt, connection, 0, 4, route, 8),
  "bind the connection to a device": () => attempt(calls.setsockopt, connection, 1, 25, Buffer.from("lo\0"), 3),
  "attach a filter": () => attempt(calls.setsockopt, connection, 1, 26, Buffer.alloc(16), 16),
  "repair the connection": () => attempt(calls.setsockopt, connection, 6, 19, number(1), 4),
  "replace the protocol": () => attempt(calls.setsockopt, connection, 6, 31, Buffer.from("tls\0"), 4),
  "open the next connection with the first data": () => attempt(calls.setsockopt, connection, 6, 30, number(1), 4),
  "have the connection signal the parent": () => attempt(calls.fcntl, connection, 8, parent),
  "have it send another signal": () => attempt(calls.fcntl, connection, 10, 9),
  "have it signal by ioctl": () => attempt(calls.ioctl, connection, 0x8901, number(parent)),
  "disconnect the connection": () => attempt(calls.connect, connection, AF_UNSPEC, 16),
  "send elsewhere": () => attempt(calls.sendto, connection, data, 1, 0, forbidden, 16),
  "send elsewhere with fast open": () => attempt(calls.sendto, connection, data, 1, MSG_FASTOPEN, forbidden, 16),
  "send a message elsewhere": () => attempt(calls.sendmsg, connection, message(forbidden), MSG_FASTOPEN),
  "send messages elsewhere": () => attempt(calls.sendmmsg, connection, message(forbidden), 1, MSG_FASTOPEN),
  bind: () => attempt(calls.bind, connection, internet([127, 0, 0, 1], 0), 16),
  listen: () => attempt(calls.listen, connection, 1),
  accept: () => attempt(calls.accept, connection, null, null),
  "send a descriptor to the parent": () => attempt(calls.sendmsg, 4, message(abstract), 0),
};

const socket = new Socket({ fd: connection });
socket.on("error", () => {});
socket.write("hello", () => {
  writeSync(1, JSON.stringify(Object.fromEntries(Object.entries(attempts).map(([name, act]) => [name, act()]))));
  process.exit();
});
