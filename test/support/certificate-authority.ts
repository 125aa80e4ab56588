import { generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { isIPv4 } from "node:net";

/** A certificate and its private key, in PEM. */
export interface Issued {
  readonly certificate: string;
  readonly key: string;
}

export interface IssueOptions {
  /** Host names and IPv4 addresses. Default: localhost and 127.0.0.1. */
  readonly hosts?: readonly string[];
  /** Subject. Default: the first host. */
  readonly name?: string;
  /** Default: in an hour. */
  readonly until?: Date;
}

export interface TestAuthority {
  /** In PEM. */
  readonly certificate: string;
  issue(options?: IssueOptions): Issued;
}

const hourMs = 3_600_000;

/** An authority with a key of its own, which issues certificates (X.509, ECDSA with P-256) that are valid since an hour ago. */
export function createAuthority(name = "Headwater test authority"): TestAuthority {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const until = new Date(Date.now() + 24 * hourMs);
  const self = { subject: name, publicKey: keys.publicKey, until, extensions: [extension(oid.basicConstraints, sequence(boolean(true)))] };
  return {
    certificate: pem(signed(name, keys.privateKey, self)),
    issue: ({ hosts = ["localhost", "127.0.0.1"], name: subject = hosts[0] ?? "", until: end = new Date(Date.now() + hourMs) } = {}) => {
      const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const extensions = [extension(oid.subjectAltName, sequence(...hosts.map(alternativeName)))];
      return {
        certificate: pem(signed(name, keys.privateKey, { subject, publicKey: own.publicKey, until: end, extensions })),
        key: own.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
      };
    },
  };
}

interface Content {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly until: Date;
  readonly extensions: readonly Buffer[];
}

/** Object identifiers in DER, without tag and length. */
const oid = {
  ecdsaWithSha256: "2a8648ce3d040302",
  commonName: "550403",
  subjectAltName: "551d11",
  basicConstraints: "551d13",
} as const;

/** RFC 5280, section 4.1. */
function signed(issuer: string, key: KeyObject, { subject, publicKey, until, extensions }: Content): Buffer {
  const algorithm = sequence(objectId(oid.ecdsaWithSha256));
  const from = new Date(Math.min(Date.now(), until.getTime()) - hourMs);
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    nameOf(issuer),
    sequence(time(from), time(until)),
    nameOf(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  return sequence(content, algorithm, bits(sign("sha256", content, key)));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const boolean = (value: boolean): Buffer => der(0x01, Buffer.from([value ? 0xff : 0]));
const bits = (content: Buffer): Buffer => der(0x03, Buffer.from([0]), content);
const extension = (id: string, content: Buffer): Buffer => sequence(objectId(id), der(0x04, content));
const nameOf = (text: string): Buffer => sequence(der(0x31, sequence(objectId(oid.commonName), der(0x0c, Buffer.from(text)))));
/** GeneralizedTime without fractions. */
const time = (at: Date): Buffer => der(0x18, Buffer.from(`${at.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`));

function alternativeName(host: string): Buffer {
  return isIPv4(host) ? der(0x87, Buffer.from(host.split(".").map(Number))) : der(0x82, Buffer.from(host));
}

const pem = (content: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(content.toString("base64").match(/.{1,64}/g) ?? []).join("\n")}\n-----END CERTIFICATE-----\n`;
