import { defaultPool } from "../../domain/subjects.ts";
import type { QueuePosition } from "../../domain/invocation/watermark.ts";

/** A position in the default pool's queue. */
export const positionAt = (seq: number, index = 0): QueuePosition => ({ pool: defaultPool, seq, index, storedAt: 0 });
