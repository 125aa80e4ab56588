import { expect, it } from "vitest";
import { encodePack } from "../../domain/invocation/invocation.ts";
import { partitionOf } from "../../domain/invocation/partition.ts";
import { defaultPool, deploymentKey, invokeSubject, partitionCount, streams } from "../../domain/subjects.ts";
import { deploymentEntries } from "../../platform/jetstream/invocations/moves.ts";
import { statePosition } from "../../platform/jetstream/runs/state-position.ts";
import { deployment } from "../runner/support.ts";
import { committedRuns, nothingSeen, startCountingRunner } from "./counting-runner.ts";
import { withJetStream, withPoolRequests } from "./jetstream/support.ts";
import { until } from "../support/until.ts";

/** Real streams and a runner; user code counts its runs in the source's db. */
const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);

const source = "dc_idle";
const { owner } = deployment;

async function invoke(n: number): Promise<void> {
  const pack = encodePack([JSON.stringify({ source, trigger: "event", event: n })]);
  await nats.connection.publisher.publish(invokeSubject(defaultPool, partitionOf(source), source), pack);
}

it("runs an idle source once per invocation after its last commit was trimmed from RUNS", async () => {
  await deploymentEntries(nats.connection).put(deploymentKey(defaultPool, source), { ...deployment, source, name: source });
  const seen = nothingSeen();
  const runner = await startCountingRunner(nats.connection, seen);
  const { streams: stored } = nats.connection.manager;
  for (let n = 1; n <= 3; n++) {
    await invoke(n);
    await until(async () => (await committedRuns(nats.connection, owner, source)) === n, `run ${n} is committed`);
    const { last_seq } = (await stored.info(streams.runs)).state;
    await until(async () => (await statePosition(nats.connection)) === last_seq, "STATE has every commit");
    await stored.purge(streams.runs);
  }
  await runner.stop(AbortSignal.timeout(5_000));
  expect(seen.ran).toEqual([`${source} 1`, `${source} 2`, `${source} 3`]);
});
