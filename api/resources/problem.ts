import type { Problem } from "../../domain/source/source-health.ts";
import { epochSeconds } from "./identity.ts";

/** A problem as responses show it. */
export const problemResponse = (problem: Problem | undefined) =>
  problem === undefined ? null : { ...problem, since: epochSeconds(problem.since) };
