import { describe, expect, it } from "vitest";
import { clientReader, networkOf, noProxies, type TrustedProxies } from "../../domain/client-address.ts";

const read = (trusted: TrustedProxies, peer: string, headers: Readonly<Record<string, string>> = {}) =>
  clientReader(trusted)({ headers, socket: { remoteAddress: peer, localPort: 3001 } });
const inside = { networks: ["10.0.0.0/8", "fd00::/8"] };

describe("clientReader", () => {
  it("takes the connection's address from an untrusted peer, whatever its headers claim", () => {
    const spoofed = { "x-forwarded-for": "6.6.6.6", "x-forwarded-proto": "https", "x-forwarded-port": "443" };
    for (const [trusted, peer] of [
      [noProxies, "10.0.0.1"],
      [inside, "203.0.113.9"],
    ] as const)
      expect(read(trusted, peer, spoofed)).toEqual({
        address: peer,
        protocol: "http",
        forwarded: { "x-forwarded-for": peer, "x-forwarded-proto": "http", "x-forwarded-port": "3001" },
      });
  });

  it.each([
    ["10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["10.0.0.1", "6.6.6.6, 203.0.113.9", "203.0.113.9"],
    ["10.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"],
    ["10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["10.0.0.1", "", "10.0.0.1"],
    ["::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"],
    ["fd00::1", "2001:db8::7", "2001:db8::7"],
    ["10.0.0.1", "203.0.113.9:4711", "203.0.113.9"],
    ["10.0.0.1", "[2001:db8::7]:4711", "2001:db8::7"],
    ["10.0.0.1", "::ffff:203.0.113.9", "203.0.113.9"],
    ["10.0.0.1", "6.6.6.6, unknown", "10.0.0.1"],
    ["10.0.0.1", "6.6.6.6, unknown, 10.0.0.2", "10.0.0.2"],
    ["10.0.0.1", "6.6.6.6,,", "10.0.0.1"],
    ["10.0.0.1", "1", "10.0.0.1"],
    ["10.0.0.1", "0x0a000002, 203.0.113.9", "203.0.113.9"],
  ])("peer %s with %j: the right-most address that is no trusted proxy is %s", (peer, chain, address) => {
    expect(read(inside, peer, { "x-forwarded-for": chain }).address).toBe(address);
  });

  it.each([
    [1, "6.6.6.6, 203.0.113.9", "203.0.113.9"],
    [2, "6.6.6.6, 203.0.113.9", "6.6.6.6"],
    [3, "6.6.6.6, 203.0.113.9", "6.6.6.6"],
    [0, "6.6.6.6, 203.0.113.9", "192.0.2.1"],
  ])("passes as many hops as are trusted: %i of %j", (hops, chain, address) => {
    expect(read({ hops }, "192.0.2.1", { "x-forwarded-for": chain }).address).toBe(address);
  });

  it("keeps the headers of a trusted proxy, and adds the missing ones", () => {
    const all = { "x-forwarded-for": "6.6.6.6, 203.0.113.9", "x-forwarded-proto": "https", "x-forwarded-port": "8443" };
    expect(read(inside, "10.0.0.1", all)).toEqual({ address: "203.0.113.9", protocol: "https", forwarded: all });
    expect(read(inside, "10.0.0.1", { "x-forwarded-proto": "https" }).forwarded).toEqual({
      "x-forwarded-for": "10.0.0.1",
      "x-forwarded-proto": "https",
      "x-forwarded-port": "443",
    });
    expect(read(inside, "10.0.0.1").forwarded["x-forwarded-port"]).toBe("3001");
  });
});

it("counts an IPv6 /56 as one network, and IPv4 addresses by themselves", () => {
  expect(networkOf("2001:db8:1:2::1")).toBe(networkOf("2001:db8:1:ff:ffff::9"));
  expect(networkOf("2001:db8:1:2::1")).not.toBe(networkOf("2001:db8:1:102::1"));
  expect(["203.0.113.9", "::ffff:203.0.113.9", ""].map(networkOf)).toEqual(["203.0.113.9", "203.0.113.9", ""]);
});
