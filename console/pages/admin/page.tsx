import { useSearchParams } from "../../parts/search.ts";
import { AdminGate } from "../../parts/admin-gate.tsx";
import { Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { OrganizationsTab } from "./organizations-tab.tsx";
import { PlansTab } from "./plans-tab.tsx";
import { text } from "./strings.ts";
import { UsersTab } from "./users-tab.tsx";

/** Users, organizations and plans, for operators of the installation. */
export function AdminPage() {
  const [{ tab = "users" }] = useSearchParams();
  return (
    <Page title={text.title}>
      <AdminGate>
        <Tabs label={text.views} current={tab} tabs={Object.entries(text.tabs)} />
        {tab === "plans" ? <PlansTab /> : tab === "organizations" ? <OrganizationsTab /> : <UsersTab />}
      </AdminGate>
    </Page>
  );
}
