import type { SecureContext } from "node:tls";
import type { Configuration } from "../platform/process/settings/configuration.ts";
import type { PrivateCaSetting } from "../platform/process/settings/encryption.ts";
import type { Logger } from "../platform/telemetry/logger.ts";
import { trustedBesidesPublic, type ChangingFiles } from "../platform/tls/changing-files.ts";

/** The authorities of a setting, and the public ones. Undefined if it is not set. @throws if its file contains none, or damaged ones */
export function privateAuthorities(
  setting: PrivateCaSetting,
  { privateCa }: Pick<Configuration, "privateCa">,
  logger: Logger,
): ChangingFiles<SecureContext> | undefined {
  const file = privateCa[setting];
  if (file === undefined) return undefined;
  return trustedBesidesPublic(file, (error) =>
    logger.error({ op: "certificate.read", err: error }, `${setting} has changed and is invalid: the previous one stays in use`),
  );
}
