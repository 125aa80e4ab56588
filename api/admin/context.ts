import type { ApiContext } from "../routes/context.ts";

/** What the routes of the admin API share. */
export type AdminContext = Pick<ApiContext, "config" | "ports">;
