import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { describe, expect, it } from "vitest";
import { findNatsServer, isRecent } from "../../platform/process/nats/find-nats-server.ts";
import { formatNatsUrl, parseNatsUrl } from "../../platform/process/nats/nats-connection.ts";
import { fileInTar } from "../../platform/process/nats/nats-release.ts";
import { startNats } from "../../platform/process/nats/nats-server.ts";
import { natsBinary, withNats } from "../support/nats/nats.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

describe("startNats", () => {
  const nats = withNats({ monitoringPort: 0 });

  it("keeps acknowledged messages through a crash", async () => {
    const before = await connect({ ...nats.connection, reconnect: false });
    await (await jetstreamManager(before)).streams.add({ name: "KEPT", subjects: ["kept.>"] });
    const { seq } = await jetstream(before).publish("kept.one", "hello");
    await nats.crash();
    const after = await connect(nats.connection);
    const message = await (await jetstreamManager(after)).streams.getMessage("KEPT", { seq });
    expect(message?.string()).toBe("hello");
    await Promise.all([before.close(), after.close()]);
  });

  it("refuses a client without the password", async () => {
    await expect(connect({ servers: nats.connection.servers, reconnect: false })).rejects.toThrow(/authorization/i);
  });

  it("responds on its monitoring port", async () => {
    const response = await fetch(`http://127.0.0.1:${nats.server.monitoringPort}/healthz`);
    expect(await response.json()).toEqual({ status: "ok" });
  });

  it("reports why the server did not start", async () => {
    const directory = await temporaryDirectory("nats-port");
    const start = startNats({ dataDirectory: directory.path, port: nats.server.port, binary: await natsBinary() });
    await expect(start).rejects.toThrow(/address already in use/);
    await directory.remove();
  });

  it("ends a server of the same data that outlived its parent, and hides its files from other users", async () => {
    const directory = await temporaryDirectory("nats-orphan");
    const options = { dataDirectory: directory.path, binary: await natsBinary() };
    const orphan = await startNats(options);
    const second = await startNats(options);
    await orphan.exited;
    const modes = await Promise.all(["password", "nats-server.conf"].map(async (file) => (await stat(join(directory.path, file))).mode));
    expect(modes.map((mode) => mode & 0o777)).toEqual([0o600, 0o600]);
    await second.stop();
    await directory.remove();
  });
});

describe("findNatsServer", () => {
  it("prefers the server that HEADWATER_NATS_SERVER names", async () => {
    const path = await natsBinary();
    expect(await findNatsServer({ env: { HEADWATER_NATS_SERVER: path, PATH: "" } })).toMatchObject({ path });
  });

  it("refuses a named server that is too old, and skips one on PATH", async () => {
    const directory = await temporaryDirectory("nats-old");
    const [old, tools] = [join(directory.path, "old"), join(directory.path, "tools")];
    await Promise.all([old, tools].map((folder) => mkdir(folder)));
    await fakeServer(join(old, "nats-server"), "v2.9.25");
    await fakeServer(join(tools, "nats-server"), "v2.14.0");
    const named = findNatsServer({ env: { HEADWATER_NATS_SERVER: join(old, "nats-server") } });
    await expect(named).rejects.toThrow("is nats-server 2.9.25; 2.14 or later is needed");
    const found = await findNatsServer({ env: { PATH: old }, toolsDirectory: tools });
    expect(found).toEqual({ path: join(tools, "nats-server"), version: "2.14.0" });
    await directory.remove();
  });

  it.each([
    ["2.14.0", true],
    ["2.15.1", true],
    ["3.0.0", true],
    ["2.13.9", false],
    ["2.9.25", false],
    ["1.20.0", false],
  ])("reports whether %s is recent enough: %s", (version, recent) => {
    expect(isRecent(version)).toBe(recent);
  });
});

describe("fileInTar", () => {
  it.skipIf(spawnSync("tar", ["--version"]).status !== 0)("finds a file below a folder of an archive", async () => {
    const directory = await temporaryDirectory("tar");
    await mkdir(join(directory.path, "release"));
    await writeFile(join(directory.path, "release", "README.md"), "x".repeat(1_300));
    await writeFile(join(directory.path, "release", "nats-server"), "the binary");
    const tar = execFileSync("tar", ["-c", "--format=ustar", "-C", directory.path, "release"]);
    expect((await fileInTar(tar, "nats-server")).toString()).toBe("the binary");
    expect((await fileInTar(gzipSync(tar), "nats-server")).toString()).toBe("the binary");
    await expect(fileInTar(tar, "absent")).rejects.toThrow("no file named absent");
    await expect(fileInTar(Buffer.from("not an archive".repeat(100)), "absent")).rejects.toThrow();
    await directory.remove();
  });
});

describe("addresses of NATS", () => {
  it.each([
    ["nats://127.0.0.1:4222", { servers: "nats://127.0.0.1:4222" }],
    ["nats://user:p%40ss@a:1,nats://user:p%40ss@b:2", { servers: "nats://a:1,nats://b:2", user: "user", pass: "p@ss" }],
    ["nats://s3cret@host:4222", { servers: "nats://host:4222", token: "s3cret" }],
  ])("reads and writes %s", (url, connection) => {
    expect(parseNatsUrl(url)).toEqual(connection);
    expect(formatNatsUrl(connection)).toBe(url);
  });
});

async function fakeServer(path: string, version: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\necho nats-server: ${version}\n`, { mode: 0o755 });
}
