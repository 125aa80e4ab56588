import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeFrame } from "../../../runner/sandbox/frames.ts";
import { canPassDescriptors } from "../../../runner/sandbox/network/passed-descriptors.ts";
import { type FromHost, fromHostLimits } from "../../../runner/sandbox/processes/host-protocol.ts";
import { HostListener } from "../../../runner/sandbox/processes/host-listener.ts";
import { startSandbox } from "../sandbox-fixture.ts";
import { describeProcesses, echo, startProgram } from "./contract.ts";

/** The process host as in a pod: a process of its own. As another user only where this one is root. */
const isRoot = process.getuid?.() === 0;
const hostUser = isRoot ? 65_533 : (process.getuid?.() ?? 0);
const main = join(import.meta.dirname, "../../../main.ts");
const warnings: string[] = [];
const logger = { warn: (_: object, message = "") => void warnings.push(message) };
const nameOf = (purpose: string): string => `@headwater-test-${process.pid}-${purpose}`;

function startHost(socket: string): ChildProcess {
  return spawn(process.execPath, ["--no-node-snapshot", main], {
    env: { HEADWATER_ROLES: "sandbox", HEADWATER_SANDBOX_SOCKET: socket, HEADWATER_LOG_LEVEL: "warn" },
    stdio: ["ignore", "ignore", "inherit"],
    ...(isRoot && { uid: hostUser, gid: hostUser }),
  });
}

async function connected(listener: HostListener): Promise<void> {
  await expect.poll(async () => await startProgram(listener, "").exit, { timeout: 60_000, interval: 200 }).toBe("exit code 0");
}

describe.skipIf(!canPassDescriptors)("sandbox processes of a process host", () => {
  let listener: HostListener;
  let host: ChildProcess;
  const socket = nameOf("contract");
  beforeAll(async () => {
    listener = await HostListener.listen({ socket, user: hostUser, logger });
    host = startHost(socket);
    expect(await listener.resources(60_000)).toMatchObject({ cores: expect.any(Number) as number });
  });
  afterAll(() => {
    listener.stop();
    host.kill("SIGKILL");
  });

  describeProcesses(() => listener);

  it.skipIf(!isRoot)("have the user of the host (skipped unless root runs the tests)", async () => {
    const { process: started } = startProgram(listener, echo);
    started.channel?.write("one");
    await once(started.channel ?? process, "data");
    expect(readFileSync(`/proc/${started.pid}/status`, "utf8")).toMatch(new RegExp(`^Uid:\\t${hostUser}\\t`, "m"));
    started.kill();
  });

  it("run components, with connections that the runner opens, and are measured", async () => {
    const server = createServer((_, response) => response.end("reached")).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { readonly port: number };
    const fixture = await startSandbox({ processes: listener });
    const code = `export default { name: "c", run: async () => (await fetch("http://127.0.0.1:${port}")).text() }`;
    expect(await fixture.run(code)).toMatchObject({ outcome: "returned", result: `"reached"` });
    await expect.poll(() => fixture.sandbox.stats().residentBytes, { timeout: 10_000 }).toBeGreaterThan(10 * 2 ** 20);
    await fixture.stop();
    server.close();
  });

  it("end with their host, and the next host starts new ones", async () => {
    const { process: started, exit } = startProgram(listener, echo);
    started.channel?.write("one");
    await once(started.channel ?? process, "data");
    host.kill("SIGKILL");
    expect(await exit).toBe("the process host is lost: its connection ended");
    expect(await startProgram(listener, echo).exit).toBe("no process host is connected");
    host = startHost(socket);
    await connected(listener);
  });

  it("end with the runner, and the host waits for the next one", async () => {
    const { process: started, exit } = startProgram(listener, `setInterval(() => {}, 1000); process.stderr.write("up")`);
    await once(started.stderr ?? process, "data");
    const pid = started.pid ?? 0;
    listener.stop();
    expect(await exit).toContain("the runner stops");
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
    listener = await HostListener.listen({ socket, user: hostUser, logger });
    await connected(listener);
  });
});

function isAlive(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Connects as a host does. */
async function connectAsHost(name: string): Promise<{ readonly control: Socket; readonly descriptors: Socket }> {
  const open = async (): Promise<Socket> => {
    const socket = connect(`\0${name.slice(1)}`).on("error", () => {});
    await once(socket, "connect");
    return socket;
  };
  return { descriptors: await open(), control: await open() };
}

describe.skipIf(!canPassDescriptors)("a process host that an attacker controls", () => {
  const ownUser = process.getuid?.() ?? 0;
  const resources = { memoryLimitBytes: null, memoryBytes: 2 ** 30, cores: 2 };
  const hello: FromHost = { kind: "hello", resources };
  const frames = (...messages: readonly FromHost[]): Buffer =>
    Buffer.concat(messages.map((message) => encodeFrame(fromHostLimits, message)));

  it("is refused when it has another user", async () => {
    const listener = await HostListener.listen({ socket: nameOf("user"), user: ownUser + 1, logger });
    const { control } = await connectAsHost(nameOf("user"));
    await once(control.resume(), "close");
    expect(warnings).toContain(`user ${ownUser} has tried to connect as the process host`);
    await expect(listener.resources(10)).rejects.toMatchObject({ code: "sandbox_unavailable" });
    listener.stop();
  });

  it("is refused while another one is connected, whose processes go on", async () => {
    const listener = await HostListener.listen({ socket: nameOf("second"), user: ownUser, logger });
    const first = await connectAsHost(nameOf("second"));
    first.control.write(frames(hello));
    expect(await listener.resources(10_000)).toEqual(resources);
    const second = await connectAsHost(nameOf("second"));
    await Promise.all([once(second.control.resume(), "close"), once(second.descriptors.resume(), "close")]);
    expect(first.control.readyState).toBe("open");
    listener.stop();
  });

  it.each<[what: string, bytes: Buffer, says: RegExp]>([
    ["greets twice", frames(hello, hello), /'hello' that nothing waits for/],
    ["reports before it greets", frames({ kind: "usage", processes: [] }), /'usage' that nothing waits for/],
    ["reports a process that it does not have", frames(hello, { kind: "exited", id: 7, how: "x" }), /process 7, which it does not have/],
    [
      "says that a process started twice",
      frames(hello, { kind: "started", id: 1, pid: 1 }, { kind: "started", id: 1, pid: 2 }),
      /'started' that/,
    ],
    ["names a negative size", frames(hello, { kind: "usage", processes: [[1, -1, 0]] }), /whose processes.0.1 is invalid/],
    ["adds a field", frames({ kind: "hello", resources: { ...resources, more: 1 } } as FromHost), /Unrecognized key/],
    ["sends a frame of four gigabytes", Buffer.from([255, 255, 255, 255, 2]), /of 4294967295 bytes/],
    ["sends what is no frame", Buffer.from("GET / HTTP/1.1\r\n"), /unknown kind/],
  ])("is disconnected when it %s, and its processes count as ended", async (what, bytes, says) => {
    const name = nameOf(what.replaceAll(" ", "-"));
    const listener = await HostListener.listen({ socket: name, user: ownUser, logger });
    const first = what.includes("before it greets") || what.includes("frame") || what.includes("field");
    const { control } = await connectAsHost(name);
    if (!first) {
      control.write(bytes.subarray(0, frames(hello).byteLength));
      await listener.resources(10_000);
    }
    const { exit } = startProgram(listener, "");
    control.write(first ? bytes : bytes.subarray(frames(hello).byteLength));
    await once(control.resume(), "close");
    if (!first) expect(await exit).toMatch(says);
    expect(warnings.at(-1)).toMatch(says);
    listener.stop();
  });
});
