import type { Socket } from "node:net";
import koffi, { type KoffiFunc } from "koffi";
import { architectures } from "../jail/system-call-numbers.ts";

/**
 * Passes descriptors between processes over a Unix stream socket (unix(7), `SCM_RIGHTS`), each with a number of 32 bits. Node can do this
 * only over its own IPC channel, whose parent reads unbounded JSON from the child.
 */

/** The layouts below are those of Linux with 64 bits, little endian. */
export const canPassDescriptors = process.platform === "linux" && architectures.some((each) => each === process.arch);

const SOL_SOCKET = 1;
const SCM_RIGHTS = 1;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const MSG_CMSG_CLOEXEC = 0x40000000;
const EAGAIN = 11;

const messageBytes = 56;
const vectorBytes = 16;
const controlBytes = 24;
const dataBytes = 4;
const offsets = { vector: messageBytes, control: messageBytes + vectorBytes, data: messageBytes + vectorBytes + controlBytes } as const;

/** `struct msghdr` with what it points to: one `struct iovec` for the number, and one `struct cmsghdr` with a descriptor. */
function createMessage(): Buffer {
  const message = Buffer.from(new ArrayBuffer(offsets.data + dataBytes)); // Small buffers of Node's are in the heap, where they move.
  const address = BigInt(koffi.address(message));
  message.writeBigUInt64LE(address + BigInt(offsets.vector), 16); // msg_iov
  message.writeBigUInt64LE(1n, 24); // msg_iovlen
  message.writeBigUInt64LE(address + BigInt(offsets.control), 32); // msg_control
  message.writeBigUInt64LE(address + BigInt(offsets.data), offsets.vector); // iov_base
  message.writeBigUInt64LE(BigInt(dataBytes), offsets.vector + 8); // iov_len
  return message;
}

type Call = KoffiFunc<(descriptor: number, message: Buffer, flags: number) => number | bigint>;

interface Calls {
  readonly sendmsg: Call;
  readonly recvmsg: Call;
  readonly message: Buffer;
}
let loaded: Calls | undefined;

function calls(): Calls {
  if (loaded !== undefined) return loaded;
  const libc = koffi.load(null); // The C library of this process, glibc or musl.
  const call = (name: string): Call => libc.func(`long ${name}(int descriptor, void *message, int flags)`);
  return (loaded = { sendmsg: call("sendmsg"), recvmsg: call("recvmsg"), message: createMessage() });
}

/** @returns false if the channel is full: the receiver has to take some first. @throws if the channel or the descriptor is closed */
export function passDescriptor(channel: number, descriptor: number, number: number): boolean {
  const { sendmsg, message } = calls();
  message.writeBigUInt64LE(BigInt(controlBytes), 40); // msg_controllen
  message.writeBigUInt64LE(20n, offsets.control); // cmsg_len: its head and one descriptor
  message.writeInt32LE(SOL_SOCKET, offsets.control + 8);
  message.writeInt32LE(SCM_RIGHTS, offsets.control + 12);
  message.writeInt32LE(descriptor, offsets.control + 16);
  message.writeUInt32LE(number, offsets.data);
  if (Number(sendmsg(channel, message, MSG_DONTWAIT | MSG_NOSIGNAL)) === dataBytes) return true;
  if (koffi.errno() === EAGAIN) return false;
  throw new Error(`sendmsg failed with error ${koffi.errno()}`);
}

/** Takes the next descriptor, which the sender has passed already. @throws if there is none */
export function takeDescriptor(channel: number): { readonly descriptor: number; readonly number: number } {
  const { recvmsg, message } = calls();
  message.writeBigUInt64LE(BigInt(controlBytes), 40);
  message.writeBigUInt64LE(0n, offsets.control);
  const bytes = Number(recvmsg(channel, message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
  if (bytes !== dataBytes) throw new Error(`recvmsg returned ${bytes}, with error ${koffi.errno()}`);
  if (message.readBigUInt64LE(offsets.control) < 20n || message.readInt32LE(offsets.control + 12) !== SCM_RIGHTS)
    throw new Error("a message has come without its descriptor: too many files are open");
  return { descriptor: message.readInt32LE(offsets.control + 16), number: message.readUInt32LE(offsets.data) };
}

/** The descriptor of a socket of Node's. @throws if it is closed */
export function descriptorOf(socket: Socket): number {
  const { _handle: handle } = socket as unknown as { readonly _handle: { readonly fd: number } | null }; // Node has no public name for it.
  if (handle === null || handle.fd < 0) throw new Error("the socket is closed");
  return handle.fd;
}
