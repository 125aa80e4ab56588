import { InvalidInput } from "../../domain/errors.ts";
import type { Configuration } from "../process/settings/configuration.ts";
import { masterFile, rotateMasterKey } from "./secrets.ts";

/**
 * Adds a key that seals secrets of resources. May be called while Headwater runs, which uses the key from its next start on, and then
 * also reseals older texts with it. @returns instructions for the administrator @throws InvalidInput, Conflict
 */
export async function rotateKey({ keysDirectory, resources }: Configuration): Promise<string> {
  if (resources === "kubernetes")
    throw new InvalidInput("--rotate-key is for one machine: in a cluster, secrets are in Secrets, which the API server encrypts");
  const keys = await rotateMasterKey(keysDirectory);
  return [
    `A new key was added: ${masterFile(keysDirectory)} holds ${keys}, the newest first.`,
    "Restart Headwater: it then seals with the new key, and reseals older secrets with it.",
  ].join("\n");
}
