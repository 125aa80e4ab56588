import type { ApiContext } from "../context.ts";

/** Dependencies of the admin API's routes. */
export type AdminContext = Pick<ApiContext, "config" | "ports">;
