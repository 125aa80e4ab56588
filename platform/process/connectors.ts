import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { connectorIndex, type ConnectorIndex } from "../../domain/component/connector.ts";
import { Invariant } from "../../domain/errors.ts";
import { registryDirectory } from "./registry.ts";

/** The index of connectors that is part of the installation, written by `npm run connectors`. */
export const connectorsFile = join(registryDirectory, "connectors.json");

/** @throws Invariant when the file is missing or invalid */
export async function readConnectors(): Promise<ConnectorIndex> {
  try {
    return connectorIndex.parse(JSON.parse(await readFile(connectorsFile, "utf8")));
  } catch (cause) {
    throw new Invariant(`the index of connectors, ${connectorsFile}, cannot be read: reinstall`, { cause });
  }
}
