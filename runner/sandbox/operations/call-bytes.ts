/**
 * Bytes that a message of a guest gives to an operation as its first argument: a call of it, or the arguments of a wait for it. Those of some
 * operations have a budget of their own, since a run may store or answer more than it may send otherwise.
 */
export function bytesGivenTo(name: string, message: readonly unknown[]): number {
  const isCall = message[1] === "call";
  const [operation, args] = isCall ? [message[3], message[4]] : message;
  if (operation !== name || !Array.isArray(args)) return 0;
  const [bytes] = args as readonly unknown[];
  return bytes instanceof Uint8Array ? bytes.byteLength : 0;
}
