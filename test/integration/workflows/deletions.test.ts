import { describe, expect, it } from "vitest";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { defaultPool, deploymentKey, partitionCount, runSubject, streams } from "../../../domain/subjects.ts";
import { historyOfRun } from "../../../domain/invocation/run-id.ts";
import { historySweeper } from "../../../operator/history-sweep.ts";
import { deploymentEntries, workflowEntries } from "../../../platform/jetstream/invocations/moves.ts";
import { appendCommit, appendFirstCommit, deleteCommits, endDeletedHistory, lastCommit } from "../../../platform/jetstream/runs/commits.ts";
import { deployedIds, listHistories } from "../../../platform/jetstream/runs/stored-histories.ts";
import { deployment } from "../../runner/support.ts";
import { withJetStream, withPoolRequests } from "../jetstream/support.ts";
import { until } from "../../support/until.ts";
import { owner, returned, withWorkflows, workflowOf } from "./support.ts";

const nats = withJetStream({ partitions: partitionCount });
withPoolRequests(nats);
const { deploy, start, invoke } = withWorkflows(nats);

const stateOf = async (id: string): Promise<Record<string, number>> => {
  const filter = runSubject(partitionOf(id), owner, id);
  const { state } = await nats.connection.manager.streams.info(streams.state, { subjects_filter: `${filter}.>` });
  return state.subjects ?? {};
};
const stateBytes = async (): Promise<number> => (await nats.connection.manager.streams.info(streams.state)).state.bytes;
const refOf = (source: string) => ({ owner, source, partition: partitionOf(source) });
const isAcked = async (id: string): Promise<boolean> => {
  const filter = `invoke.${defaultPool}.${partitionOf(id)}.>`;
  const { state } = await nats.connection.manager.streams.info(streams.invocations, { subjects_filter: filter });
  return Object.keys(state.subjects ?? {}).length === 0;
};

/** As the operator does: the entry, then the histories. */
async function remove(workflow: string): Promise<void> {
  await workflowEntries(nats.connection).delete(deploymentKey(defaultPool, workflow));
  await deleteCommits(nats.connection, refOf(workflow));
}

describe("a deleted workflow", () => {
  it.each([
    { steps: ["one"], blocked: "one", what: "the first step" },
    { steps: ["one", "two", "three"], blocked: "two", what: "a later step" },
  ])("gets no commit of $what, which still runs when it is deleted", async ({ steps, blocked }) => {
    const id = `p_inflight${steps.length}`;
    const entered = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    await deploy(workflowOf(id, steps));
    const ran: string[] = [];
    await start(`r_${id}`, async ({ name }) => {
      ran.push(name);
      if (name === blocked) {
        entered.resolve();
        await gate.promise;
      }
      return returned("x".repeat(100_000));
    });
    await invoke({ source: id, trigger: "http", event: {} });
    await entered.promise;
    await remove(id);
    const before = [...ran];
    gate.resolve();
    await until(() => isAcked(id), "the invocation has ended");
    expect(await stateOf(id)).toEqual({});
    expect(ran).toEqual(before);
  });

  it("leaves STATE as small as before, over eight cycles", async () => {
    await start("r_cycles", () => returned("x".repeat(500_000), { flow: { kind: "suspend", ms: 3_600_000 } }));
    const before = await stateBytes();
    for (let cycle = 0; cycle < 8; cycle++) {
      const id = `p_cycle${cycle}`;
      await deploy(workflowOf(id, ["wait", "after"]));
      for (let run = 0; run < 3; run++) await invoke({ source: id, trigger: "http", event: {} });
      await until(async () => Object.keys(await stateOf(id)).length === 3, "its runs are suspended");
      await remove(id);
      expect(await stateOf(id)).toEqual({});
    }
    expect(await stateBytes()).toBeLessThanOrEqual(before);
  });

  it("leaves nothing that NATS was still copying to STATE", async () => {
    const id = "p_copies";
    const appends = Array.from({ length: 400 }, (_, run) =>
      appendFirstCommit(nats.connection, refOf(historyOfRun(id, `r_${run}`)), "x".repeat(20_000)),
    );
    await Promise.all(appends);
    await deleteCommits(nats.connection, refOf(id));
    await appendFirstCommit(nats.connection, refOf("dc_behind"), "behind");
    await until(async () => (await lastCommit(nats.connection, refOf("dc_behind"))).text === "behind", "a later commit is copied");
    expect(await stateOf(id)).toEqual({});
  });
});

describe("a deleted source", () => {
  it("gets no commit of its first run, which still runs when it is deleted", async () => {
    const id = "dc_inflight";
    const key = deploymentKey(defaultPool, id);
    const [entered, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await deploymentEntries(nats.connection).put(key, { ...deployment, source: id, owner });
    await start("r_source", async () => {
      entered.resolve();
      await gate.promise;
      return returned(1);
    });
    await invoke({ source: id, trigger: "event", event: {} });
    await entered.promise;
    await deploymentEntries(nats.connection).delete(key);
    await deleteCommits(nats.connection, refOf(id));
    gate.resolve();
    await until(() => isAcked(id), "the invocation has ended");
    expect((await lastCommit(nats.connection, refOf(id))).text).toBeUndefined();
  });

  it("has no commit that is stored between its deletion and the end of its run: a marker replaces it, and expires", async () => {
    const id = "dc_late";
    await appendFirstCommit(nats.connection, refOf(id), "late");
    await endDeletedHistory(nats.connection, refOf(id));
    expect(await lastCommit(nats.connection, refOf(id))).toEqual({ text: undefined, sequence: 0 });
    const last = () => nats.connection.manager.direct.getMessage(streams.state, { last_by_subj: runSubject(partitionOf(id), owner, id) });
    await until(async () => (await last())?.header.get("Nats-TTL") === "60s", "STATE has the marker");
    expect(await appendCommit(nats.connection, refOf(id), "later", 0)).toEqual({ outcome: "refused" });
    await deleteCommits(nats.connection, refOf(id));
  });
});

describe("the sweep of histories", () => {
  it("deletes those that have neither a resource nor an entry, once they are old", async () => {
    await deleteCommits(nats.connection, refOf("dc_behind"));
    for (const history of ["p_gone.r_1", "p_gone.r_2", "dc_gone", "dc_resource", "dc_entry", "p_entry.r_1"])
      await appendFirstCommit(nats.connection, refOf(history), "{}");
    await deploymentEntries(nats.connection).put(deploymentKey(defaultPool, "dc_entry"), { ...deployment, source: "dc_entry" });
    await deploy(workflowOf("p_entry", ["one"]));
    const names = async (): Promise<readonly string[]> => (await listHistories(nats.connection)).map(({ source }) => source).toSorted();
    await until(async () => (await names()).length >= 5, "STATE has all of them");
    let now = 0;
    const forgotten: string[] = [];
    const forget = (by: string, source: string): Promise<void> => {
      forgotten.push(source);
      return deleteCommits(nats.connection, { ...refOf(source), owner: by });
    };
    const sweep = historySweeper(
      {
        histories: {
          state: () => Promise.resolve(undefined),
          forget,
          list: () => listHistories(nats.connection),
          deployed: () => deployedIds(nats.connection),
        },
        clock: { now: () => now },
        log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      },
      [{ values: () => [{ status: { id: "dc_resource" } }] as never }],
      { intervalMs: 1, graceMs: 10 },
    );
    const signal = AbortSignal.timeout(60_000);
    await sweep("all", signal);
    now = 9;
    await sweep("all", signal);
    expect(forgotten).toEqual([]);
    now = 10;
    await sweep("all", signal);
    expect(forgotten.toSorted()).toEqual(["dc_gone", "p_gone"]);
    expect(await names()).toEqual(["dc_entry", "dc_resource", "p_entry"]);
  });
});
