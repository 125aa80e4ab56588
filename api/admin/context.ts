import type { ApiContext } from "../routes/context.ts";

/** Dependencies of the admin API's routes. */
export type AdminContext = Pick<ApiContext, "config" | "ports">;
