import { useSearchParams, type SearchParams } from "../search.ts";

/** Filters of the audit log: names of parameters of the API and of the address. */
const auditFilters = ["owner_id", "actor", "action", "kind", "name", "outcome", "since", "until"] as const;
export type AuditFilter = (typeof auditFilters)[number];
export type AuditOutcome = "ok" | "failed";
export type AuditFilters = Readonly<Partial<Record<Exclude<AuditFilter, "outcome">, string>>> & { readonly outcome?: AuditOutcome };

/** Sets all filters to those given. */
export type SetAuditFilters = (filters: AuditFilters) => void;

/** The filters in the address. The API refuses invalid ones, and says why. */
export function useAuditFilters(): readonly [AuditFilters, SetAuditFilters] {
  const [search, setSearch] = useSearchParams();
  const given = auditFilters.flatMap((name) => (search[name] === undefined || search[name] === "" ? [] : [[name, search[name]] as const]));
  const cleared: SearchParams = Object.fromEntries(auditFilters.map((name) => [name, undefined]));
  return [Object.fromEntries(given), (filters) => setSearch({ ...cleared, ...filters })];
}

const twoDigits = (value: number): string => String(value).padStart(2, "0");

/** Epoch ms as the value of a control `datetime-local`, in the reader's time zone; empty if it is no time. */
export function localTimeOf(ms: string | undefined): string {
  const date = new Date(ms === undefined || ms === "" ? Number.NaN : Number(ms));
  if (Number.isNaN(date.getTime())) return "";
  const day = [date.getFullYear(), twoDigits(date.getMonth() + 1), twoDigits(date.getDate())].join("-");
  return `${day}T${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

const lastMsOfMinute = 59_999;

/** @param value of a control `datetime-local`. @param isEnd the whole minute belongs to the range */
export function epochMsOf(value: string, isEnd: boolean): string {
  const ms = new Date(value).getTime();
  return Number.isNaN(ms) ? "" : String(ms + (isEnd ? lastMsOfMinute : 0));
}
