/** Private keys whose files say how long their password is to be hashed. None can be opened; what matters is who notices before. */
const hex = (text: string): Buffer => Buffer.from(text, "hex");

function element(tag: number, body: Buffer): Buffer {
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}
const sequence = (...parts: Buffer[]): Buffer => element(0x30, Buffer.concat(parts));
const bytes = (body: Buffer): Buffer => element(0x04, body);

const pbkdf2 = "2a864886f70d01050c";
const cipher = sequence(hex("060960864801650304012a"), bytes(Buffer.alloc(16)));
const keyOf = (derivation: Buffer, data: Buffer): Buffer =>
  sequence(sequence(hex("06092a864886f70d01050d"), sequence(derivation, cipher)), bytes(data));

/** Two thousand million rounds of PBKDF2. @param oid how its name begins */
export const endlessKey = (oid = "0609"): Buffer =>
  keyOf(sequence(hex(oid + pbkdf2), sequence(bytes(Buffer.alloc(8)), hex("02047fffffff"))), Buffer.alloc(64));

/** @param rounds of PBKDF2, a number of three bytes */
export function keyWithRounds(rounds: number): Buffer {
  const integer = Buffer.alloc(3);
  integer.writeUIntBE(rounds, 0, 3);
  return keyOf(sequence(hex(`0609${pbkdf2}`), sequence(bytes(Buffer.alloc(8)), element(0x02, integer))), Buffer.alloc(64));
}

/** Endless scrypt, hidden beside one round of PBKDF2. */
export function decoyKey(): Buffer {
  const scrypt = sequence(
    hex("06092b06010401da47040b"),
    sequence(bytes(Buffer.alloc(8)), hex("02024000"), hex("020101"), hex("0203020000")),
  );
  return keyOf(scrypt, Buffer.concat([hex(`0609${pbkdf2}`), sequence(bytes(Buffer.alloc(8)), hex("020101")), Buffer.alloc(40)]));
}

/** Bytes that look like a text with a key in it. */
export const maskedKey = (): Buffer =>
  keyOf(
    sequence(hex(`0609${pbkdf2}`), sequence(bytes(Buffer.alloc(8)), hex("02047fffffff"))),
    Buffer.from("-----BEGIN PUBLIC KEY-----".padEnd(64)),
  );

export const pem = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${der.toString("base64").replace(/(.{64})/g, "$1\n")}\n-----END ${label}-----\n`;
