import { expect, it } from "vitest";
import { withRefreshWorld } from "./refresh-world.ts";

const { race } = withRefreshWorld();

it("loses none of 10,000 refreshes for which two operators race at a service that rotates its tokens", { timeout: 3_600_000 }, async () => {
  expect(await race({ accounts: 20, rounds: 500 })).toEqual([]);
});
