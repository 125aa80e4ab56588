import { domainToASCII, domainToUnicode } from "node:url";
import { textArgument } from "../arguments.ts";
import type { SyncOperation } from "../context.ts";

const maxLength = 4096;

/** `domain_to_ascii(name)` and `domain_to_unicode(name)` → the name by UTS #46, "" when it is invalid. */
export const domainToAsciiSync: Record<string, SyncOperation> = {
  domain_to_ascii: (_context, [name]) => domainToASCII(textArgument(name, "domain", maxLength)),
  domain_to_unicode: (_context, [name]) => domainToUnicode(textArgument(name, "domain", maxLength)),
};
