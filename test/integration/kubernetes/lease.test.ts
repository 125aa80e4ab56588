import { describe, expect, it, vi } from "vitest";
import { Conflict, Unavailable } from "../../../domain/errors.ts";
import { Election, type ElectionOptions } from "../../../platform/kubernetes/lease.ts";
import { kubernetesLeases, type LeaseRecord, type Leases } from "../../../platform/kubernetes/leases.ts";
import { withKubeApi } from "../../support/kube/kube-api.ts";
import { throughProxy } from "./support.ts";

const timings = { leaseMs: 600, renewWithinMs: 400, retryMs: 60 };

/** A Lease like the API server's, whose responses can be late, lost or refused. */
class MemoryLeases implements Leases {
  record: LeaseRecord | undefined;
  #version = 0;
  async find(): Promise<LeaseRecord | undefined> {
    await new Promise((resolve) => setImmediate(resolve));
    return this.record;
  }
  async create(record: LeaseRecord): Promise<LeaseRecord> {
    return this.#put(record, "");
  }
  async replace(record: LeaseRecord): Promise<LeaseRecord> {
    return this.#put(record, record.version);
  }
  async #put(record: LeaseRecord, expected: string): Promise<LeaseRecord> {
    await new Promise((resolve) => setImmediate(resolve));
    if ((this.record?.version ?? "") !== expected) throw new Conflict("another version");
    this.record = { ...record, version: String(++this.#version) };
    return this.record;
  }
}

/** One candidate's connection to the lease. */
class Line implements Leases {
  readonly #leases: Leases;
  how: "up" | "down" | "hangs" | "answers lost" = "up";
  constructor(leases: Leases) {
    this.#leases = leases;
  }
  find = (signal: AbortSignal) => this.#pass(() => this.#leases.find(signal), signal);
  create = (record: LeaseRecord, signal: AbortSignal) => this.#pass(() => this.#leases.create(record, signal), signal);
  replace = (record: LeaseRecord, signal: AbortSignal) => this.#pass(() => this.#leases.replace(record, signal), signal, true);
  async #pass<T>(ask: () => Promise<T>, signal: AbortSignal, writes = false): Promise<T> {
    if (this.how === "down") throw new Unavailable("the API server is away");
    if (this.how === "hangs")
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
    const answer = await ask();
    if (this.how === "answers lost" && writes) throw new Unavailable("connection lost");
    return answer;
  }
}

interface Candidate {
  readonly name: string;
  readonly election: Election;
  readonly line: Line;
  readonly terms: AbortSignal[];
  readonly stuck: () => boolean;
  stop(): Promise<void>;
}

/** All writes of all candidates, in order, like the fence of a real store. */
const writes: { readonly by: string; readonly at: number }[] = [];

function candidate(
  leases: Leases,
  name: string,
  options: Partial<ElectionOptions> = {},
  lead?: (signal: AbortSignal) => Promise<void>,
): Candidate {
  const line = new Line(leases);
  let stuck = false;
  const election = new Election({
    leases: line,
    identity: name,
    ...timings,
    onError: () => undefined,
    onStuck: () => (stuck = true),
    ...options,
  });
  const terms: AbortSignal[] = [];
  const writer = setInterval(() => election.leads && writes.push({ by: `${name}${terms.length}`, at: performance.now() }), 5);
  const campaign = election.campaign(async (signal) => {
    terms.push(signal);
    await (lead?.(signal) ?? new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })));
  });
  return {
    name,
    election,
    line,
    terms,
    stuck: () => stuck,
    stop: async () => {
      await campaign.stop();
      clearInterval(writer);
    },
  };
}

function expectOneAtATime(...candidates: Candidate[]): void {
  const leading = candidates.filter(({ election }) => election.leads);
  expect(leading.length).toBeLessThanOrEqual(1);
}
/** Candidates with the number of their term, in the order in which they wrote. */
const stretches = (): string[] => writes.map(({ by }) => by).filter((by, index, all) => by !== all[index - 1]);

const within = { timeout: 120_000, interval: 5 };

describe("one leader among several", () => {
  it("leads, and hands over at once when it stops", async () => {
    writes.length = 0;
    const leases = new MemoryLeases();
    const a = candidate(leases, "a");
    await vi.waitFor(() => expect(a.terms).toHaveLength(1), within);
    const b = candidate(leases, "b", { now: () => performance.now() + 86_400_000 });
    await vi.waitFor(() => expect(leases.record?.transitions).toBe(0), within);
    await vi.waitFor(() => expect(writes.at(-1)?.by).toBe("a1"), within);
    await a.stop();
    expect([a.election.leads, a.terms[0]?.aborted]).toEqual([false, true]);
    // Released: the next leader does not wait for the lease to expire.
    expect(leases.record?.holder).not.toBe("a");
    await vi.waitFor(() => expect(b.election.leads).toBe(true), within);
    await vi.waitFor(() => expect(writes.at(-1)?.by).toBe("b1"), within);
    await b.stop();
    expect(leases.record).toMatchObject({ holder: "", transitions: 1 });
    expect(stretches()).toEqual(["a1", "b1"]);
  });

  it.each(["down", "hangs", "answers lost"] as const)("stops leading before another can lead if its connection is %s", async (how) => {
    writes.length = 0;
    const leases = new MemoryLeases();
    const a = candidate(leases, "a");
    await vi.waitFor(() => expect(a.election.leads).toBe(true), within);
    await vi.waitFor(() => expect(writes.at(-1)?.by).toBe("a1"), within);
    const b = candidate(leases, "b");
    a.line.how = how;
    await vi.waitFor(() => {
      expectOneAtATime(a, b);
      // With lost responses the renewals arrive: the other candidate sees a live leader, and the first has to stop by itself.
      expect(how === "answers lost" ? !a.election.leads : b.election.leads).toBe(true);
    }, within);
    await vi.waitFor(() => expect(a.terms[0]?.aborted).toBe(true), within);
    if (how !== "answers lost") await vi.waitFor(() => expect(writes.at(-1)?.by).toBe("b1"), within);
    a.line.how = "up";
    await a.stop();
    await b.stop();
    // With lost responses the lease may expire and "b" lead before this test stops it. In no case the first term follows its own end.
    const written = stretches();
    expect(written[0]).toBe("a1");
    expect(written.slice(1)).not.toContain("a1");
    if (how !== "answers lost") expect(written[1]).toBe("b1");
  });

  it("is taken over from a dead leader by exactly one of many", async () => {
    writes.length = 0;
    const leases = new MemoryLeases();
    leases.record = { holder: "dead", leaseSeconds: 1, acquireTime: undefined, renewTime: undefined, transitions: 3, version: "" };
    const rivals = ["a", "b", "c", "d"].map((name, index) =>
      candidate(leases, name, { now: () => performance.now() - index * 1e6, retryMs: 20 }),
    );
    for (let round = 0; round < 4; round++) {
      await vi.waitFor(() => expect(rivals.some(({ election }) => election.leads)).toBe(true), within);
      expectOneAtATime(...rivals);
      const leader = rivals.find(({ election }) => election.leads);
      if (leader === undefined) continue;
      leader.line.how = "down";
      await vi.waitFor(() => {
        expectOneAtATime(...rivals);
        expect(leader.election.leads).toBe(false);
      }, within);
      await vi.waitFor(() => {
        expectOneAtATime(...rivals);
        expect(rivals.some(({ election }) => election.leads)).toBe(true);
      }, within);
      leader.line.how = "up";
    }
    // Four leaders were stopped, so at least five led, and none wrote after its successor had begun.
    await vi.waitFor(() => expect(stretches().length).toBeGreaterThanOrEqual(5), within);
    for (const rival of rivals) await rival.stop();
    expect(new Set(stretches()).size).toBe(stretches().length);
    expect(leases.record?.transitions).toBeGreaterThanOrEqual(8);
  });

  it("stops leading at once when the lease names another holder", async () => {
    const leases = new MemoryLeases();
    const a = candidate(leases, "a");
    await vi.waitFor(() => expect(a.election.leads).toBe(true), within);
    leases.record = { ...(leases.record as LeaseRecord), holder: "by hand", version: "99" };
    await vi.waitFor(() => expect(a.terms[0]?.aborted).toBe(true), within);
    expect(a.election.leads).toBe(false);
    await a.stop();
    expect(leases.record.holder).toBe("by hand");
  });

  it("does not start to lead if it is stopped during its request, and releases the lease", async () => {
    const leases = new MemoryLeases();
    const asked = Promise.withResolvers<void>();
    const create = leases.create.bind(leases);
    leases.create = async (record) => {
      asked.resolve();
      await new Promise((resolve) => setTimeout(resolve, 20));
      return create(record);
    };
    const a = candidate(leases, "a");
    await asked.promise;
    await a.stop();
    expect(a.terms).toEqual([]);
    expect(leases.record?.holder).toBe("");
  });

  it("ends the process if its work does not stop in time", async () => {
    const leases = new MemoryLeases();
    const gate = Promise.withResolvers<void>();
    const a = candidate(leases, "a", {}, () => gate.promise);
    await vi.waitFor(() => expect(a.election.leads).toBe(true), within);
    a.line.how = "hangs";
    await vi.waitFor(() => expect(a.stuck()).toBe(true), within);
    gate.resolve();
    await a.stop();
  });

  it("renews the lease while it drains", async () => {
    const leases = new MemoryLeases();
    const gate = Promise.withResolvers<void>();
    const a = candidate(leases, "a", {}, () => gate.promise);
    await vi.waitFor(() => expect(a.election.leads).toBe(true), within);
    const stopped = a.stop();
    const { renewTime } = leases.record ?? {};
    await vi.waitFor(() => expect(leases.record?.renewTime).not.toBe(renewTime), within);
    expect([a.terms[0]?.aborted, a.election.leads, a.stuck()]).toEqual([true, true, false]);
    gate.resolve();
    await stopped;
    expect(leases.record?.holder).toBe("");
  });
});

const kube = await withKubeApi();

kube.describe("a Lease of a real API server", () => {
  it("is acquired, renewed, released and taken over while the server comes and goes", async () => {
    writes.length = 0;
    const namespace = await kube.namespace();
    const proxied = await throughProxy(kube);
    const leases = kubernetesLeases(proxied.kubernetes, { namespace, name: "headwater-operator" });
    const slow = { leaseMs: 3_000, renewWithinMs: 2_000, retryMs: 200 };
    const a = candidate(leases, "a", slow);
    const b = candidate(leases, "b", slow);
    await vi.waitFor(() => expect(a.election.leads || b.election.leads).toBe(true), within);
    const [first, second] = a.election.leads ? [a, b] : [b, a];
    await vi.waitFor(() => expect(writes.at(-1)?.by).toBe(`${first.name}1`), within);
    await first.stop();
    await vi.waitFor(() => expect(second.election.leads).toBe(true), within);
    await vi.waitFor(() => expect(writes.at(-1)?.by).toMatch(second.name), within);
    expect(await leases.find(AbortSignal.timeout(5_000))).toMatchObject({ holder: second.name, transitions: 1, leaseSeconds: 3 });
    await proxied.leave();
    await vi.waitFor(() => expect(second.terms[0]?.aborted).toBe(true), within);
    expect(second.election.leads).toBe(false);
    await proxied.arrive();
    await vi.waitFor(() => expect(second.election.leads).toBe(true), { timeout: 120_000 });
    await second.stop();
    expect(await leases.find(AbortSignal.timeout(5_000))).toMatchObject({ holder: "" });
    await proxied.end();
    // A slow server may cost the leader its term; the other one then leads.
    const names = stretches().map((by) => by.slice(0, 1));
    expect(names.filter((name, index) => name !== names[index - 1])).toEqual([first.name, second.name]);
    expect(new Set(stretches()).size).toBe(stretches().length);
  });
});
