import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SandboxFixture, startSandbox } from "../sandbox-fixture.ts";
import { certificate } from "./certificate.ts";
import { startServers, type TestServers } from "./servers.ts";

/** Where descriptors cannot be passed, a child connects by itself, under the same policy. */
let fixture: SandboxFixture;
let servers: TestServers;
beforeAll(async () => {
  [fixture, servers] = await Promise.all([startSandbox({ parentConnects: false, jail: "off" }), startServers()]);
});
afterAll(async () => {
  await fixture.stop();
  await servers.close();
});

async function returned(body: string): Promise<unknown> {
  const execution = await fixture.run(`import net from "node:net"; import https from "node:https"; import dns from "node:dns/promises";
    export default { name: "c", async run() { ${body} } };`);
  return execution.outcome === "returned" ? JSON.parse(execution.result ?? "null") : execution;
}

describe("a child that connects by itself", () => {
  it("sends requests over HTTP", async () => {
    expect(await returned(`return (await fetch("${servers.http}/status?code=201&body=made")).text();`)).toBe("made");
  });

  it("sends requests over HTTPS", async () => {
    const options = JSON.stringify({ ca: certificate });
    const body = `return await new Promise((ok, no) => https.get("${servers.https.replace("localhost", "127.0.0.1")}/status?code=201", { ...${options}, servername: "localhost" }, (response) => ok(response.statusCode)).on("error", no));`;
    expect(await returned(body)).toBe(201);
  });

  it("receives what a server sends first", async () => {
    const body = `return await new Promise((ok, no) => { const socket = net.connect(${servers.tcpPort}, "127.0.0.1"); socket.on("error", no).on("data", (bytes) => { ok(bytes.length > 0); socket.destroy(); }); socket.write("hello\\n"); });`;
    expect(await returned(body)).toBe(true);
  });

  it("obeys the egress policy", async () => {
    const body = `const code = (error) => error.cause?.code ?? error.code; return [await fetch("http://10.0.0.1/").catch(code), await dns.lookup("10.0.0.1").catch(code)];`;
    expect(await returned(body)).toEqual(["egress_denied", "egress_denied"]);
  });
});
