import { measureSteps, stepMs, type KeptMeasures, type MeasureStep } from "../../../domain/measures/steps.ts";

/**
 * Partitions of the table `measures`. Each step has eight slots, which are used in turn, each for a block of time:
 *
 *     minutes  slots 0 to 7    six hours each
 *     hours    slots 8 to 15   eight days each
 *     days     slots 16 to 23  128 days each
 *
 * Every time has a slot, whatever the clock says, and all slots exist from the start: no role may create tables. When the block of a slot is
 * older than its step is kept, the slot is emptied as a whole, before its turn comes again.
 */
export const slotsPerStep = 8;
const blockSteps: Readonly<Record<MeasureStep, number>> = { minute: 360, hour: 192, day: 128 };

export const blockMs = (step: MeasureStep): number => blockSteps[step] * stepMs[step];
const firstSlot = (step: MeasureStep): number => measureSteps.indexOf(step) * slotsPerStep;

export const slotCount = measureSteps.length * slotsPerStep;
export const slotTable = (slot: number): string => `measures_${slot}`;

/** SQL: the slot of a column with the start of a step. */
export const slotOf = (step: MeasureStep, column: string): string =>
  `(${firstSlot(step)} + ${column} / ${blockMs(step)} % ${slotsPerStep})::smallint`;

/** A step may be kept for this many blocks: its slots are then emptied in the time of one block, before their turn comes again. */
export const maxKeptBlocks = 5;

/** The slots of a step whose last block is older than the step is kept. */
export function expiredSlots(step: MeasureStep, kept: KeptMeasures, nowMs: number): readonly number[] {
  // A clock may be ahead of that of Postgres.
  const newest = Math.floor(nowMs / blockMs(step)) + 1;
  const blocks = Array.from({ length: slotsPerStep }, (_, age) => newest - age);
  return blocks
    .filter((block) => (block + 1) * blockMs(step) <= nowMs - kept[step])
    .map((block) => firstSlot(step) + (block % slotsPerStep))
    .toSorted((one, other) => one - other);
}
