import { it } from "vitest";
import { partitionCount } from "../../domain/subjects.ts";
import { followOverQuota } from "../../platform/jetstream/buckets/quotas.ts";
import { createAccounts } from "../../platform/postgres/accounts/index.ts";
import { withMigratedPostgres } from "../support/postgres.ts";
import { withJetStream } from "./jetstream/support.ts";
import { until } from "../support/until.ts";
import { withDatabase } from "./postgres/support.ts";
import { startCounting, TestClock } from "./quota-support.ts";

const postgres = withMigratedPostgres();
const [database, read] = [withDatabase("delivery", postgres), withDatabase("api", postgres)];
const nats = withJetStream({ partitions: partitionCount });
const accounts = createAccounts(read);

it("blocks more owners than the server lists at once, and unblocks them when their plan is raised", async () => {
  const nothing = { name: "nothing", form: "free", dailyInvocations: 0, dailyComputeMs: null, weight: 1, maxOrganizations: 20 } as const;
  await accounts.savePlan(nothing);
  const owners = Array.from({ length: 1_100 }, (_, n) => `u_many${n}`);
  await postgres.client.query("insert into owner_plans (owner, plan) select unnest($1::text[]), $2", [owners, nothing.name]);
  const clock = new TestClock();
  const counting = await startCounting(database, nats.connection, clock);
  const { blockedUntil, stop } = await followOverQuota(nats.connection);
  const untilAll = (isBlocked: boolean): Promise<void> =>
    until(
      () => owners.every((owner) => blockedUntil(owner) > clock.now() === isBlocked),
      `all owners ${isBlocked ? "are" : "are not"} blocked`,
    );
  await untilAll(true);
  await accounts.savePlan({ ...nothing, dailyInvocations: 1 });
  await untilAll(false);
  await Promise.all([stop(), counting.stop()]);
});
