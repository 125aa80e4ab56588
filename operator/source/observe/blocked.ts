import type { Blocked as AnyBlocked, ConfiguredReason } from "../../configured/blocked.ts";

/** Why a source cannot be deployed. */
export type Blocked = AnyBlocked<ConfiguredReason | "ConfigMapNotFound" | "ComponentIsAction">;
