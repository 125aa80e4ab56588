import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startNats, type NatsServer } from "../../platform/process/nats/nats-server.ts";
import { until } from "../support/until.ts";
import { natsBinary } from "../support/nats/nats.ts";
import { chart } from "../support/helm.ts";
import { startSmallDisk, type SmallDisk } from "../support/small-disk.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

const probe = join(chart, "files/nats-alive.sh");
/** The shell and the tools of the image. */
const busybox = ["/bin/busybox", "/usr/bin/busybox"].find(existsSync);
const disk: SmallDisk | undefined = busybox === undefined ? undefined : await startSmallDisk(80);
const missing = disk === undefined ? " (skipped: it needs busybox, and namespaces for users)" : "";

describe.skipIf(disk === undefined)(`the liveness probe of nats-server${missing}`, () => {
  let directory: TemporaryDirectory;
  let server: NatsServer;
  const data = join(disk?.path ?? "", "nats");
  beforeAll(async () => {
    directory = await temporaryDirectory("alive");
    const tools = join(directory.path, "bin");
    await mkdir(tools);
    execFileSync(busybox ?? "", ["--install", "-s", tools]);
    await mkdir(data);
    server = await startNats({ dataDirectory: data, monitoringPort: 0, binary: await natsBinary() });
  });
  afterAll(async () => {
    await server.kill();
    await disk?.remove();
    await directory.remove();
  });

  async function isAlive(port = server.monitoringPort): Promise<boolean> {
    const env = { PATH: join(directory.path, "bin") };
    const ran = promisify(execFile)(join(env.PATH, "sh"), [probe, String(port), data], { env });
    return ran.then(
      () => true,
      ({ code }: { code?: unknown }) => (code === 1 ? false : Promise.reject(new Error(`the probe ended with ${String(code)}`))),
    );
  }

  it("keeps nats-server running while the disk is full, and ends it once there is space, so that the next one stores", async () => {
    const publish = async (): Promise<boolean> => {
      const connection = await connect(server.connection);
      try {
        const stored = await jetstream(connection).publish("kept.one", new Uint8Array(100_000), { timeout: 2_000 });
        return stored.seq > 0;
      } catch {
        return false;
      } finally {
        await connection.close();
      }
    };
    const connection = await connect(server.connection);
    await (await jetstreamManager(connection)).streams.add({ name: "KEPT", subjects: ["kept.>"] });
    await connection.close();
    expect([await publish(), await isAlive()]).toEqual([true, true]);
    disk?.fill();
    await until(async () => !(await publish()), "a publish is not stored");
    expect(await isAlive()).toBe(true);
    disk?.free();
    expect([await publish(), await isAlive()]).toEqual([false, false]);
    await server.stop();
    server = await startNats({ dataDirectory: data, monitoringPort: 0, binary: await natsBinary() });
    expect([await publish(), await isAlive()]).toEqual([true, true]);
  });

  it("ends a server that does not respond", async () => {
    expect(await isAlive(1)).toBe(false);
  });
});
