import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { waitUntil } from "../../domain/retry.ts";
import type { Endpoint } from "../../domain/source/deployment.ts";
import type { IngressConfig, IngressPorts } from "../../ingress/ports.ts";
import { createBoundedServer } from "../../platform/http/bounded-server.ts";
import { serverCertificate } from "../../platform/tls/changing-files.ts";
import { createAuthority } from "../support/certificate-authority.ts";
import { writeIssued } from "../support/certificate-files.ts";
import { memoryRunFiles, type MemoryRunFiles } from "../support/memory-run-files.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { rawClient, withIngress, type ServedIngress } from "./served-ingress.ts";
import { filePath, storeBytes } from "./signed-file.ts";

/** Requests whose body does not arrive in time, beside transfers that take long. */
const resumeKey = "a key of the workflow";
const endpoint: Endpoint = {
  source: "p_1",
  pool: "default",
  owner: "u_1",
  customResponse: false,
  active: true,
  workflow: { hasHttpTrigger: true, resumeKey },
};
const endpoints = { peek: () => endpoint, find: async () => endpoint };
const grant = { owner: "u_1", source: "p_1", run: "r_abc", expires: Date.now() + 3_600_000 };
/** More than the buffers of both sockets. */
const large = randomBytes(64 * 524_288);
const start = withIngress();
let files: MemoryRunFiles;
let path: string;

const serve = (config: Partial<IngressConfig>, ports: Partial<IngressPorts> = {}): Promise<ServedIngress> =>
  start(config, { endpoints, files: { ...files, newUploadId: () => "up_1" }, ...ports });

beforeEach(async () => {
  files = memoryRunFiles();
  const { manifest } = await storeBytes(files, { owner: "u_1", workflow: "p_1", run: "r_abc" }, large);
  path = `/p_1${filePath(grant, resumeKey, manifest)}`;
});
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("over TLS", () => {
  const authority = createAuthority();
  let directory: TemporaryDirectory;
  beforeEach(async () => {
    directory = await temporaryDirectory("ingress-tls");
  });
  afterEach(() => directory.remove());

  async function secured(port: number, text: string): Promise<{ readonly socket: TLSSocket; received(): string }> {
    const socket = connect({ port, host: "127.0.0.1", ca: authority.certificate });
    let received = "";
    socket.on("error", () => undefined).setEncoding("latin1");
    await once(socket, "secureConnect");
    socket.write(text);
    return { socket: socket.on("data", (chunk: string) => (received += chunk)), received: () => received };
  }

  it.each(["content-length: 5", "transfer-encoding: chunked"])(
    "refuses a body of a request for a file, and goes on: %s",
    async (header) => {
      const certificate = serverCertificate(await writeIssued(directory.path, "server", authority.issue({ name: "a" })), () => undefined);
      const served = await serve(
        { requestTimeoutMs: 300, minTransferRate: 16_384 },
        { createServer: (limits, onRequest) => createBoundedServer(limits, onRequest, certificate) },
      );
      const client = await secured(served.port, `GET ${path} HTTP/1.1\r\nhost: a\r\n${header}\r\n\r\n`);
      client.socket.pause();
      await pause(1_000);
      client.socket.resume();
      expect(await waitUntil(() => client.socket.destroyed, 60_000)).toBe(true);
      expect(client.received()).toContain("HTTP/1.1 400 ");
      const next = await secured(served.port, `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
      expect(await waitUntil(() => next.socket.destroyed, 60_000)).toBe(true);
      expect(next.received()).toContain("HTTP/1.1 200 ");
    },
  );
});

it("starts no run if the answer 408 waits behind another response while the rest of the body arrives", async () => {
  const served = await serve({ requestTimeoutMs: 300, minTransferRate: 16_384 });
  const client = await rawClient(served.port, `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
  client.socket.pause();
  client.socket.write("POST /p_1 HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf");
  // Ten times as long as its request may take.
  await pause(3_000);
  client.socket.write(" more.");
  await pause(300);
  client.socket.resume();
  expect(await waitUntil(() => client.received().includes("HTTP/1.1 408 "), 60_000)).toBe(true);
  expect(served.stored).toEqual([]);
});
