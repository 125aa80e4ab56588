import { once } from "node:events";
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { canPassDescriptors, descriptorOf, passDescriptor, takeDescriptor } from "../../../runner/sandbox/network/passed-descriptors.ts";

describe.skipIf(!canPassDescriptors)("descriptors that are passed over a Unix socket", () => {
  let directory: string;
  let sender: Socket;
  let receiver: Socket;
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "headwater-descriptors-"));
    const server = createServer({ pauseOnConnect: true }).listen(join(directory, "socket"));
    await once(server, "listening");
    const accepted = once(server, "connection");
    sender = connect(join(directory, "socket"));
    [receiver] = (await accepted) as [Socket];
    server.close();
  });
  afterEach(() => {
    sender.destroy();
    receiver.destroy();
    rmSync(directory, { recursive: true });
  });

  it("arrive in order, with their numbers", () => {
    const files = ["first", "second"].map((name) => openSync(join(directory, name), "w"));
    files.forEach((file, index) => expect(passDescriptor(descriptorOf(sender), file, index + 7)).toBe(true));
    const taken = files.map(() => takeDescriptor(descriptorOf(receiver)));
    expect(taken.map(({ number }) => number)).toEqual([7, 8]);
    expect(taken.map(({ descriptor }) => fstatSync(descriptor).ino)).toEqual(files.map((file) => fstatSync(file).ino));
    for (const descriptor of [...files, ...taken.map((each) => each.descriptor)]) closeSync(descriptor);
  });

  it("wait in the sender when the receiver takes none", () => {
    const pass = (): boolean => passDescriptor(descriptorOf(sender), 1, 1);
    let passed = 0;
    while (pass()) passed += 1;
    expect(passed).toBeGreaterThan(10);
    for (let n = 0; n < passed; n++) closeSync(takeDescriptor(descriptorOf(receiver)).descriptor);
    expect(pass()).toBe(true);
  });

  it("are not there before they are passed", () => {
    expect(() => takeDescriptor(descriptorOf(receiver))).toThrow("recvmsg returned -1, with error 11");
  });

  it("are refused by a closed channel", async () => {
    receiver.destroy();
    await once(receiver, "close");
    expect(() => passDescriptor(descriptorOf(sender), 1, 1)).toThrow(/sendmsg failed with error (32|104)/);
  });
});
