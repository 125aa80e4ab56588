import { X509Certificate } from "node:crypto";
import { statSync } from "node:fs";
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { InvalidInput } from "../../domain/errors.ts";
import { readPem } from "./client-files.ts";

/** How often files are checked at most: a busy server accepts thousands of connections in a second. */
const checkEveryMs = 1_000;

/**
 * A value that is read from files, and read again at the first use after they changed. While they cannot be read, or contain a
 * certificate and the key of another one, the last valid value stays in use and the failure is reported once per change.
 */
export class ChangingFiles<T> {
  readonly #files: readonly string[];
  readonly #read: () => T;
  readonly #onFailure: (error: unknown) => void;
  #value: T;
  #version: string;
  #checkedAt = performance.now();

  /** @throws what `read` throws */
  constructor(files: readonly string[], read: () => T, onFailure: (error: unknown) => void) {
    this.#files = files;
    this.#read = read;
    this.#onFailure = onFailure;
    this.#version = versionOf(files);
    this.#value = read();
  }

  get current(): T {
    const now = performance.now();
    if (now - this.#checkedAt < checkEveryMs) return this.#value;
    this.#checkedAt = now;
    const version = versionOf(this.#files);
    if (version === this.#version) return this.#value;
    this.#version = version;
    try {
      this.#value = this.#read();
    } catch (error) {
      this.#onFailure(error);
    }
    return this.#value;
  }
}

/** Follows symbolic links, which Kubernetes replaces when a Secret changes. */
function versionOf(files: readonly string[]): string {
  return files
    .map((file) => {
      const stats = statSync(file, { throwIfNoEntry: false });
      return stats === undefined ? "absent" : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
    })
    .join(", ");
}

/** The public authorities, and those in the file. @throws when the file contains no certificate, or a damaged one */
export function trustedBesidesPublic(file: string, onFailure: (error: unknown) => void): ChangingFiles<SecureContext> {
  const read = (): SecureContext => createSecureContext({ ca: [...getCACertificates("default"), ...authoritiesIn(file)] });
  return new ChangingFiles([file], read, onFailure);
}

/** Node ignores damaged authorities. */
function authoritiesIn(file: string): readonly string[] {
  const authorities = readPem(file).match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (authorities.length === 0) throw new InvalidInput(`${file} contains no certificate: it must have the authorities in PEM`);
  return authorities.map((text) => new X509Certificate(text).toString());
}

export interface ServerFiles {
  /** The certificate and those of intermediate authorities. */
  readonly certificate: string;
  readonly key: string;
}

/** Options of `tls.Server.setSecureContext`. */
export interface ServerOptions {
  readonly cert: string;
  readonly key: string;
}

/** A server's certificate. */
export function serverCertificate({ certificate, key }: ServerFiles, onFailure: (error: unknown) => void): ChangingFiles<ServerOptions> {
  const read = (): ServerOptions => {
    const options = { cert: readPem(certificate), key: readPem(key) };
    createSecureContext(options); // Throws if they do not belong together.
    return options;
  };
  return new ChangingFiles([certificate, key], read, onFailure);
}
