import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startHeadwater } from "./headwater.ts";
import { temporaryDirectory } from "../temporary-directory.ts";

/** How a test file reaches the system. */
export interface SystemAccess {
  readonly apiUrl: string;
  readonly ingressUrl: string;
  readonly adminToken: string;
  /** The file with the token, for programs that read it. */
  readonly adminTokenFile: string;
}

export interface SystemBroker {
  readonly url: string;
  stop(): Promise<void>;
}

/** Files that need other settings start a system of their own. No power fails here, so messages need not be synced one by one. */
const settings = { HEADWATER_KEEP_EVENTS: "20000", HEADWATER_DELIVERY_RETRY: "1s,1s,1s,1s", HEADWATER_SYNC_INTERVAL: "100ms" };

/**
 * Starts one system by `npm start` when the first test file asks for it. The broker runs in the process that outlives the files, like the broker
 * of API servers. A system that does not stop gracefully fails the run.
 */
export async function startSystemBroker(): Promise<SystemBroker> {
  let started: ReturnType<typeof startSystem> | undefined;
  const http = createServer((_request, response) => {
    void (started ??= startSystem())
      .then(({ access }): unknown => access)
      .catch((error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }))
      .then((answer) => response.end(JSON.stringify(answer)));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, // Listening on TCP.
    stop: async () => {
      http.close();
      http.closeAllConnections();
      const system = await started?.catch(() => undefined); // The files that asked have failed.
      await system?.stop();
    },
  };
}

async function startSystem(): Promise<{ readonly access: SystemAccess; stop(): Promise<void> }> {
  const directory = await temporaryDirectory("system");
  const [adminToken, adminTokenFile] = [randomBytes(32).toString("hex"), join(directory.path, "admin-token")];
  await writeFile(adminTokenFile, adminToken, { mode: 0o600 });
  const headwater = await startHeadwater({
    dataDirectory: join(directory.path, "data"),
    env: { ...settings, HEADWATER_ADMIN_TOKEN_FILE: adminTokenFile },
  });
  return {
    access: { apiUrl: headwater.apiUrl, ingressUrl: headwater.ingressUrl, adminToken, adminTokenFile },
    stop: async () => {
      const code = await headwater.stop();
      await directory.remove();
      if (code !== 0) throw new Error(`the shared system stopped with exit code ${code}:\n${headwater.output()}`);
    },
  };
}
