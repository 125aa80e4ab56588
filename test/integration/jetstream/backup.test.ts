import { randomBytes } from "node:crypto";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { streamChunks } from "../../../platform/jetstream/streams/backup.ts";
import { withJetStream } from "./support.ts";

const nats = withJetStream();
/** More than NATS sends before it waits for acks (8 MiB), so a save is incomplete after its first chunk. */
const [messages, messageBytes] = [48, 512 * 1024];
const bytesOf = async (chunks: AsyncIterable<Uint8Array>): Promise<number> => {
  let bytes = 0;
  for await (const { length } of chunks) bytes += length;
  return bytes;
};
const maxIdleMs = 4_000;

describe("the save of a stream", () => {
  beforeAll(async () => {
    for (let n = 0; n < messages; n++) await nats.connection.publisher.publish(`runs.0.u_1.dc_${n}`, randomBytes(messageBytes));
  });

  afterEach(() => void process.kill(nats.server.server.pid, "SIGCONT"));

  it.each([
    ["is suspended", async () => void process.kill(nats.server.server.pid, "SIGSTOP")],
    ["is killed and starts again", () => nats.server.crash()],
  ])("fails when its server %s", async (_, interrupt) => {
    const connection = await nats.addConnection();
    const chunks = streamChunks(connection, "RUNS", maxIdleMs);
    expect((await chunks.next()).value).toBeInstanceOf(Uint8Array);
    await interrupt();
    const message = expect.stringContaining("NATS sent no chunk for 4 s");
    await expect(bytesOf(chunks)).rejects.toMatchObject({ code: "unavailable", message });
  });

  it("contains all chunks otherwise", async () => {
    // The shared connection may only now notice that the server was away.
    expect(await bytesOf(streamChunks(await nats.addConnection(), "RUNS"))).toBeGreaterThan(messages * messageBytes);
  });
});
