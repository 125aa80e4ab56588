import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Connector } from "../../../runner/sandbox/network/connector.ts";
import { createEgress, type EgressAddress } from "../../../platform/http/egress.ts";

/** The parent's side of components' connections. */
const loopback: EgressAddress = { address: "127.0.0.1", family: 4 };
const never = new AbortController().signal;
const threads = 16;
let server: Server;
const accepted: Socket[] = [];
beforeAll(async () => {
  server = createServer((socket) => {
    accepted.push(socket.on("error", () => {}));
    socket.write("greeting");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  for (const socket of accepted) socket.destroy();
  server.close();
});
const port = (): number => (server.address() as AddressInfo).port;

/** A resolver that never answers for names that begin with `slow`. */
function connectorOf(
  resolver = async (host: string): Promise<readonly EgressAddress[]> => (host.startsWith("slow") ? await hang() : [loopback]),
) {
  const asked: string[] = [];
  const egress = createEgress({
    allow: ["127.0.0.0/8"],
    resolver: (host) => {
      asked.push(host);
      return resolver(host);
    },
  });
  return { connector: new Connector(egress, threads), asked };
}
const hang = (): Promise<never> => new Promise(() => {});

async function connected(connector: Connector, owner: string, host: string): Promise<Socket> {
  const socket = await connector.connect(owner, host, port(), never);
  onTestFinished(() => void socket.destroy());
  return socket;
}

describe("a connection", () => {
  it("is not read, however much has arrived", async () => {
    const socket = await connected(connectorOf().connector, "u_1", "server.example.com");
    const [peer] = accepted.slice(-1);
    await new Promise((resolve) => peer?.write("more", resolve));
    expect(socket.bytesRead).toBe(0);
    expect(socket.isPaused()).toBe(true);
  });

  it("goes to the address that was judged: the name is resolved once", async () => {
    const { connector, asked } = connectorOf();
    expect((await connected(connector, "u_1", "server.example.com")).remoteAddress).toBe("127.0.0.1");
    expect(asked).toEqual(["server.example.com"]);
  });

  it.each(["10.0.0.1", "169.254.169.254", "0xa9.0xfe.0xa9.0xfe", "[::1]", "::ffff:10.0.0.1"])("is refused to %s", async (host) => {
    await expect(connectorOf().connector.connect("u_1", host, port(), never)).rejects.toMatchObject({ code: "egress_denied" });
  });

  it("is opened to the one server that is given by address and port, and by no other name or port", async () => {
    const egress = createEgress({ allow: [], server: { host: "127.0.0.1", port: port() }, resolver: async () => [loopback] });
    const connector = new Connector(egress, threads);
    expect((await connected(connector, "u_1", "127.0.0.1")).remotePort).toBe(port());
    for (const [host, other] of [
      ["127.0.0.1", port() + 1],
      ["127.0.0.2", port()],
      ["localhost", port()],
      ["server.example.com", port()],
    ] as const)
      await expect(connector.connect("u_1", host, other, never)).rejects.toMatchObject({ code: "egress_denied" });
    // Without a port: a name is only looked up.
    await expect(egress.resolve("127.0.0.1")).rejects.toMatchObject({ code: "egress_denied" });
  });

  it("is refused to a name with a public and a private address", async () => {
    const { connector } = connectorOf(async () => [loopback, { address: "10.0.0.1", family: 4 }]);
    await expect(connector.connect("u_1", "mixed.example.com", port(), never)).rejects.toMatchObject({ code: "egress_denied" });
  });

  it("is opened by the given port, after its address was judged", async () => {
    const opened: unknown[] = [];
    const egress = createEgress({ allow: [], resolver: async () => [{ address: "93.184.216.34", family: 4 }] });
    const connector = new Connector(egress, threads, ({ host, port: asked }) => {
      opened.push([host, asked]);
      return connect({ host: "127.0.0.1", port: port() });
    });
    const socket = await connector.connect("u_1", "server.example.com", 443, never);
    onTestFinished(() => void socket.destroy());
    await expect(connector.connect("u_1", "10.0.0.1", 443, never)).rejects.toMatchObject({ code: "egress_denied" });
    expect(opened).toEqual([["93.184.216.34", 443]]);
  });

  it("tries the next address of a name when one does not answer", async () => {
    const { connector } = connectorOf(async () => [{ address: "127.0.0.2", family: 4 }, loopback]);
    expect((await connected(connector, "u_1", "two.example.com")).remoteAddress).toBe("127.0.0.1");
  });

  it("is given up when it is cancelled", async () => {
    const controller = new AbortController();
    const reason = new Error("cancelled");
    const attempt = connectorOf().connector.connect("u_1", "server.example.com", port(), controller.signal);
    controller.abort(reason);
    await expect(attempt).rejects.toBe(reason);
  });
});

describe("an owner", () => {
  it("connects while names of another wait for a slow name server", async () => {
    const { connector, asked } = connectorOf();
    for (let n = 0; n < 1_000; n++) connector.connect("u_flood", `slow${n}.example.com`, port(), never).catch(() => {});
    for (const owner of ["u_1", "u_2"]) await connected(connector, owner, `${owner}.example.com`);
    expect(asked.filter((host) => host.startsWith("slow")).length).toBeLessThanOrEqual(4);
  });

  it("connects to an address while its own names wait", async () => {
    const { connector } = connectorOf();
    for (let n = 0; n < 20; n++) connector.connect("u_1", `slow${n}.example.com`, port(), never).catch(() => {});
    expect((await connected(connector, "u_1", "127.0.0.1")).remoteAddress).toBe("127.0.0.1");
  });

  it("is served at once while another has used up its rate", async () => {
    const { connector } = connectorOf();
    let admitted = 0;
    for (let n = 0; n < 3_000; n++) void connector.admit("u_flood", never).then(() => (admitted += 1));
    await connector.admit("u_1", never);
    expect(admitted).toBeLessThan(2_100);
  });
});
