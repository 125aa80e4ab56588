import { writeFileSync } from "node:fs";
import { chown, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClientFiles } from "../../platform/tls/client-files.ts";
import type { Issued } from "./certificate-authority.ts";

/** A certificate and its key as files `<name>.crt` and `<name>.key` in the directory. */
export interface IssuedFiles {
  readonly certificate: string;
  readonly key: string;
}

/** Writes or replaces both files, for the owner of the directory alone: Postgres refuses a key that others can read. */
export async function writeIssued(directory: string, name: string, { certificate, key }: Issued): Promise<IssuedFiles> {
  const files = { certificate: join(directory, `${name}.crt`), key: join(directory, `${name}.key`) };
  const { uid, gid } = await stat(directory);
  for (const [file, text] of [
    [files.certificate, certificate],
    [files.key, key],
  ] as const) {
    await writeFile(`${file}.new`, text, { mode: 0o600 });
    await chown(`${file}.new`, uid, gid);
    await rename(`${file}.new`, file);
  }
  return files;
}

/** Files of a client that trusts this authority. */
export function trusting(directory: string, name: string, authority: string, own?: IssuedFiles): ClientFiles {
  const ca = join(directory, `${name}.pem`);
  writeFileSync(ca, authority);
  return { ca, certificate: own?.certificate, key: own?.key };
}
