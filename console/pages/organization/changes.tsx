import { useList } from "../../api/queries.ts";
import { AuditLog } from "../../parts/audit/audit-log.tsx";
import { useAuditFilters } from "../../parts/audit/filters.ts";
import { useOwnerQuery } from "../../parts/session-context.tsx";
import { Section } from "../../parts/page.tsx";
import { text } from "./strings.ts";

/** The audit log of the owner. */
export function Changes() {
  const [{ owner_id: _, ...filters }, setFilters] = useAuditFilters();
  const list = useList("listMyAuditLog", { query: { ...useOwnerQuery(), ...filters } });
  return (
    <Section title={text.audit}>
      <p className="text-sm text-muted">{text.auditHint}</p>
      <AuditLog list={list} filters={filters} setFilters={setFilters} />
    </Section>
  );
}
