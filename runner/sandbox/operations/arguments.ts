/**
 * Parsers for arguments of operations. All of them come from hostile code: each has a type and an upper bound, and what is
 * wrong is named without being repeated.
 */
export function textArgument(value: unknown, name: string, maxLength: number): string {
  if (typeof value !== "string") throw wrong(name, "a string");
  if (value.length > maxLength) throw tooLarge(name, `${maxLength} characters`);
  return value;
}

/** The bytes as received: the boundary of the isolate has copied them, so no other code refers to them. */
export function bytesArgument(value: unknown, name: string, maxBytes: number): Uint8Array<ArrayBuffer> {
  if (!(value instanceof Uint8Array) || !(value.buffer instanceof ArrayBuffer)) throw wrong(name, "bytes");
  if (value.byteLength > maxBytes) throw tooLarge(name, `${maxBytes} bytes`);
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

export function integerArgument(value: unknown, name: string, least: number, most: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most) {
    throw Object.assign(new RangeError(`${name} must be an integer from ${least} to ${most}`), {
      code: "ERR_OUT_OF_RANGE",
    });
  }
  return value;
}

export function recordArgument(value: unknown, name: string): Readonly<Record<string, unknown>> {
  // Listing the members of a view of megabytes takes hundreds of milliseconds.
  const isList = Array.isArray(value) || ArrayBuffer.isView(value);
  if (typeof value !== "object" || value === null || isList) throw wrong(name, "an object");
  return value as Readonly<Record<string, unknown>>; // every member is parsed in its turn
}

export function choiceArgument<const Choice extends string>(value: unknown, name: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw wrong(name, `one of ${choices.join(", ")}`);
  return found;
}

/** A result for the guest: bytes that own their whole buffer, never a view on Node's pool. */
export function ownedBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

function wrong(name: string, expected: string): Error {
  return Object.assign(new TypeError(`${name} must be ${expected}`), { code: "ERR_INVALID_ARG_TYPE" });
}

function tooLarge(name: string, limit: string): Error {
  return Object.assign(new RangeError(`${name} is larger than ${limit}`), { code: "limit_exceeded" });
}
