import { expect, it } from "vitest";
import { emptyState, type Commit } from "../../../domain/run/commit.ts";
import { partitionOf } from "../../../domain/invocation/partition.ts";
import { appendCommit } from "../../../platform/jetstream/runs/commits.ts";
import { ada } from "../api/support.ts";
import { withRepairWorld, type Receiver } from "../api/webhooks-support.ts";
import { until } from "../../support/until.ts";

const world = withRepairWorld();
const rounds = 3;

/** A source whose runs each emit a number, on one channel, one after the other. */
class Emitter {
  readonly #source: string;
  readonly #channel: string;
  /** The last committed number. */
  committed = 0;
  #sequence = 0;
  #going: Promise<void> | undefined;
  #isGoing = false;

  constructor(name: string) {
    this.#source = `dc_${name}`;
    this.#channel = name;
  }

  async emit(): Promise<void> {
    const n = this.committed + 1;
    const [source, owner, at] = [this.#source, ada.id, 1_700_000_000_000 + n];
    const run = { id: `r_${source}${n}`, trigger: "http", generation: 1, startedAt: at, durationMs: 1, cpuMs: 1, result: null } as const;
    const event = {
      id: `${at}-0`,
      emitId: `em${source}x${n}`,
      channel: this.#channel,
      dedupeId: null,
      summary: null,
      ts: at,
      payload: String(n),
    };
    const commit: Commit = { source, owner, deployment: "d_1", run, events: [event], logs: [], error: null, state: emptyState };
    const ref = { source, owner, partition: partitionOf(source) };
    const appended = await appendCommit(world.streams.connection, ref, JSON.stringify(commit), this.#sequence);
    if (appended.outcome !== "stored") throw new Error(`commit ${n} was ${appended.outcome}`);
    this.#sequence = appended.sequence;
    this.committed = n;
  }

  /** Commits without a pause, until it is stopped. */
  start(): void {
    this.#isGoing = true;
    this.#going = (async () => {
      while (this.#isGoing) await this.emit();
    })();
  }

  async stop(): Promise<void> {
    this.#isGoing = false;
    await this.#going;
  }
}

/** Resolves when routers know the subscription, as the API does before it responds. */
async function subscribe(webhook: string, channel: string): Promise<void> {
  const { status } = await world.api.ask("POST", `/v1/subscriptions?emitter_id=dc_*&listener_id=${webhook}&event_name=${channel}`);
  expect(status).toBe(200);
  await world.observe(webhook);
}

const heardBy = ({ received }: Receiver): readonly number[] => received.map(({ body }) => Number(body));

it("delivers events committed after the subscription was created, and none from before its request", async () => {
  await world.deliver({}, { deliveryDeadlineMs: 30_000 });
  const receiver = await world.receive();
  const { id } = await world.createWebhook(receiver.url);
  for (let round = 0; round < rounds; round++) {
    const emitter = new Emitter(`round${round}`);
    emitter.start();
    await until(() => emitter.committed > round * 2, "some events without a listener");
    const before = emitter.committed;
    await subscribe(id, `round${round}`);
    const known = emitter.committed;
    await until(() => emitter.committed > known + 3, "some events more");
    await emitter.stop();
    await until(() => heardBy(receiver).includes(emitter.committed), "the last of them");
    const heard = heardBy(receiver);
    const [first = 0] = heard;
    expect(first).toBeGreaterThan(before);
    // The commit that was in progress at the response may be from before.
    expect(first).toBeLessThanOrEqual(known + 2);
    expect(heard).toEqual(Array.from({ length: emitter.committed - first + 1 }, (_, n) => first + n));
    receiver.received.splice(0);
  }
});

it("delivers no events from before the subscription after delivery was down", async () => {
  const receiver = await world.receive();
  const { id } = await world.createWebhook(receiver.url);
  const emitter = new Emitter("away");
  for (let n = 0; n < 3; n++) await emitter.emit();
  await subscribe(id, "away");
  await emitter.emit();
  // The subscription was changed since then, and still begins where it began.
  await world.api.ask("PUT", `/v1/webhooks/${id}`, { body: { url: `${receiver.url}/moved` } });
  await world.observe(id);
  await emitter.emit();
  await world.deliver();
  await until(() => heardBy(receiver).includes(5), "the last");
  expect(heardBy(receiver)).toEqual([4, 5]);
});
