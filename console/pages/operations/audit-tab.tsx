import { useAdminList } from "../../api/admin.ts";
import { AuditLog } from "../../parts/audit/audit-log.tsx";
import { useAuditFilters } from "../../parts/audit/filters.ts";
import { Section } from "../../parts/page.tsx";
import { text } from "./strings.ts";

/** The audit log of all owners. */
export function AuditTab() {
  const [filters, setFilters] = useAuditFilters();
  const list = useAdminList("adminListAuditLog", { query: filters });
  return (
    <Section title={text.tabs.audit}>
      <p className="text-sm text-muted">{text.auditHint}</p>
      <AuditLog list={list} filters={filters} setFilters={setFilters} hasOwners />
    </Section>
  );
}
