import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLink, type Link, type LinkOptions } from "../../../platform/jetstream/connection/link.ts";
import { natsKeysOf } from "../../../platform/process/nats/nats-keys.ts";
import { startNats, type NatsOptions, type NatsServer } from "../../../platform/process/nats/nats-server.ts";
import type { ClientFiles } from "../../../platform/tls/client-files.ts";
import { createAuthority, type Issued } from "../../support/certificate-authority.ts";
import { trusting, writeIssued, type IssuedFiles } from "../../support/certificate-files.ts";
import { natsBinary } from "../../support/nats/nats.ts";
import { steadyPort } from "../../support/steady-port.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../../support/temporary-directory.ts";

const [authority, other] = [createAuthority("first authority"), createAuthority("second authority")];

describe("TLS to NATS", () => {
  let directory: TemporaryDirectory;
  const servers: NatsServer[] = [];
  const links: Link[] = [];

  beforeEach(async () => {
    directory = await temporaryDirectory("nats-tls");
  });
  afterEach(async () => {
    await Promise.all(links.splice(0).map((link) => link.close()));
    await Promise.all(servers.splice(0).map((server) => server.kill()));
    await directory.remove();
  });

  const writeServer = (issued: Issued): Promise<IssuedFiles> => writeIssued(directory.path, "server", issued);

  async function start(issued: Issued, requiresClientCertificate = false): Promise<NatsServer> {
    const ca = trusting(directory.path, "clients", authority.certificate).ca ?? "";
    const tls = { ...(await writeServer(issued)), ca, requiresClientCertificate };
    return startWith({ tls });
  }

  async function startWith(options: Partial<NatsOptions>): Promise<NatsServer> {
    const name = `nats-${servers.length}`;
    await mkdir(join(directory.path, name));
    const server = await startNats({ dataDirectory: join(directory.path, name), binary: await natsBinary(), ...options });
    servers.push(server);
    return server;
  }

  async function connect(server: NatsServer, tlsFiles: ClientFiles, options: Partial<LinkOptions> = {}): Promise<Link> {
    const link = await openLink({ server: { ...server.connection, tlsFiles }, name: "test", startTimeoutMs: 50_000, ...options });
    links.push(link);
    return link;
  }

  /** A client tries again until its time is over, because certificates may be in rotation. Here it tries once or twice. */
  const refused = (server: NatsServer, tlsFiles: ClientFiles): Promise<Link> =>
    connect(server, tlsFiles, { startTimeoutMs: 200, dialTimeoutMs: 50_000 });

  const trusted = (): ClientFiles => trusting(directory.path, "trusted", authority.certificate);
  const reload = (server: NatsServer): boolean => process.kill(server.pid, "SIGHUP");

  it("connects to a server with a certificate for its address, and is encrypted", async () => {
    const link = await connect(await start(authority.issue({ hosts: ["127.0.0.1"] })), trusted());
    await link.nats.flush();
    expect(link.nats.info?.tls_required).toBe(true);
  });

  it("verifies a name, also when the server advertises addresses", async () => {
    const server = await start(authority.issue({ hosts: ["localhost"] }));
    const link = await connect(server, trusted(), {
      server: { ...server.connection, tlsFiles: trusted(), servers: `nats://localhost:${server.port}` },
    });
    await link.nats.flush();
    await expect(refused(server, trusted())).rejects.toThrow(/127.0.0.1 is not in the cert's list/);
  });

  it("refuses a certificate of another authority", async () => {
    await expect(refused(await start(other.issue()), trusted())).rejects.toThrow(/unable to (verify|get)/);
  });

  it("refuses a certificate of another host", async () => {
    const server = await start(authority.issue({ hosts: ["nats.example.com"] }));
    await expect(refused(server, trusted())).rejects.toThrow(/altnames/);
  });

  it("refuses an expired certificate", async () => {
    const server = await start(authority.issue({ until: new Date(Date.now() - 60_000) }));
    await expect(refused(server, trusted())).rejects.toThrow(/certificate has expired/);
  });

  it("refuses a server without TLS", async () => {
    await expect(refused(await startWith({}), trusted())).rejects.toThrow(/does not support 'tls'/);
  });

  it("presents its certificate to a server that requires one", async () => {
    const server = await start(authority.issue(), true);
    // The server does not answer after the handshake: the client gives up at the end of its time.
    await expect(connect(server, trusted(), { startTimeoutMs: 500 })).rejects.toThrow(/cannot connect to NATS/);
    const own = await writeIssued(directory.path, "client", authority.issue({ hosts: ["client"] }));
    const link = await connect(server, { ...trusted(), ...own });
    await link.nats.flush();
  });

  it("reads rotated files when it reconnects, without a restart, also of servers with accounts and routes", async () => {
    const port = await steadyPort();
    const ca = trusting(directory.path, "clients", authority.certificate).ca ?? "";
    const server = await startWith({
      tls: { ...(await writeServer(authority.issue())), ca, requiresClientCertificate: false },
      keys: natsKeysOf(randomBytes(32).toString("base64url")),
      cluster: { serverName: "nats-0", port, ports: [port, await steadyPort()], password: "of the routes" },
    });
    const link = await connect(server, trusted());
    await writeServer(other.issue());
    trusting(directory.path, "trusted", other.certificate);
    reload(server);
    const changes: string[] = [];
    link.onStatus((status) => changes.push(status));
    await link.nats.reconnect();
    await expect.poll(() => changes).toEqual(["disconnected", "connected"]);
    await link.nats.flush();
    await expect(refused(server, trusting(directory.path, "stale", authority.certificate))).rejects.toThrow(/unable to (verify|get)/);
  });

  it("encrypts the routes of a cluster", async () => {
    const ports = [await steadyPort(), await steadyPort()];
    const ca = trusting(directory.path, "servers", authority.certificate).ca ?? "";
    const tls = { ...(await writeServer(authority.issue())), ca, requiresClientCertificate: false };
    const cluster = (n: number) => ({ serverName: `nats-${n}`, port: ports[n] ?? 0, ports, password: "of the routes" });
    for (const n of [0, 1]) await startWith({ tls, monitoringPort: 0, cluster: cluster(n) });
    const monitored = servers[0]?.monitoringPort ?? 0;
    const monitor = async (page: string): Promise<unknown> => (await fetch(`http://127.0.0.1:${monitored}/${page}`)).json();
    await expect
      .poll(() => monitor("routez"))
      .toMatchObject({ routes: expect.arrayContaining([expect.objectContaining({ remote_name: "nats-1" })]) });
    expect(await monitor("varz")).toMatchObject({ cluster: { tls_required: true, tls_verify: true } });
  });
});
