import type { ApiContext } from "../context.ts";
import type { AnonymousCall } from "../http/request/call.ts";
import { operationsOf } from "../http/routing/operation.ts";

/** Dependencies of the admin API's operations. */
export type AdminContext = Pick<ApiContext, "config" | "ports">;

/** Declares an operation of `/admin/v1`. Its caller is an operator of the installation, and no user. */
export const adminOperation = operationsOf<AnonymousCall, AdminContext>();
