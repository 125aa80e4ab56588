import { InvalidInput } from "../../domain/errors.ts";
import type { Configuration } from "../process/settings/configuration.ts";
import { masterFile, rotateMasterKey } from "./secrets.ts";

/**
 * Adds a key to those that seal what lies in resources. May be called while Headwater runs, which seals with it from its next start on
 * and then also seals anew what was sealed before. @returns what a person should do now @throws InvalidInput, Conflict
 */
export async function rotateKey({ keysDirectory, resources }: Configuration): Promise<string> {
  if (resources === "kubernetes")
    throw new InvalidInput("--rotate-key is for one machine: in a cluster secret texts lie in Secrets, which the API server encrypts");
  const keys = await rotateMasterKey(keysDirectory);
  return [
    `A new key was added: ${masterFile(keysDirectory)} holds ${keys}, the newest first.`,
    "Restart Headwater: it seals with the new key then, and what was sealed before is sealed again.",
  ].join("\n");
}
