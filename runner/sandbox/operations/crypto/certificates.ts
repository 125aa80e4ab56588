import { X509Certificate } from "node:crypto";
import { bytesArgument, choiceArgument, ownedBytes, textArgument } from "../arguments.ts";
import type { SyncOperation } from "../context.ts";
import { privateKey, publicKey } from "./keys.ts";

const maxBytes = 64 * 1024;
const certificate = (value: unknown): X509Certificate => new X509Certificate(bytesArgument(value, "certificate", maxBytes));

/** `crypto.certificate(pem or der)` → what Node's X509Certificate shows, and the certificate and its public key as DER. */
const read: SyncOperation = (_context, [value]) => {
  const read = certificate(value);
  const {
    subject,
    issuer,
    subjectAltName,
    infoAccess,
    validFrom,
    validTo,
    fingerprint,
    fingerprint256,
    fingerprint512,
    serialNumber,
    keyUsage,
    ca,
  } = read;
  return {
    subject,
    issuer,
    subjectAltName,
    infoAccess,
    validFrom,
    validTo,
    fingerprint,
    fingerprint256,
    fingerprint512,
    serialNumber,
    keyUsage,
    ca,
    raw: ownedBytes(read.raw),
    publicKey: ownedBytes(read.publicKey.export({ type: "spki", format: "der" })),
    text: read.toString(),
  };
};

const check: SyncOperation = (_context, [value, name, argument]) => {
  const subject = certificate(value);
  switch (choiceArgument(name, "check", ["host", "email", "ip", "issued", "verify", "privateKey"])) {
    case "host":
      return subject.checkHost(textArgument(argument, "name", 1024));
    case "email":
      return subject.checkEmail(textArgument(argument, "email", 1024));
    case "ip":
      return subject.checkIP(textArgument(argument, "ip", 64));
    case "issued":
      return subject.checkIssued(certificate(argument));
    case "verify":
      return subject.verify(publicKey(argument));
    default:
      return subject.checkPrivateKey(privateKey(argument));
  }
};

export const certificateSync: Record<string, SyncOperation> = {
  "crypto.certificate": read,
  "crypto.checkCertificate": check,
};
