type Value = number | bigint | string | boolean | Buffer | Date | readonly Value[] | Document;
export interface Document {
  readonly [key: string]: Value;
}

/** As much of BSON as the double of MongoDB says. */
export function encodeBson(document: Document): Buffer {
  const body = Buffer.concat(Object.entries(document).map(([key, value]) => element(key, value)));
  const head = Buffer.alloc(4);
  head.writeInt32LE(body.length + 5);
  return Buffer.concat([head, body, Buffer.from([0])]);
}

function element(key: string, value: Value): Buffer {
  const of = (type: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.from([type]), Buffer.from(`${key}\0`), bytes]);
  if (Buffer.isBuffer(value)) return of(3, value); // a document as it came
  if (value instanceof Date) return of(9, int64(BigInt(value.getTime())));
  if (typeof value === "bigint") return of(18, int64(value));
  if (typeof value === "boolean") return of(8, Buffer.from([Number(value)]));
  if (typeof value === "string") return of(2, Buffer.concat([int32(Buffer.byteLength(value) + 1), Buffer.from(`${value}\0`)]));
  if (typeof value === "number") return Number.isInteger(value) ? of(16, int32(value)) : of(1, double(value));
  if (Array.isArray(value)) return of(4, encodeBson(Object.fromEntries(value.map((each, index) => [String(index), each as Value]))));
  return of(3, encodeBson(value as Document));
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}
function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}
function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}
