import { sync } from "../../runtime/bridge.ts";
import type { Buffer } from "../buffer/buffer.ts";
import { asBuffer, toBytes } from "../buffer/bytes.ts";
import { keySpec, publicOf, type KeyObject } from "./keys.ts";

type Bytes = Uint8Array<ArrayBuffer>;
interface Certificate {
  readonly subject: string;
  readonly issuer: string;
  readonly subjectAltName?: string;
  readonly infoAccess?: string;
  readonly validFrom: string;
  readonly validTo: string;
  readonly fingerprint: string;
  readonly fingerprint256: string;
  readonly fingerprint512: string;
  readonly serialNumber: string;
  readonly keyUsage?: string[];
  readonly ca: boolean;
  readonly raw: Bytes;
  readonly publicKey: Bytes;
  readonly text: string;
}
const fields = [
  "subject",
  "issuer",
  "subjectAltName",
  "infoAccess",
  "validFrom",
  "validTo",
  "fingerprint",
  "fingerprint256",
  "fingerprint512",
  "serialNumber",
  "keyUsage",
  "ca",
] as const;

export class X509Certificate {
  readonly #read: Certificate;
  constructor(certificate: unknown) {
    this.#read = sync("crypto.certificate", toBytes(certificate, undefined, "buffer")) as Certificate; // the operation's result
    for (const name of fields) Object.defineProperty(this, name, { value: this.#read[name], enumerable: true, configurable: true });
  }
  get raw(): Buffer {
    return asBuffer(this.#read.raw.slice());
  }
  get publicKey(): KeyObject {
    return publicOf(this.#read.publicKey);
  }
  get validFromDate(): Date {
    return new Date(this.#read.validFrom);
  }
  get validToDate(): Date {
    return new Date(this.#read.validTo);
  }
  #check(name: string, argument: Parameters<typeof sync>[1]): unknown {
    return sync("crypto.checkCertificate", this.#read.raw, name, argument);
  }
  checkHost(name: string): unknown {
    return this.#check("host", name);
  }
  checkEmail(email: string): unknown {
    return this.#check("email", email);
  }
  checkIP(ip: string): unknown {
    return this.#check("ip", ip);
  }
  checkIssued(other: X509Certificate): boolean {
    return this.#check("issued", other.#read.raw) === true;
  }
  checkPrivateKey(key: unknown): boolean {
    return this.#check("privateKey", keySpec(key)) === true;
  }
  verify(key: unknown): boolean {
    return this.#check("verify", keySpec(key)) === true;
  }
  toString(): string {
    return this.#read.text;
  }
  toJSON(): string {
    return this.#read.text;
  }
}
