import { defaultBacklogLimits } from "../../domain/limits/admission.ts";
import { Backlog } from "../../runner/schedule/backlog.ts";

/** A backlog with the default bounds, for tests that do not reach them. */
export const largeBacklog = (): Backlog => new Backlog({ ...defaultBacklogLimits, totalBytes: 2 ** 28 }, () => undefined);
