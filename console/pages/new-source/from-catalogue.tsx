import { Catalogue, type Choice } from "../../parts/catalogue/catalogue.tsx";
import { text as catalogueText } from "../../parts/catalogue/strings.ts";
import { useChosen } from "../../parts/catalogue/use-chosen.ts";
import { useSearchParams, type SearchParams } from "../../parts/search.ts";
import { Button } from "../../parts/button.tsx";
import { ErrorNotice } from "../../parts/notices.tsx";
import { Section } from "../../parts/page.tsx";
import { DeployForm } from "./deploy-form.tsx";
import { text } from "./strings.ts";

const nothing = { key: undefined, component: undefined, address: undefined };

function choiceOf({ key, component, address }: SearchParams): Choice | undefined {
  if (key !== undefined) return { key };
  if (component !== undefined) return { id: component };
  return address === undefined ? undefined : { url: address };
}

/** Triggers of apps, sources of the registry and saved ones; the chosen one is in the address. */
export function FromCatalogue() {
  const [search, setSearch] = useSearchParams();
  const choice = choiceOf(search);
  const choose = (chosen: Choice): void =>
    setSearch({
      ...nothing,
      ...("id" in chosen ? { component: chosen.id } : "url" in chosen ? { address: chosen.url } : { key: chosen.key }),
    });
  return choice === undefined ? (
    <Catalogue type="source" onChoose={choose} />
  ) : (
    <Configure key={JSON.stringify(choice)} choice={choice} onChange={() => setSearch(nothing)} />
  );
}

function Configure({ choice, onChange }: { readonly choice: Choice; readonly onChange: () => void }) {
  const { component, error } = useChosen(choice);
  const title = component?.name ?? text.configure;
  return (
    <Section title={title} actions={<Button onClick={onChange}>{text.change}</Button>}>
      {error !== null && <ErrorNotice title={catalogueText.failed} error={error} />}
      {component === undefined && error === null && (
        <p role="status" className="text-sm text-muted">
          {catalogueText.fetching}
        </p>
      )}
      {component !== undefined && (
        <DeployForm
          what={"key" in choice ? { key: choice.key } : { component_id: component.key }}
          props={component.props}
          owner={{ component: component.key }}
        />
      )}
    </Section>
  );
}
