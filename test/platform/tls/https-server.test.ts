import { once } from "node:events";
import { get, Agent } from "node:https";
import { connect as connectTcp, type AddressInfo, type Socket } from "node:net";
import { connect, type SecureVersion } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clientReader, noProxies } from "../../../domain/client-address.ts";
import { createBoundedServer, type BoundedServer, type ServerLimits } from "../../../platform/http/bounded-server.ts";
import { serverCertificate } from "../../../platform/tls/changing-files.ts";
import { createAuthority, type Issued } from "../../support/certificate-authority.ts";
import { writeIssued } from "../../support/certificate-files.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";

const authority = createAuthority();
const limits: ServerLimits = { requestTimeoutMs: 30_000, silenceTimeoutMs: 60_000, maxConnections: 8, trustedProxies: noProxies };

describe("a server with a certificate", () => {
  let directory: TemporaryDirectory;
  let bounded: BoundedServer;
  let failures: unknown[];
  const sockets: Socket[] = [];
  const held: (() => void)[] = [];

  beforeEach(async () => {
    directory = await temporaryDirectory("https");
    failures = [];
    const files = await writeIssued(directory.path, "server", authority.issue({ name: "first" }));
    const read = clientReader(noProxies);
    bounded = createBoundedServer(
      limits,
      (request, response) => {
        if (request.url === "/held") return void held.push(() => response.end("held"));
        response.end(read(request).protocol);
      },
      serverCertificate(files, (error) => failures.push(error)),
    );
    bounded.server.listen(0, "127.0.0.1");
    await once(bounded.server, "listening");
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await bounded.drain(AbortSignal.abort());
    held.length = 0;
    await directory.remove();
  });

  const port = (): number => (bounded.server.address() as AddressInfo).port; // Listening on TCP.
  const rotate = (issued: Issued) => writeIssued(directory.path, "server", issued);

  /** Opens a connection of its own. */
  async function subject(): Promise<string> {
    const socket = connect({ port: port(), host: "127.0.0.1", ca: authority.certificate });
    await once(socket, "secureConnect");
    const { CN } = socket.getPeerCertificate().subject;
    socket.destroy();
    return String(CN);
  }

  async function tcp(localAddress: string): Promise<Socket> {
    const socket = connectTcp({ port: port(), host: "127.0.0.1", localAddress }).resume();
    socket.on("error", () => undefined);
    sockets.push(socket);
    await once(socket, "connect");
    return socket;
  }

  function fetchText(path: string, agent?: Agent): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { ca: authority.certificate, port: port(), host: "127.0.0.1", path, ...(agent === undefined ? {} : { agent }) };
      get(options, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.once("end", () => resolve(text)).once("error", reject);
      }).once("error", reject);
    });
  }

  it("serves HTTPS, and reports it as the protocol of the request", async () => {
    expect(await fetchText("/")).toBe("https");
  });

  it("speaks TLS 1.3 and 1.2, and nothing older", async () => {
    const speak = async (version: SecureVersion): Promise<string> => {
      const versions = { minVersion: version, maxVersion: version, ciphers: "DEFAULT@SECLEVEL=0" };
      const socket = connect({ port: port(), host: "127.0.0.1", ca: authority.certificate, ...versions });
      sockets.push(socket);
      return once(socket, "secureConnect").then(
        () => String(socket.getProtocol()),
        () => "refused",
      );
    };
    expect(await Promise.all((["TLSv1.3", "TLSv1.2", "TLSv1.1"] as const).map(speak))).toEqual(["TLSv1.3", "TLSv1.2", "refused"]);
  });

  it("presents a rotated certificate to new connections, and keeps open ones", async () => {
    const open = new Agent({ keepAlive: true, maxSockets: 1 });
    expect(await fetchText("/", open)).toBe("https");
    expect(await subject()).toBe("first");
    await rotate(authority.issue({ name: "second", hosts: ["127.0.0.1"] }));
    await expect.poll(subject).toBe("second");
    expect(await fetchText("/", open)).toBe("https");
    open.destroy();
  });

  it("keeps its certificate while the new files do not belong together", async () => {
    await rotate({ ...authority.issue({ name: "second" }), key: authority.issue().key });
    const seen = new Set<string>();
    const report = async () => {
      seen.add(await subject());
      return failures.length;
    };
    await expect.poll(report).toBe(1);
    expect([...seen]).toEqual(["first"]);
    await rotate(authority.issue({ name: "third" }));
    await expect.poll(subject).toBe("third");
  });

  it("refuses to start with the key of another certificate", async () => {
    const files = await rotate({ ...authority.issue(), key: authority.issue().key });
    expect(() => serverCertificate(files, () => undefined)).toThrow(/key values mismatch/);
  });

  it("counts connections that never shake hands, and cuts them first", async () => {
    const silent: Socket[] = [];
    for (const localAddress of ["127.0.0.2", "127.0.0.3"]) for (let nth = 0; nth < 4; nth++) silent.push(await tcp(localAddress));
    expect(await fetchText("/")).toBe("https");
    await expect.poll(() => silent.filter((socket) => socket.closed).length).toBe(1);
  });

  it("finishes requests in flight when it drains", async () => {
    const answer = fetchText("/held");
    await expect.poll(() => held.length).toBe(1);
    const drained = bounded.drain(new AbortController().signal);
    held[0]?.();
    expect(await answer).toBe("held");
    await drained;
  });
});
