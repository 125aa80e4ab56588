import { describe, expect, it } from "vitest";
import { SeenRevisions, waitUntilSeen } from "../../../platform/jetstream/members/seen-revisions.ts";
import { withJetStream } from "./support.ts";

const streams = withJetStream();

describe("a writer that waits until its readers have seen an entry", () => {
  it("continues after the reader has seen the revision, and not before", async () => {
    const seen = new SeenRevisions(streams.connection);
    seen.start("ROUTES");
    let isKnown = false;
    const waiting = waitUntilSeen(streams.connection, "ROUTES", 7).then(() => (isKnown = true));
    seen.saw(6);
    await streams.connection.nats.flush();
    expect(isKnown).toBe(false);
    seen.saw(7);
    await waiting;
    await waitUntilSeen(streams.connection, "ROUTES", 5);
    seen.stop();
  });

  it("continues when there is no reader", async () => {
    await expect(waitUntilSeen(streams.connection, "ROUTES", 1)).resolves.not.toThrow();
  });
});
