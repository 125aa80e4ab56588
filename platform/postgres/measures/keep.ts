import { sql, type Kysely, type Transaction } from "kysely";
import { measureSteps, stepMs, type KeptMeasures, type MeasureStep } from "../../../domain/measures/steps.ts";
import { advisoryLocks } from "../advisory-locks.ts";
import type { Tables } from "../tables.ts";
import { combined, measureColumns, names, onConflict } from "./columns.ts";
import { expiredSlots, slotOf, slotTable } from "./slots.ts";

const maxLockWait = "2s";
const lockNotAvailable = "55P03";

const nextStep: Readonly<Record<MeasureStep, MeasureStep | undefined>> = { minute: "hour", hour: "day", day: undefined };

/**
 * Empties the slots of minutes, hours and days that are no longer kept. What was in a slot of minutes is added to hours, and that of hours to
 * days, in the transaction that empties the slot: whatever is killed, each number is in one row.
 */
export async function keepMeasures(db: Kysely<Tables>, kept: KeptMeasures): Promise<void> {
  const { rows } = await sql<{ now: number }>`select (extract(epoch from now()) * 1000)::bigint as now`.execute(db);
  const now = rows[0]?.now ?? 0;
  for (const step of measureSteps) {
    for (const slot of expiredSlots(step, kept, now)) {
      const { rows: found } = await sql`select from measures where slot = ${sql.lit(slot)} limit 1`.execute(db);
      if (found.length > 0) await emptySlot(db, slot, nextStep[step]);
    }
  }
}

async function emptySlot(db: Kysely<Tables>, slot: number, next: MeasureStep | undefined): Promise<void> {
  try {
    await db.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ taken: boolean }>`select pg_try_advisory_xact_lock(${sql.lit(advisoryLocks.measures)}) as taken`.execute(
        transaction,
      );
      if (rows[0]?.taken !== true) return;
      await sql.raw(`set local lock_timeout = '${maxLockWait}'`).execute(transaction);
      // Nothing can be added to the slot from here on; readers continue.
      await sql.raw(`lock table ${slotTable(slot)} in share row exclusive mode`).execute(transaction);
      if (next !== undefined) await addTo(transaction, slot, next);
      await sql.raw(`truncate ${slotTable(slot)}`).execute(transaction);
    });
  } catch (error) {
    // A backup reads the slot. It is emptied by a later sweep.
    if (!(error instanceof Error && "code" in error && error.code === lockNotAvailable)) throw error;
  }
}

/** In one statement, which reads the slot once, whatever times are in it. */
async function addTo(transaction: Transaction<Tables>, slot: number, next: MeasureStep): Promise<void> {
  await sql`
    insert into measures (subject, slot, at_ms, bucket, ${sql.raw(names(measureColumns))})
    select subject, ${sql.raw(slotOf(next, "start_ms"))}, start_ms, bucket, ${sql.raw(combined(measureColumns))}
    from (select *, at_ms - at_ms % ${sql.lit(stepMs[next])} as start_ms from measures where slot = ${sql.lit(slot)}) old
    group by subject, start_ms, bucket ${sql.raw(onConflict(measureColumns))}`.execute(transaction);
}
