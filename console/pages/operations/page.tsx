import { AdminGate } from "../../parts/admin-gate.tsx";
import { Page } from "../../parts/page.tsx";
import { useSearchParams } from "../../parts/search.ts";
import { Tabs } from "../../parts/tabs.tsx";
import { AuditTab } from "./audit-tab.tsx";
import { RatesTab } from "./rates-tab.tsx";
import { RunbooksTab } from "./runbooks-tab.tsx";
import { StateTab } from "./state-tab.tsx";
import { StorageTab } from "./storage-tab.tsx";
import { text } from "./strings.ts";

/** The installation, for its operators. */
export function OperationsPage() {
  const [{ tab = "state" }] = useSearchParams();
  return (
    <Page title={text.title}>
      <AdminGate>
        <Tabs label={text.views} current={tab} tabs={Object.entries(text.tabs)} />
        {contentOf(tab)}
      </AdminGate>
    </Page>
  );
}

function contentOf(tab: string) {
  switch (tab) {
    case "rates":
      return <RatesTab />;
    case "storage":
      return <StorageTab />;
    case "audit":
      return <AuditTab />;
    case "runbooks":
      return <RunbooksTab />;
    default:
      return <StateTab />;
  }
}
