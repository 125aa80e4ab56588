import { Agent as HttpAgent, createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { Agent, request } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { createEgress } from "../../platform/http/egress.ts";
import type { Egress, EgressAddress } from "../../platform/http/egress.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const refused = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "10.255.255.255",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.254",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.51.100.7",
  "203.0.113.9",
  "224.0.0.1",
  "239.1.1.1",
  "240.0.0.1",
  "255.255.255.255",
  "168.63.129.16",
  "100.100.100.200",
  "::",
  "::1",
  "::7f00:1",
  "::127.0.0.1",
  "::808:808",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:10.0.0.1",
  "::ffff:0:127.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b::8.8.8.8",
  "64:ff9b:1::a00:1",
  "100::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::1",
  "2002:a00:1::",
  "3fff::1",
  "5f00::1",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
];
const oddSpellings = [
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "017700000001",
  "127.1",
  "127.0.1",
  "0",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "127.0.0.1.",
  "0xa9fea9fe",
  "2852039166",
];
const reachable = [
  "1.1.1.1",
  "8.8.8.8",
  "172.15.255.255",
  "172.32.0.1",
  "192.167.0.1",
  "100.63.255.255",
  "100.128.0.1",
  "93.184.215.14",
  "223.255.255.254",
  "169.253.1.1",
  "2606:4700:4700::1111",
  "2a00:1450:4001:80b::200e",
  "[2606:4700::1]",
  "::ffff:8.8.8.8",
  "134744072",
  "0x08080808",
];

describe("egress", () => {
  it.each([...refused, ...oddSpellings])("refuses the address %s", (address) => {
    expect(codeOf(() => createEgress({ allow: [] }).check(address))).toBe("egress_denied");
  });

  it.each(reachable)("lets the public address %s through", (address) => {
    expect(() => createEgress({ allow: [] }).check(address)).not.toThrow();
  });

  it.each(refused)("refuses a name that resolves to %s", async (address) => {
    await expect(resolving([address]).resolve("name.test")).rejects.toMatchObject({ code: "egress_denied" });
  });

  it("leaves names to the lookup", () => {
    expect(() => createEgress({ allow: [] }).check("localhost")).not.toThrow();
  });

  it("names the host and the setting when it refuses, not the private address of the host", async () => {
    const refusal = resolving(["10.0.0.5"]).resolve("db.internal");
    await expect(refusal).rejects.toThrow(/egress to db\.internal is denied.*HEADWATER_EGRESS_ALLOW.*HEADWATER_EGRESS_SERVER/);
    await expect(refusal).rejects.not.toThrow(/10\.0\.0\.5/);
  });

  it("refuses a name when any of its addresses is private", async () => {
    await expect(resolving(["8.8.8.8", "10.0.0.1"]).resolve("mixed.test")).rejects.toMatchObject({
      code: "egress_denied",
    });
    await expect(resolving(["2606:4700::1", "::1"]).resolve("mixed.test")).rejects.toMatchObject({
      code: "egress_denied",
    });
  });

  it("refuses a private address of the other address family as well", async () => {
    const answer = await lookup(resolving(["8.8.8.8", "::1"]), { family: 4 });
    expect(answer.error).toMatchObject({ code: "egress_denied" });
  });

  it("refuses a lookup result that is not an address", async () => {
    await expect(resolving(["not-an-address"]).resolve("odd.test")).rejects.toMatchObject({ code: "egress_denied" });
  });

  it("queries the resolver once and returns the addresses that it checked", async () => {
    let asked = 0;
    const rebinding = createEgress({
      allow: [],
      resolver: async () => (asked++ === 0 ? toAnswer(["8.8.8.8"]) : toAnswer(["127.0.0.1"])),
    });
    expect(await lookup(rebinding, { all: true })).toEqual({
      error: null,
      answer: [{ address: "8.8.8.8", family: 4 }],
    });
    expect(asked).toBe(1);
  });

  it("returns one address or all, in the requested family", async () => {
    const egress = resolving(["2606:4700::1", "8.8.8.8", "1.1.1.1"]);
    expect(await lookup(egress, {})).toEqual({ error: null, answer: "2606:4700::1", family: 6 });
    expect(await lookup(egress, { family: 4 })).toEqual({ error: null, answer: "8.8.8.8", family: 4 });
    expect((await lookup(egress, { family: "IPv4", all: true })).answer).toEqual(toAnswer(["8.8.8.8", "1.1.1.1"]));
    expect((await lookup(resolving(["8.8.8.8"]), { family: 6 })).error).toMatchObject({ code: "ENOTFOUND" });
    expect((await lookup(resolving([]), {})).error).toMatchObject({ code: "ENOTFOUND" });
  });

  it("allows the networks given as CIDR and no others", () => {
    const egress = createEgress({ allow: ["10.1.0.0/16", "fd12::/16", "127.0.0.1/32"] });
    for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "fd12::5", "127.0.0.1", "2130706433", "8.8.8.8"])
      expect(() => egress.check(address)).not.toThrow();
    for (const address of ["10.2.0.1", "fd13::1", "127.0.0.2", "::1", "169.254.169.254"])
      expect(codeOf(() => egress.check(address))).toBe("egress_denied");
  });

  it("reports which entry of the allow list is not a network", () => {
    expect(() => createEgress({ allow: ["10.0.0.0/8", "10.0.0.1"] })).toThrow(/'10\.0\.0\.1' is invalid/);
  });

  it("keeps node:http and undici from a loopback server behind a name unless it is allowed", async () => {
    const server = createServer((_, response) => response.end("inside")).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(async () => server.close());
    const url = `http://inside.test:${(server.address() as AddressInfo).port}/`;
    const resolver = async (): Promise<EgressAddress[]> => toAnswer(["127.0.0.1"]);
    const closed = createEgress({ allow: [], resolver });
    const open = createEgress({ allow: ["127.0.0.0/8"], resolver });
    await expect(byUndici(url, closed)).rejects.toMatchObject({ code: "egress_denied" });
    await expect(byNode(url, closed)).rejects.toMatchObject({ code: "egress_denied" });
    expect(await byUndici(url, open)).toBe("inside");
    expect(await byNode(url, open)).toBe("inside");
  });
});

async function byUndici(url: string, egress: Egress): Promise<string> {
  const dispatcher = new Agent({ connect: { lookup: egress.lookup } });
  closing.push(() => dispatcher.close());
  const response = await request(url, { dispatcher });
  return response.body.text();
}

function byNode(url: string, egress: Egress): Promise<string> {
  const agent = new HttpAgent({ lookup: egress.lookup });
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { agent }, (response) => {
      let text = "";
      response
        .setEncoding("utf8")
        .on("data", (chunk: string) => (text += chunk))
        .on("end", () => resolve(text));
    });
    outgoing.on("error", reject).end();
  });
}

function resolving(addresses: readonly string[]): Egress {
  return createEgress({ allow: [], resolver: async () => toAnswer(addresses) });
}

function toAnswer(addresses: readonly string[]): EgressAddress[] {
  return addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}

function lookup(egress: Egress, options: Parameters<Egress["lookup"]>[1]): Promise<{ error: unknown; answer: unknown; family?: number }> {
  return new Promise((resolve) => {
    egress.lookup("name.test", options, (error, answer, family) =>
      resolve(family === undefined ? { error, answer } : { error, answer, family }),
    );
  });
}

function codeOf(act: () => void): unknown {
  try {
    act();
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
  return undefined;
}
