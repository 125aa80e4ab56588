import { useSearchParams } from "../../parts/search.ts";
import { Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { FromAddress } from "./from-address.tsx";
import { FromCode } from "./from-code.tsx";
import { FromCatalogue } from "./from-catalogue.tsx";
import { text } from "./strings.ts";

export function NewSourcePage() {
  const [{ tab = "catalogue" }] = useSearchParams();
  return (
    <Page title={text.title}>
      <Tabs
        label={text.from}
        current={tab}
        tabs={[
          ["catalogue", text.catalogue],
          ["code", text.code],
          ["address", text.address],
        ]}
      />
      {tab === "code" ? <FromCode /> : tab === "address" ? <FromAddress /> : <FromCatalogue />}
    </Page>
  );
}
