import { afterEach, describe, expect, it, vi } from "vitest";
import { encodePack } from "../../domain/invocation.ts";
import { partitionOf } from "../../domain/partition.ts";
import { Asides } from "../../runner/asides.ts";
import type { AsideStore, IntakeMessage } from "../../runner/ports.ts";

const source = "dc_a";
const partition = partitionOf(source);
const within = { timeout: 30_000, interval: 10 };
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** What lies aside, in memory: by sequence, from where, and whether that is still there. */
class Store implements AsideStore {
  readonly lies = new Map<number, { readonly from: number; isLeft: boolean }>();
  readonly cleared: number[] = [];
  isAway = false;
  #seq = 1_000;

  put(from: number, { isLeft = false, seq = ++this.#seq } = {}): number {
    this.lies.set(seq, { from, isLeft });
    return seq;
  }

  async lay(parts: Parameters<AsideStore["lay"]>[0]) {
    if (this.isAway) throw new Error("nobody is there");
    return parts.map(({ seq, indexes }) => ({ indexes, at: this.put(seq) }));
  }

  async take(_source: string, { after, most, isChecked }: Parameters<AsideStore["take"]>[1]) {
    const behind = [...this.lies].toSorted(([a], [b]) => a - b).filter(([seq]) => seq > after);
    const messages = behind.slice(0, most).map(([seq, { from, isLeft }]) => {
      const copy = { source, trigger: "event", movedFrom: { seq: from, index: 0 } };
      return { seq, from, isLeft: isChecked && isLeft, storedAt: 0, text: encodePack([JSON.stringify(copy)]) };
    });
    return { messages, isLast: behind.length <= most };
  }

  async clear(_source: string, upTo: number) {
    this.cleared.push(upTo);
    for (const seq of this.lies.keys()) if (seq <= upTo) this.lies.delete(seq);
  }

  async list() {
    if (this.isAway) throw new Error("nobody is there");
    return this.lies.size === 0 ? new Map<string, number>() : new Map([[source, this.lies.size]]);
  }
}

const started: Asides[] = [];
afterEach(() => {
  for (const asides of started.splice(0)) asides.stop();
});

function asidesOf(store: Store, room = 100) {
  const handed: IntakeMessage[] = [];
  const here = new Set<number>();
  const settled: number[] = [];
  const asides = new Asides({
    store,
    log: silent,
    onMessage: (message) => handed.push(message),
    onCleared: (seq, _source, mayCome) => settled.push(mayCome ? -seq : seq),
    isHere: (seq) => here.has(seq),
    roomFor: () => room,
    ownerOf: () => "u_a",
  });
  asides.start();
  started.push(asides);
  const lay = (seq: number): Promise<boolean> => {
    const position = { seq, index: 0 };
    return asides.lay({ bytes: 1, received: { invocation: { source, trigger: "event" }, number: position, position, storedAt: 0 } });
  };
  return { asides, handed, here, settled, lay };
}

describe("what lies aside of a source", () => {
  it("is laid, taken up and cleared in order, and then is over", async () => {
    const store = new Store();
    const { asides, handed, settled, lay } = asidesOf(store);
    await asides.open(partition);
    expect(asides.holds(source)).toBe(false);
    const laid = [1, 2, 3].map(lay);
    expect(asides.holds(source)).toBe(true);
    expect(await Promise.all(laid)).toEqual([true, true, true]);
    await vi.waitFor(() => expect(handed.map(({ seq }) => seq)).toEqual([1_001, 1_002, 1_003]), within);
    await vi.waitFor(() => expect(asides.holds(source)).toBe(false), within); // What comes now is behind it in the queue.
    handed[1]?.ack();
    handed[2]?.ack();
    expect([asides.isOpen(1), asides.isOpen(3), asides.size]).toEqual([true, true, 3]);
    handed[0]?.ack();
    await vi.waitFor(() => expect(asides.has(source)).toBe(false), within);
    expect([store.cleared, settled, asides.isOpen(3), asides.size]).toEqual([[1_003], [1, 2, 3], false, 0]);
  });

  it("is known before anything is handed out, and is not taken up while the original may come", async () => {
    const store = new Store();
    for (const [from, isLeft] of [
      [1, false],
      [2, true],
      [3, false],
    ] as const)
      store.put(from, { isLeft });
    const { asides, handed, here } = asidesOf(store);
    await asides.open(partition);
    expect(asides.holds(source)).toBe(true);
    await vi.waitFor(() => expect(handed).toHaveLength(1), within);
    here.add(2);
    await vi.waitFor(() => expect(handed.map(({ seq }) => seq)).toEqual([1_001, 1_002, 1_003]), within);
  });

  it("waits in order while nobody can lay it there, and stays where it is when the partition is somebody else's", async () => {
    const store = new Store();
    const { asides, lay } = asidesOf(store, 0);
    await asides.open(partition);
    store.isAway = true;
    const laid = [1, 2].map(lay);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(asides.isLaying(partition, 2, 0)).toBe(true);
    store.isAway = false;
    expect(await Promise.all(laid)).toEqual([true, true]);
    expect([...store.lies.values()].map(({ from }) => from)).toEqual([1, 2]);
    store.isAway = true;
    const late = lay(3);
    asides.close(partition);
    expect([await late, await lay(4), asides.has(source)]).toEqual([false, false, false]);
  });

  it("is not handed out again when a server comes back with what was cleared", async () => {
    const store = new Store();
    const { asides, handed, lay } = asidesOf(store);
    await asides.open(partition);
    await lay(1);
    await vi.waitFor(() => expect(handed).toHaveLength(1), within);
    handed[0]?.ack();
    await vi.waitFor(() => expect(asides.has(source)).toBe(false), within);
    store.put(1, { seq: 1_001 });
    asides.lookAgain();
    await vi.waitFor(() => expect([store.cleared.length, store.lies.size]).toEqual([2, 0]), within);
    await lay(2);
    await vi.waitFor(() => expect(handed.map(({ seq }) => seq)).toEqual([1_001, 1_002]), within);
  });

  it("is looked at as if another had laid it there once the server was away, and may come from where it stood", async () => {
    const store = new Store();
    const { asides, handed, settled, here, lay } = asidesOf(store);
    await asides.open(partition);
    await lay(1);
    await vi.waitFor(() => expect(handed).toHaveLength(1), within);
    store.put(2, { isLeft: true });
    asides.lookAgain();
    handed[0]?.ack();
    await vi.waitFor(() => expect(settled).toEqual([-1]), within);
    expect(handed).toHaveLength(1);
    here.add(2);
    await vi.waitFor(() => expect(handed).toHaveLength(2), within);
    handed[1]?.ack();
    await vi.waitFor(() => expect(settled).toEqual([-1, 2]), within);
  });

  it("comes again here when it could not be run, and not once somebody else has the partition", async () => {
    const store = new Store();
    const { asides, handed, lay } = asidesOf(store);
    await asides.open(partition);
    await lay(1);
    await vi.waitFor(() => expect(handed).toHaveLength(1), within);
    handed[0]?.postpone(1);
    await vi.waitFor(() => expect(handed).toHaveLength(2), within);
    asides.close(partition);
    expect(asides.isLost(1_001)).toBe(true);
    handed[0]?.postpone(1);
    expect(asides.isLost(1_001)).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(handed).toHaveLength(2);
  });
});
