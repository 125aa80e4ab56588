import { describe, expect, it } from "vitest";
import type { AccountResource } from "../../../crds/account.ts";
import { dies } from "./mortal.ts";
import { withRefreshWorld } from "./refresh-world.ts";

const world = withRefreshWorld();
const { service, create, now, operator, pass, claimEndsMs, stored, race } = world;

it("loses none of 200 refreshes for which two operators race at a service that rotates its tokens", async () => {
  expect(await race({ accounts: 10, rounds: 20 })).toEqual([]);
});

describe("an operator that ends during a refresh", () => {
  /** Refreshes once, then ends the operator after its n-th change, until it survives. */
  async function endAtEachChange(
    rotates: boolean,
  ): Promise<ReadonlyMap<number, { readonly account: AccountResource; readonly family: string }>> {
    const ended = new Map<number, { readonly account: AccountResource; readonly family: string }>();
    for (let change = 0; ; change++) {
      const family = `${rotates ? "rotating" : "constant"}${change}`;
      const account = await create(family, { rotates });
      await operator()(account);
      pass(3_600_000);
      if (!(await dies(world.ports, change, (ports) => operator(ports)(account)))) return ended;
      ended.set(change, { account, family });
    }
  }

  /** Another operator, before and after the claim of the first one ends. */
  async function recover(account: AccountResource): Promise<void> {
    const other = operator();
    await other(account);
    pass(claimEndsMs);
    await other(account);
  }
  const readyOf = async (account: AccountResource) => (await now(account)).status.conditions?.find(({ type }) => type === "Ready");

  it("loses nothing at a service that keeps its refresh tokens, wherever it ends", async () => {
    const ended = await endAtEachChange(false);
    expect(ended.size).toBeGreaterThanOrEqual(5);
    for (const { account, family } of ended.values()) {
      await recover(account);
      expect([family, await readyOf(account)]).toMatchObject([family, { status: "True" }]);
    }
    expect(service.voided).toEqual([]);
  });

  it("loses a rotated token only between the answer of the service and the write of the status, and then asks for a reconnect", async () => {
    const ended = await endAtEachChange(true);
    const lost: number[] = [];
    for (const [change, { account, family }] of ended) {
      await recover(account);
      const ready = await readyOf(account);
      if (service.valid(family) === undefined) {
        lost.push(change);
        expect(ready).toMatchObject({ status: "False", reason: "NeedsReconnect" });
        expect((await now(account)).status.needsReconnect).toBe(true);
      } else {
        expect(ready).toMatchObject({ status: "True" });
        expect(await stored(account)).toBe(service.valid(family));
      }
    }
    // 0: the claim is written. 1: the service answers. 2: the texts are sealed. 3: the status has them.
    expect(lost).toEqual([1, 2]);
  });

  it("does not send a token again while the operator that claimed the refresh may be waiting for the answer", async () => {
    const account = await create("slow");
    const [first, second] = [operator(), operator()];
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      service.beforeAnswer = () => {
        resolve();
        return new Promise<void>((release) => (answer = release));
      };
    });
    const refreshing = first(account);
    await asked;
    service.beforeAnswer = async () => undefined;
    await second(account).catch(() => undefined); // It has read the account before the claim.
    await second(account);
    answer();
    await refreshing.catch(() => undefined); // The other one has written the status in the meantime: the tokens are in memory.
    await first(account);
    expect(service.refreshed.get("slow")).toBe(1);
    await second(account);
    expect(await readyOf(account)).toMatchObject({ status: "True" });
    expect(service.voided).not.toContain("slow");
  });
});
