import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPrograms } from "../../../runner/sandbox/children/child-script.ts";
import { isolateCommand } from "../../../runner/sandbox/children/isolate-command.ts";
import { findJailFailure, type Jail, jailOf } from "../../../runner/sandbox/jail/jail.ts";
import { canPassDescriptors, descriptorOf, passDescriptor } from "../../../runner/sandbox/network/passed-descriptors.ts";
import { cacheDirectory } from "../sandbox-fixture.ts";
import { buildNativeProgram, packages } from "./native-program.ts";

/** What native code in a sandbox process can do with a connection that its parent has passed, and without one. */
let directory: string;
let program: string;
let jail: Jail;
let failure: string | undefined;
let allowed: Server;
let forbidden: Server;
const received: string[] = [];
let forbiddenConnections = 0;

beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "headwater-sockets-")));
  jail = jailOf((await buildPrograms(cacheDirectory)).launcher);
  failure = canPassDescriptors ? await findJailFailure(jail) : "descriptors cannot be passed here";
  await mkdir(join(directory, "program"));
  program = join(directory, "program", "sockets.mjs");
  await buildNativeProgram("sockets-program.ts", program);
  allowed = createServer((socket) => void socket.on("error", () => {}).on("data", (bytes) => received.push(String(bytes))));
  forbidden = createServer((socket) => {
    forbiddenConnections += 1;
    socket.on("error", () => {}).destroy();
  });
  for (const server of [allowed, forbidden]) await once(server.listen(0, "127.0.0.1"), "listening");
});
afterAll(async () => {
  for (const server of [allowed, forbidden]) server.close();
  await rm(directory, { recursive: true });
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

async function attack(inJail: boolean): Promise<Readonly<Record<string, string>>> {
  const readable = [join(directory, "program"), packages];
  const command = [...isolateCommand(program, readable), JSON.stringify({ port: portOf(forbidden), parent: process.pid })];
  const [node = "", ...args] = inJail ? jail(readable, command) : command;
  const connection = connect(portOf(allowed), "127.0.0.1").pause();
  await once(connection, "connect");
  const child = spawn(node, args, { env: {}, stdio: ["ignore", "pipe", "inherit", "pipe", "pipe"] });
  const channel = child.stdio[4];
  if (!(channel instanceof Socket)) throw new Error("the program has no channel");
  expect(passDescriptor(descriptorOf(channel), descriptorOf(connection), 1)).toBe(true);
  connection.destroy();
  channel.on("error", () => {});
  if (child.stdout === null) throw new Error("the program has no output");
  return JSON.parse(await text(child.stdout)) as Record<string, string>; // The program prints it.
}

const succeeded = (outcomes: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(outcomes).filter((name) => !outcomes[name]?.startsWith("refused"));

describe("native code in a sandbox process", () => {
  it("uses the connection that it was given, and reaches nothing else", async ({ skip }) => {
    if (failure !== undefined) skip(failure);
    const outcomes = await attack(true);
    expect(succeeded(outcomes)).toEqual([]);
    expect(Object.keys(outcomes).length).toBeGreaterThan(25);
    expect(forbiddenConnections).toBe(0);
    expect(received.join("")).toBe("hello");
  });

  it("reaches other servers without the jail", async ({ skip }) => {
    if (!canPassDescriptors) skip("descriptors cannot be passed here");
    const possible = [
      "connect to a server of the runner",
      "send a datagram",
      "have the connection signal the parent",
      "disconnect the connection",
    ];
    expect(succeeded(await attack(false))).toEqual(expect.arrayContaining(possible));
    expect(forbiddenConnections).toBeGreaterThan(0);
  });
});
