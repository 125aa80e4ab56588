import { formatBytes } from "../../parts/format.ts";
import { text } from "./strings.ts";

/** `6.4 GiB (12 %)`: a limit, and how much of it is in use. */
export const formatLimit = (bytes: number, limit: number | null): string =>
  limit === null ? text.noLimit : `${formatBytes(limit)} (${Math.round((bytes / Math.max(1, limit)) * 100)} %)`;
