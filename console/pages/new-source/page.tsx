import { useSearchParams } from "../../parts/search.ts";
import { Page } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { FromAddress } from "./from-address.tsx";
import { FromCode } from "./from-code.tsx";
import { FromTemplate } from "./from-template.tsx";
import { text } from "./strings.ts";

export function NewSourcePage() {
  const [{ tab = "template" }] = useSearchParams();
  return (
    <Page title={text.title}>
      <Tabs
        label={text.from}
        current={tab}
        tabs={[
          ["template", text.registry],
          ["code", text.code],
          ["address", text.address],
        ]}
      />
      {tab === "code" ? <FromCode /> : tab === "address" ? <FromAddress /> : <FromTemplate />}
    </Page>
  );
}
