import { z } from "zod";

/** Fields that several resources have in responses. */

export const seconds = z.int().describe("Epoch seconds.");
export const times = { created_at: seconds, updated_at: seconds };
export const ownerId = z.string().optional().describe("Present only if an organization owns it.");

/** Why something does not work. */
export const problem = z
  .object({ code: z.string().describe("Stable."), message: z.string(), since: seconds })
  .nullable()
  .describe("Current problem; null if there is none.");

export const successRate = z.number().min(0).max(1).nullable();
