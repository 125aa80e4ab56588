import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import { connect as connectTcp, type AddressInfo } from "node:net";
import { join } from "node:path";
import tls, { connect } from "node:tls";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatNatsUrl } from "../../platform/process/nats/nats-connection.ts";
import { startNats, type NatsServer } from "../../platform/process/nats/nats-server.ts";
import { startPostgres, type PostgresServer } from "../../platform/process/postgres/postgres.ts";
import { createAuthority } from "../support/certificate-authority.ts";
import { writeIssued } from "../support/certificate-files.ts";
import { natsBinary } from "../support/nats/nats.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";
import { startHeadwater, type Headwater } from "../support/system/headwater.ts";
import { until } from "../support/until.ts";

const authority = createAuthority("authority of the installation");
const trusted = tls.getCACertificates("default");
const greeter = `
export default {
  name: "Greeter",
  version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run({ body, headers }) {
    this.http.respond({ status: 200, body: "hello " + body.name + " by " + headers["x-forwarded-proto"] });
    this.$emit({ name: body.name });
  },
};`;

/** Postgres and NATS refuse plaintext and clients without a certificate; the API, endpoints and a webhook are HTTPS. */
describe("an installation with certificates", () => {
  let directory: TemporaryDirectory;
  let postgres: PostgresServer;
  let nats: NatsServer;
  let headwater: Headwater;
  let webhook: Server;
  const received: string[] = [];
  let endpoint: string;

  beforeAll(async () => {
    tls.setDefaultCACertificates([...trusted, authority.certificate]);
    directory = await temporaryDirectory("encrypted");
    const ca = join(directory.path, "ca.crt");
    await writeFile(ca, authority.certificate);
    const [client, server] = [await writeIssued(directory.path, "client", authority.issue()), await rotateServer("first")];
    postgres = await startEncryptedPostgres();
    const natsTls = { ...(await writeIssued(directory.path, "nats", authority.issue())), ca, requiresClientCertificate: true };
    nats = await startNats({ dataDirectory: join(directory.path, "nats"), binary: await natsBinary(), tls: natsTls });
    webhook = await startWebhook();
    headwater = await startHeadwater({
      dataDirectory: join(directory.path, "data"),
      env: {
        DATABASE_URL: postgres.url,
        NATS_URL: formatNatsUrl(nats.connection),
        ...clientSettings("DATABASE"),
        ...clientSettings("NATS"),
        HEADWATER_WEBHOOK_CA: ca,
        HEADWATER_SERVER_CERTIFICATE: server.certificate,
        HEADWATER_SERVER_KEY: server.key,
      },
    });
    function clientSettings(of: string): Readonly<Record<string, string>> {
      return { [`HEADWATER_${of}_CA`]: ca, [`HEADWATER_${of}_CERTIFICATE`]: client.certificate, [`HEADWATER_${of}_KEY`]: client.key };
    }
  });
  afterAll(async () => {
    expect(await headwater.stop()).toBe(0);
    webhook.close().closeAllConnections();
    await Promise.all([nats.stop(), postgres.stop()]);
    await directory.remove();
    tls.setDefaultCACertificates(trusted);
  });

  const rotateServer = (name: string) => writeIssued(directory.path, "server", authority.issue({ name, hosts: ["127.0.0.1"] }));

  async function startEncryptedPostgres(): Promise<PostgresServer> {
    const server = await startPostgres({ dataDirectory: join(directory.path, "postgres"), durable: false });
    const data = join(directory.path, "postgres", "data");
    await writeIssued(data, "server", authority.issue());
    await writeFile(join(data, "clients.pem"), authority.certificate, { mode: 0o644 });
    const admin = new pg.Client(server.url);
    await admin.connect();
    const settings = { ssl: "on", ssl_cert_file: "server.crt", ssl_key_file: "server.key", ssl_ca_file: "clients.pem" };
    for (const [name, value] of Object.entries(settings)) await admin.query(`alter system set ${name} = '${value}'`);
    await writeFile(join(data, "pg_hba.conf"), "hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n");
    await admin.query("select pg_reload_conf()");
    await admin.end();
    const isRefused = async (): Promise<boolean> => {
      const plain = new pg.Client(server.url);
      plain.on("error", () => undefined);
      return plain.connect().then(
        () => plain.end().then(() => false),
        () => true,
      );
    };
    await until(isRefused, "Postgres refuses plaintext");
    return server;
  }

  async function startWebhook(): Promise<Server> {
    const { certificate: cert, key } = authority.issue();
    const server = createServer({ cert, key }, (request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      request.once("end", () => {
        received.push(body);
        response.writeHead(200).end();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return server;
  }

  const greet = async (name: string): Promise<string> => {
    const headers = { "content-type": "application/json" };
    return (await fetch(endpoint, { method: "POST", headers, body: JSON.stringify({ name }) })).text();
  };

  it("runs a source behind an HTTPS endpoint and delivers its event to an HTTPS webhook", async () => {
    interface Created {
      readonly data: { readonly id: string; readonly configured_props: { readonly http: { readonly endpoint_url: string } } };
    }
    const created = await headwater.call<Created>("POST", "/sources", { component_code: greeter });
    expect(created.status, created.text).toBe(200);
    endpoint = created.body.data.configured_props.http.endpoint_url;
    expect(endpoint).toMatch(/^https:/);
    const url = `https://localhost:${(webhook.address() as AddressInfo).port}/`; // Listening on TCP.
    const hook = await headwater.call<{ data: { id: string } }>("POST", `/webhooks?url=${encodeURIComponent(url)}&name=hook`);
    expect(hook.status, hook.text).toBe(200);
    const { id } = created.body.data;
    const subscribed = await headwater.call("POST", `/subscriptions?emitter_id=${id}&listener_id=${hook.body.data.id}`);
    expect(subscribed.status, subscribed.text).toBe(200);
    expect(await greet("Ada")).toBe("hello Ada by https");
    await until(() => received.some((body) => body.includes("Ada")), "the webhook receives the event");
  });

  it("presents rotated certificates to clients of the API and of endpoints, in the running processes", async () => {
    const subjectAt = async (url: string): Promise<string> => {
      const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", ca: authority.certificate });
      await once(socket, "secureConnect");
      const { CN } = socket.getPeerCertificate().subject;
      socket.destroy();
      return String(CN);
    };
    const both = () => Promise.all([headwater.apiUrl, headwater.ingressUrl].map(subjectAt));
    expect(await both()).toEqual(["first", "first"]);
    await rotateServer("second");
    await expect.poll(both).toEqual(["second", "second"]);
    expect(await greet("Bob")).toBe("hello Bob by https");
  });

  it("serves no plain HTTP", async () => {
    const socket = connectTcp(Number(new URL(headwater.apiUrl).port), "127.0.0.1");
    let text = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
    socket.on("error", () => undefined);
    socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
    await once(socket, "close");
    expect(text).not.toContain("200");
  });
});
