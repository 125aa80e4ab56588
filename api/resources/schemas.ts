import { z } from "zod";

/** Fields that several resources have in responses. */

export const seconds = z.int().describe("Epoch seconds.");
export const times = { created_at: seconds, updated_at: seconds };
export const ownerId = z.string().optional().describe("Present only if an organization owns it.");
